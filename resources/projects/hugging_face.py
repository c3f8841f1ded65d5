"""Prints the shards of a data set on the Hugging Face Hub for a project.toml, without fetching them.

    python resources/projects/hugging_face.py wikimedia/wikipedia 20231101.bn

The Hub knows size and SHA-256 of each file. The addresses name the present revision, so the files stay the same.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import urlopen

_HUB = "https://huggingface.co"


def shards(hub: str, data_set: str, folder: str, ending: str) -> list[dict[str, Any]]:
    """`url`, `sha256` and `size` of each file in a folder of the data set, in the order of their names.

    Raises:
        SystemExit: the Hub continues its list on another server.
    """
    about = f"{hub}/api/datasets/{quote(data_set)}"
    revision = next(_pages(f"{about}/revision/main"))["sha"]
    files = [file for page in _pages(f"{about}/tree/{revision}/{quote(folder)}") for file in page]
    return [
        {
            "url": f"{hub}/datasets/{quote(data_set)}/resolve/{revision}/{quote(file['path'])}",
            "sha256": file["lfs"]["oid"],
            "size": file["lfs"]["size"],
        }
        for file in sorted(files, key=lambda file: str(file["path"]))
        if file["path"].endswith(ending) and "lfs" in file
    ]


def _pages(url: str) -> Iterator[Any]:
    """The answer, and those that its `Link` header continues with (RFC 8288): a list has at most 1,000 files a page."""
    origin = urlsplit(url)[:2]
    while True:
        with urlopen(url, timeout=30) as answer:  # noqa: S310 - the organiser's own address
            yield json.load(answer)
            more = re.search(r'<([^>]*)>;\s*rel="next"', answer.headers.get("Link", ""))
        if not more:
            return
        url = urljoin(url, more[1])
        if urlsplit(url)[:2] != origin:
            raise SystemExit(f"The list of files continues on another server, which is not asked: {url}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_set")
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--ending", default=".parquet")
    parser.add_argument("--hub", default=_HUB)
    chosen = parser.parse_args()
    found = shards(chosen.hub, chosen.data_set, chosen.folder, chosen.ending)
    lines = (f'  {{ url = "{each["url"]}", sha256 = "{each["sha256"]}", size = {each["size"]} }},' for each in found)
    sys.stdout.write("\n".join(["shards = [", *lines, "]", ""]))


if __name__ == "__main__":
    main()
