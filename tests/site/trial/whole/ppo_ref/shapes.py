"""Shapes."""

Tokens = float
"""One number a token."""
