"""A page as it is written, by lines: fences, includes, front matter, headings.

content   the file by lines: front matter, headings, quotations, fences
fences    code fences, and the attributes behind them
blocks    each fence as code, output or data, and what is copied from it
includes  lines of ``snippets`` put in, their origins kept
inline    the signs of Markdown within prose
files     where pages lie, and their front matter
"""
