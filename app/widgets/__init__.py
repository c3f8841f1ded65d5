"""The theme, and the widgets that several pages use."""
