"""The core: everything that is not a front end. Never imports Qt."""
