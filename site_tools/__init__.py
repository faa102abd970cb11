"""What the site and its contributors need, as functions from text to text.

    problems   what a check found: where, what stands there, what must, how to mend it
    files      written whole or not at all
    numbers    numbers as people write them, compared with values
    data       the project's own data: facts about verl, names, dialogues, topics
    source     a page as it is written: fences, includes, blocks, figures, front matter
    running    its blocks, executed in a watched child; what they did, and a note of it
    runs       training runs that pages show: produced once, stored, drawn
    indexes    lists that follow from pages and data: questions, wrong answers, ...
    checks     its shape, its two languages, the count of its code
    html       a page as readers see it: answer box, formulas, pictures, navigation
    watch      what new releases change of what the pages say

Nothing here imports MkDocs: the hooks in docs/theme are thin adapters, and the same
functions serve the tests.
"""
