"""The site, by a generator: once, or live."""
