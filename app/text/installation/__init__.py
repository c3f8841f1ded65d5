"""What is said of this installation: the libraries for training, what was removed."""
