"""The blocks of a page, executed in a watched child, and what they did.

execution   a page of Markdown set running; one language for both where it may
worker      forks a process for a page, watches it, ends it in time
block       inside that process: each block and expression is run
results     what goes there and comes back, as lines of JSON
verdict     outputs and figures that the page shows, against what came back
sources     hashes of all that a verdict on a page rests on
passed      the ledger of the pages that passed as they stand
"""
