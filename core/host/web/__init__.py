"""The backbone's web server."""
