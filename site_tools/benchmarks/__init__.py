"""What ``make bench`` found: its record, what it must reach, what a page shows."""
