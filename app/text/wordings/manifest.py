"""Projects' manifests: what is wrong with one, and where."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "manifest_unusable": tr("The project's manifest is not usable: {field}: {problem}"),
        "document_too_large": tr("It is larger than {most:size}."),
        "not_unicode": tr("It is not UTF-8 text."),
        "not_json": tr("It is not JSON: {detail}, line {line}, column {column}."),
        "nested_too_deep": tr("It is nested deeper than {most} levels."),
        "number_too_long": tr("It has a number with thousands of digits."),
        "given_twice": tr("It is given twice."),
        "number_not_finite": tr("It is not a finite number."),
        "integer_too_large": tr("It does not fit into 64 bits."),
        "not_plain": tr("JSON has no values of the type {type}."),
        "control_character": tr("It holds a control character."),
        "lone_surrogate": tr("It holds half of a character (a lone surrogate)."),
        "initial_peers_missing": tr("There is none, so nobody could find the run."),
        "format_newer": tr("It is written for a newer Idlehive; update the app."),
        "field_missing": tr("It is missing."),
        "field_unknown": tr("It is not a known field."),
        "value_invalid": tr("{detail}."),
        "expected_id": tr("Expected 1 to 64 lower-case letters, digits and hyphens."),
        "expected_run_id": tr("Expected 1 to 64 letters, digits, hyphens and underscores."),
        "expected_hash": tr("Expected a SHA-256 as 64 lower-case hexadecimal digits."),
        "expected_architecture": tr("Expected the name of a transformers model class."),
        "expected_peer_address": tr("Expected a multiaddress like /ip4/192.0.2.1/tcp/31337/p2p/PEER_ID."),
        "url_invalid": tr("It is not a URL."),
        "url_relative": tr("It is relative, but the manifest was not read from a URL."),
        "url_scheme": tr("Only http and https are allowed."),
        "url_with_password": tr("A URL must not hold a user name or a password."),
        "sequence_too_long": tr("It is larger than the model's number of positions, {most}."),
        "microbatch_too_large": tr("It is larger than target_batch_size, {most}."),
        "warmup_too_long": tr("It is larger than total_epochs, {most}."),
        "config_key_forbidden": tr("This key is not allowed: a configuration holds nothing that loads code or files."),
    }
