"""What is assumed: response models, their parameters and plain densities."""
