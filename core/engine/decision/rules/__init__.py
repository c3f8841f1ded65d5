"""The rules: each module yields the reasons of its area against contributing. Pure."""
