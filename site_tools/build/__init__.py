"""The site, by a generator: once (``publish``), or live (``serve``).

``publish`` also writes page.md, llms.txt and llms-full.txt; ``serve`` does not.

What becomes of an edit while the site is served:

serve        sees that a file has changed, and tells the server of each language
live_server  the generator's own server of one language
live         compiles the page again (``compile.site``), into .cache/compiled
             the generator builds the Markdown that has changed
hook         hands what it has built to ``live``, which has ``finish.page`` finish it
serve        passes the page on to the browser

An edit is shown, not judged, and the verdict on its page lapses. ``serve`` verifies,
once and behind the site, what has not passed when it starts; ``make check`` judges a
page and notes nothing; ``make test`` and ``make build`` note what passed.

generators   compares what two generators make of the same pages
docstrings   docstrings of ppo_ref, made readable for the generator
"""
