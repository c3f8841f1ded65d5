"""This installation: the libraries for training, and removing everything."""
