"""Settings of hypothesis: the same examples in every run, and no test by the clock."""

from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")
