"""The tools of the site and its contributors: a page is read, run, judged, shown.

A module sees only the floors below its own; a folder counts as one module, and is a
room with one concern.

   11   __main__
   10   contributing  build
    9   booklet
    8   finish
    7   judge
    6   compile  stored_runs
    5   run
    4   page
    3   source
    2   data  confinement
    1   ledger  numbers  browser
    0   messages

contributing  what a contributor types: new import check fix agree rename facts export
              status
booklet       the course and the short answers as a book, EPUB and PDF
build         the generator, started as a program: once for all, or live
finish        what Markdown cannot say, put into the built pages
compile       each page as Markdown with nothing left to resolve, in a folder that any
              generator builds
judge         rules over a page and what its blocks did: ``outputs``, ``figures``, and a
              module for each further concern; ``judge.all`` is the one judgement
stored_runs   the stored training runs that pages show
run           the blocks of a page, executed; which pages passed (``passed``)
page          what readers see: the tree of a page, bound figures, pictures
source        a file by lines: fences, includes, front matter, headings
data          the project's own data: facts about verl, names, dialogues, frameworks
confinement   what a block may reach: no network, no process, its own folder; ``run``
              watches its time and memory
ledger        made once, still fresh? and files written whole or not at all
messages      by key, in both languages; a problem: where it is, what, the remedy
browser       Chromium without a window: prints the booklet, runs the browser tests
numbers       numbers as people write them, compared with values

Only ``build`` knows the generator: it is started as a program, on the folder that
``compile`` writes, and ``finish`` takes what it leaves.
"""
