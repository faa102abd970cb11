"""Rules that a page must keep, a module a concern, and the one judgement.

all            every problem of a page; ``RULES`` has the rules on what is written

What its run must show (the values come from ``run``):
figures        figures and plots, against the values of their expressions
outputs        what a page shows as printed, against what its blocks printed
noticed        assertions, against changes of the code that they are about

What it is written in:
file_bytes  signs  headings  ids  sections  body  code  front_matter  claims
allowed        the HTML that it may be made of
census         every fence accounted for
links          pages and anchors that it leads to
shown          the page with its lists, which some rules read

What it says:
words  typography  own_language
assertions     assertions that cannot fail as they are written
chance         code that hangs on chance, the clock or the machine
identities     formulas that a test must state
proofs         what corrections and wrong answers owe
upstream       names of verl, TRL, OpenRLHF; ``upstream_defaults``: their defaults

Both languages:
languages      all but the words is equal; ``features`` are what is compared
verdict_words  yes, no or it depends

What a heading is: ``source.content``. A new rule is a function in the module of its
concern, a line in ``all.RULES`` (on the run: in ``all.check_run`` and, an example each,
in ``tests/pages.py``), an entry
in both files of ``messages``, and a page that breaks it in
``tests/contributing/mistakes.yml``. A figure that nothing binds is found while the page
is read: ``page.unbound``.
"""
