"""A page as it is shown: its tree, its figures and pictures, its words.

page           the page as the rules see it, of the parts below
text           its file and the tree that is shown; ``lines``: where a node comes from
rendered       Markdown as HTML
tree           runs of text in HTML or SVG
figures        bound figures; ``expressions``: what one may be bound to
unbound        figures that nothing binds: refused
pictures       SVG files, read like prose; ``svg``: what one may be made of
wrong_answers  headings that quote a wrong answer, and the run below each
wording        the words of each section; ``twins``: whether both languages agreed
"""
