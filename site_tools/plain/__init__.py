"""The pages as Markdown that a machine reads: nothing to resolve, nothing folded.

    inline     text within a paragraph
    boxes      code and tables
    markdown   a rendered page, block by block
    addresses  where a link of a page leads from a file at the root
    stubs      a module of ppo_ref, in signatures and docstrings
    verified   with what the code of a page was run
    pages      all pages of a language, in reading order
    words      what stands around the pages, in both languages
    llms       llms.txt and llms-full.txt

Pages are rendered as the site renders them, so that lists made from data are there;
nothing here needs the built site.
"""
