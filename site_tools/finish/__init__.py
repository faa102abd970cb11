"""Additions that Markdown cannot say, put into the tree that the generator built.

page          the passes over one page, in their order
article       the article of a page as a tree, and what helps the passes
reading       around the text: answer box, terms, threads, notices, refutations
boxes         code boxes: what is copied, what installs it
pictures      SVG files, put into the page; ``widgets``: room for what replaces them
formulas      KaTeX, its fonts, a formula as text
search_index  what the search and share cards are told of a page
head          one style sheet for all pages, a policy of what may run
tree          what is made of all pages: index, redirects, sheets
"""
