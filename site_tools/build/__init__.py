"""The site, by a generator: once (``publish``), or live (``serve``).

What becomes of an edit while the site is served:

serve        sees that a file has changed, and tells the server of each language
live_server  the generator's own server of one language
live         compiles the page again (``compile.site``)
             the generator builds the Markdown that has changed
hook         hands what it has built to ``finish.page``

An edit is shown, not judged: pages run and are judged before the site is served, by
``make check``, and before it is published.

generators   compares what two generators make of the same pages
docstrings   docstrings of ppo_ref, made readable for the generator
"""
