"""Rules that a page must keep, a module a concern, and the one judgement."""
