"""Mends what has one right form: a module a kind of mending, text in and text out.

None changes what a page says: without blanks, and with full-width and half-width
punctuation taken as equal, the text is the same, and code, formulas and addresses
are the same to the byte.
"""
