"""How numbers, amounts and times are written in the volunteer's language and region."""
