"""Reads untrusted manifests; errors name the wrong field."""

import re
from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Meta

from core.api.errors import ManifestError
from core.api.message import Message
from core.api.project.fields import Architecture, File, Id, RunId, Sha256
from core.api.project.manifest import Manifest
from core.api.project.peer_address import is_peer_address
from core.api.project.plain_json import printable, read

LARGEST = 1 << 20
"""Bytes of a manifest."""
_HEAD = 1000
"""Bytes in which a web page says that it is one."""


def is_web_page(text: bytes) -> bool:
    """Whether a document is HTML."""
    begin = text[:_HEAD].lstrip().lower()
    return begin.startswith((b"<!doctype html", b"<html"))


def is_meant_as_manifest(text: bytes) -> bool:
    """Whether a document tries to be a manifest, right or wrong: its mistakes are worth naming."""
    named = any(name in text for name in (b'"run_id"', b'"initial_peers"', b'"training"', b'"format"'))
    return named and text.lstrip().startswith(b"{")


def parse(text: bytes, base_url: str | None = None) -> Manifest:
    """A manifest from JSON; relative URLs become absolute against `base_url`, the place it was read from.

    Raises:
        ManifestError: names the first wrong field.
    """
    manifest = check(read(text, LARGEST))
    if not manifest.initial_peers and not manifest.closed:
        raise ManifestError("initial_peers_missing", "$.initial_peers")
    return resolved(manifest, base_url)


def check(plain: Any) -> Manifest:
    """A manifest from plain values; URLs may be relative, and initial peers may be missing.

    Raises:
        ManifestError: names the first wrong field.
    """
    _check_format(plain)
    manifest = _converted(plain)
    for field, problem in _contradictions(manifest):
        raise ManifestError(problem, field)
    return manifest


def resolved(manifest: Manifest, base_url: str | None) -> Manifest:
    """The manifest with absolute URLs.

    Raises:
        ManifestError: a URL cannot be used.
    """

    absolute: Manifest = _with_absolute_files(manifest, base_url, "$")
    links = {
        name: _absolute(url, base_url, f"$.{name}")
        for name in ("homepage", "curve", "leaderboard", "demonstration")
        if (url := getattr(manifest, name)) is not None
    }
    return msgspec.structs.replace(absolute, **links)


def _with_absolute_files(value: Any, base_url: str | None, path: str) -> Any:
    if isinstance(value, File):
        return msgspec.structs.replace(value, url=_absolute(value.url, base_url, f"{path}.url"))
    if isinstance(value, tuple):
        return tuple(_with_absolute_files(item, base_url, f"{path}[{index}]") for index, item in enumerate(value))
    if isinstance(value, msgspec.Struct):
        fields = {
            name: _with_absolute_files(getattr(value, name), base_url, f"{path}.{name}")
            for name in value.__struct_fields__
        }
        return msgspec.structs.replace(value, **fields)
    return value


def _check_format(plain: Any) -> None:
    # First: what a later format adds must not be reported as the organiser's mistake.
    if isinstance(plain, dict) and isinstance(number := plain.get("format"), int) and number > 1:
        raise ManifestError("format_newer", "$.format")


def read_stored(text: str) -> Manifest:
    """Read a manifest that this program, or an older version, has stored.

    Raises:
        msgspec.ValidationError: this version does not accept it.
    """
    return msgspec.convert(_with_kind_of_data(msgspec.json.decode(text)), Manifest)


def _with_kind_of_data(plain: Any) -> Any:
    """Older manifests have no kind of data: they mean text."""
    data = plain.get("data") if isinstance(plain, dict) else None
    return {**plain, "data": {"type": "text", **data}} if isinstance(data, dict) else plain


def _converted(plain: Any) -> Manifest:
    try:
        return msgspec.convert(_with_kind_of_data(plain), Manifest)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        field = printable(place.strip("`")) or "$"
    if match := re.fullmatch(r"Object (missing required|contains unknown) field `(.*)`", problem, re.DOTALL):
        known = match[1] == "missing required"
        raise ManifestError("field_missing" if known else "field_unknown", f"{field}.{printable(match[2])}")
    for pattern, expected in _EXPECTED.items():
        if problem.endswith(f"matching regex {pattern!r}"):
            raise ManifestError(expected, field)
    raise ManifestError("value_invalid", field, detail=printable(problem.replace("`", "")).rstrip("."))


def _pattern(kind: object) -> str | None:
    meta: Meta = get_args(kind)[1]
    return meta.pattern


_EXPECTED = {
    _pattern(Id): Message("expected_id"),
    _pattern(RunId): Message("expected_run_id"),
    _pattern(Sha256): Message("expected_hash"),
    _pattern(Architecture): Message("expected_architecture"),
}
"""Replace a regular expression in an error by what it means."""


def _absolute(url: str, base_url: str | None, field: str) -> str:
    """Raises ManifestError unless the result is http or https with a host and without credentials."""
    try:
        joined = urljoin(base_url, url) if base_url else url
        parts = urlsplit(joined)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise ManifestError("url_invalid", field) from None
    if not parts.scheme:
        raise ManifestError("url_relative", field)
    if parts.scheme not in ("http", "https"):
        raise ManifestError("url_scheme", field)
    if not host or not joined.isprintable() or " " in joined or "\\" in joined:
        raise ManifestError("url_invalid", field)
    if parts.username is not None or parts.password is not None:
        raise ManifestError("url_with_password", field)
    return joined


def _contradictions(manifest: Manifest) -> Iterator[tuple[str, Message]]:
    """(field, problem) of contradictions between fields, in the order of the fields."""
    yield from _unsafe(manifest.model.config, "$.model.config")
    yield from manifest.task.mismatches(manifest.data, manifest.tokenizer, manifest.model.config)
    training = manifest.training
    if training.microbatch_size > training.target_batch_size:
        yield "$.training.microbatch_size", Message("microbatch_too_large", {"most": training.target_batch_size})
    schedule = training.schedule
    if schedule.warmup_epochs > schedule.total_epochs:
        yield "$.training.schedule.warmup_epochs", Message("warmup_too_long", {"most": schedule.total_epochs})
    for index, address in enumerate(manifest.initial_peers):
        if not is_peer_address(address):
            yield f"$.initial_peers[{index}]", Message("expected_peer_address")


_LOADS_CODE_OR_FILES = re.compile(
    r"_.*|auto_map|custom_pipelines|quantization_config|trust_remote_code|(code_)?revision|name_or_path|init_kwargs"
    r"|(attn|experts)_implementation|use_kernels|(use_timm_|use_pretrained_)?backbone|(backbone|adapter)_kwargs"
    r"|distributed_config|[tp]p_plan",
    re.DOTALL,
)
"""Keys of a configuration that make transformers fetch or import something, or place it on several devices."""


def _unsafe(value: Any, path: str) -> Iterator[tuple[str, Message]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if _LOADS_CODE_OR_FILES.fullmatch(key):
                yield f"{path}.{printable(key)}", Message("config_key_forbidden")
            yield from _unsafe(item, f"{path}.{printable(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unsafe(item, f"{path}[{index}]")
