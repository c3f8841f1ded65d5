"""Projects' manifests: what is wrong with one, and where."""

from app.text.i18n import N_

WORDINGS = {
    "manifest_unusable": N_("The project's manifest is not usable: {field}: {problem}"),
    "document_too_large": N_("It is larger than {most:size}."),
    "not_unicode": N_("It is not UTF-8 text."),
    "not_json": N_("It is not JSON: {detail}, line {line}, column {column}."),
    "nested_too_deep": N_("It is nested deeper than {most} levels."),
    "number_too_long": N_("It has a number with thousands of digits."),
    "given_twice": N_("It is given twice."),
    "number_not_finite": N_("It is not a finite number."),
    "integer_too_large": N_("It does not fit into 64 bits."),
    "not_plain": N_("JSON has no values of the type {type}."),
    "control_character": N_("It holds a control character."),
    "lone_surrogate": N_("It holds half of a character (a lone surrogate)."),
    "initial_peers_missing": N_("There is none, so nobody could find the run."),
    "format_newer": N_("It is written for a newer Idlehive; update the app."),
    "field_missing": N_("It is missing."),
    "field_unknown": N_("It is not a known field."),
    "value_invalid": N_("{detail}."),
    "expected_id": N_("Expected 1 to 64 lower-case letters, digits and hyphens."),
    "expected_run_id": N_("Expected 1 to 64 letters, digits, hyphens and underscores."),
    "expected_hash": N_("Expected a SHA-256 as 64 lower-case hexadecimal digits."),
    "expected_architecture": N_("Expected the name of a transformers model class."),
    "expected_peer_address": N_("Expected a multiaddress like /ip4/192.0.2.1/tcp/31337/p2p/PEER_ID."),
    "url_invalid": N_("It is not a URL."),
    "url_relative": N_("It is relative, but the manifest was not read from a URL."),
    "url_scheme": N_("Only http and https are allowed."),
    "url_with_password": N_("A URL must not hold a user name or a password."),
    "sequence_too_long": N_("It is larger than the model's number of positions, {most}."),
    "data_of_another_kind": N_("The task cannot learn from this kind of data."),
    "shares_in_wrong_order": N_("The first number is larger than the second."),
    "crop_too_large": N_("It is larger than large_crop, {most}."),
    "not_a_multiple": N_("It is not a multiple of {of}."),
    "codebook_of_another_size": N_(
        "It is not a PNG with {codes:count} squares below each other, each at most {patch} pixels wide."
    ),
    "microbatch_too_large": N_("It is larger than target_batch_size, {most}."),
    "warmup_too_long": N_("It is larger than total_epochs, {most}."),
    "config_key_forbidden": N_("This key is not allowed: a configuration holds nothing that loads code or files."),
}
