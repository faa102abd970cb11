"""Run by pytest in the environment of verl, never in ours: see test_within_verl."""
