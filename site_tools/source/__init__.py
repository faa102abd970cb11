"""A page as it is written, by lines: fences, includes, front matter, headings."""
