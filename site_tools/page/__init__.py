"""A page as it is written: fences, includes, blocks, figures, front matter."""
