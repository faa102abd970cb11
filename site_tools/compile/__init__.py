"""What readers get: from the HTML of Markdown to the published page and the downloads.

templates   words of both languages, templates, a line of Markdown
ways        addresses: the other language, the source, where a page was
navigation  the order of pages and tabs, and what lists show of a page
lists       what stands in a fence made from data, and the page about/status
article     the answer box, the notice, names and terms, the switch of provenance,
            how to cite it, what is copied from code boxes, the line of its verdict
formulas    KaTeX, its fonts, a formula as text
pictures    SVG files and plots, put into the page
notebooks   a page as a notebook, and the notebook as a page
reference   a page for each module of ppo_ref
finding     the search index and the card of a page
llms        a page as plain Markdown: llms.txt and llms-full.txt
downloads   links to the zip and the texts with their sizes, ppo_ref as a wheel
"""
