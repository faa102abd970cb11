"""The site, by a generator: once (``publish``), or live (``serve``)."""
