"""What the site and its contributors need, as functions from text to text.

Nothing here imports MkDocs: the hooks in docs/theme are thin adapters, and the same
functions serve the tests and the command line.
"""
