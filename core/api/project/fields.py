"""What fields of a manifest may hold, and a file to fetch."""

from typing import Annotated

import msgspec
from msgspec import Meta

Id = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}\Z", description="1 to 64 lower-case letters, digits and hyphens")
]
RunId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z", description="1 to 64 letters, digits, hyphens and underscores")
]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z", description="a SHA-256 as 64 lower-case hexadecimal digits")]
Architecture = Annotated[
    str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9]{2,80}\Z", description="the name of a transformers model class")
]
Text = Annotated[str, Meta(min_length=1, max_length=200)]
LongText = Annotated[str, Meta(max_length=4000)]
Url = Annotated[
    str, Meta(min_length=1, max_length=2000, description="http or https, or relative to the manifest's own")
]
Positive = Annotated[int, Meta(ge=1, le=1 << 53)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Rate = Annotated[float, Meta(gt=0, le=1000)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Decay = Annotated[float, Meta(ge=0, lt=1, description="share of a running mean that is kept at each step")]
Epochs = Annotated[int, Meta(ge=0, le=100_000_000)]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to fetch over HTTP and to verify before use."""

    url: Url
    sha256: Sha256
    size: Annotated[int, Meta(ge=1, le=1 << 40, description="bytes of the file")]
