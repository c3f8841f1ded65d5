"""The spaces that the window writes inside numbers and before units."""

SPACE = "\N{NO-BREAK SPACE}"
GROUP = "\N{NARROW NO-BREAK SPACE}"
