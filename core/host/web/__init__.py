"""The backbone's web server: what it serves, as data and as a page."""
