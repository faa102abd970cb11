"""The course and the front of every question page, as a book to take along.

contents     which pages, in which order
excerpt      what the book has of one page: no folds, no widgets
solutions    exercises ask where they stand and are solved at the end of the chapter
drawings     pictures, each a file that needs no other
references   where links lead: into the book, to the site, or nowhere
book         the chapters of a language, with everything put in
epub         the book as an EPUB; the same input makes the same bytes
pdf          the book printed by Chromium, where there is one
searchable   what is wrong in Chromium's tables of Chinese letters, put right
make         ``make booklet``: both, in both languages
"""
