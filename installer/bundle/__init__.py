"""Packages for volunteers: what they carry, and how each is built from the checkout and the locks beside this file."""
