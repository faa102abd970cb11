"""What the site and its contributors need: a page is read, run, judged, shown.

A module sees only the floors below its own; a folder counts as one module, and is a
room with one concern.

    8   __main__
    7   contributing  build
    6   judge
    5   compile  stored_runs
    4   run  finish
    3   page
    2   data  confinement
    1   ledger  numbers
    0   say

contributing  what a contributor types: new import check fix agree export status
checks        all that may be wrong with a page; ``checks.all`` is the one judgement
site          what readers get: lists, boxes, formulas, pictures, llms.txt, the search
              (its index: ``finding``; the queries: docs/theme/assets/search)
runs          the stored training runs that pages show
run           the blocks of a page, executed; outputs and figures judged (``verdict``);
              which pages passed (``passed``)
page          what a page says: front matter, fences, which figures are bound, pictures
data          the project's own data: facts about verl, names, dialogues, frameworks
confinement   what a block may reach: no network, no process, its own folder
ledger        made once, still fresh? and files written whole or not at all
say           messages by key, in both languages; a problem: where, what, the remedy
numbers       numbers as people write them, compared with values

Nothing here imports MkDocs: the hooks in docs/theme are thin adapters, and the same
functions serve the tests.
"""
