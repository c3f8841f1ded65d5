"""The verbs about this installation: the libraries for training, the service, removing everything."""
