"""Several processes that share the work of one run."""
