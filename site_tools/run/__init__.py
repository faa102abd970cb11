"""The blocks of a page, executed in a watched child, and what they did.

execution   a page of Markdown set running; one language for both where it may
worker      forks a process for a page, watches it, ends it in time
block       inside that process: each block and expression is run
results     what goes there and comes back, as lines of JSON
compare     a block in two settings, and what differs
clock       the clock of a process, set to another day
standing    which copy leaves all the names that a figure needs
sources     hashes of all that a verdict on a page rests on
passed      the ledger of the pages that passed as they stand, which ``tests.verdicts``
            writes: .cache/verified/pages.txt
mutants     changes of the code of a block, which an assertion should notice
"""
