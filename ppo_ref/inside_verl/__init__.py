"""Our GAE and losses behind the names and arguments of verl 0.9.1."""
