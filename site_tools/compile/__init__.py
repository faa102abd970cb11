"""Each page as Markdown with nothing left to resolve, for any generator to build.

site        the folder of a language: pages, pictures, notebooks, settings
lists       what stands in a fence made from data, and the page about/status
news        what is new, and the feed
navigation  the order of pages and tabs, and what lists show of a page
links       addresses: the other language, the source, where a page was
resolved    a page with code from snippets and lists in it, which the generator builds
plain       the same without what only the site understands: ``page.md``, which
            ``build.publish`` writes beside each page
notebooks   a page as a notebook that readers take away
plots       what matplotlib draws, as a picture of the site
reference   a page for each module of ppo_ref
llms        a page as agents read it: llms.txt and llms-full.txt
downloads   what readers take along, ppo_ref as a wheel
templates   words that readers see (not ``messages``), templates, a line of Markdown
"""
