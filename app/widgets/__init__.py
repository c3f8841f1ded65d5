"""The look, and the widgets that several pages use."""
