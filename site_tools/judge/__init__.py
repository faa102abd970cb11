"""The shape of a page, its two languages, the count of its code."""
