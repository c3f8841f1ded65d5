"""Data, tasks, models and optimizers of a project, without the network of peers."""
