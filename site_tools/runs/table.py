"""Which runs are stored and which charts show them: one table of each."""

from site_tools.runs.model import Chart, Run

# By the name that pages read it under, as in stored_run("name").
RUNS: dict[str, Run] = {}

# By the path of the picture below snippets, as in "pipeline/page_runs.svg".
CHARTS: dict[str, Chart] = {}
