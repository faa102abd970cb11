"""What the site and its contributors need, as functions from text to text.

What a page is, and whether it is right:

    problems      what a check found: where, what there is, what must be, the remedy
    ledger        made once, still fresh? and files written whole or not at all
    numbers       numbers as people write them, compared with values
    data          the project's own data: facts about verl, names, dialogues, topics
    page          what a page says: fences, includes, blocks, figures, ...
    confinement   what a block may reach: no network, no process, its own folder
    running       its blocks, executed and watched; what they did, and a note of it
    runs          training runs that pages show: produced once, stored, drawn
    checks        its shape, its two languages, the count of its code

What readers get:

    indexes       lists that follow from pages and data: questions, wrong answers, ...
    html          a page as readers see it: answer box, formulas, pictures, navigation
    plain         the pages as Markdown for programs: llms.txt, llms-full.txt
    offline       the site as a zip that works from a folder

What contributors use:

    __main__      python -m site_tools COMMAND
    messages      what is said, by key, in Chinese and English
    contributing  the commands of contributors: new import check fix agree status export

Nothing here imports MkDocs: the hooks in docs/theme are thin adapters, and the same
functions serve the tests.
"""
