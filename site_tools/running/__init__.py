"""The blocks of a page, executed in a watched child, and what they did."""
