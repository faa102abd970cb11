"""Training runs that pages show: produced once, stored, drawn, judged stale or not."""
