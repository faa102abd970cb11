"""A doctor for training logs: which of their figures need a look, and why."""
