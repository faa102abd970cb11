"""Our GAE and losses behind verl's names and conventions, for runs of verl itself."""
