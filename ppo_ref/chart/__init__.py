"""What a run measured, drawn as SVG: the site's charts and those of a run's folder."""
