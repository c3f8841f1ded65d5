"""What a project teaches a model: data, tasks, models, optimizers. Torch, but no network of peers."""
