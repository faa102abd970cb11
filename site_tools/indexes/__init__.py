"""Lists that follow from the pages and the data: nothing on them is typed by hand.

    sources        the pages of a language and the data files, read
    questions      by topic, as they were asked, and the first ones
    wrong_answers  every claim that a page refutes
    frameworks     every place in verl and elsewhere that a page leans on
    parts          the pieces of HTML that the lists are made of

Addresses begin at the root of the language, ``/gae/inputs/``: a list does not know the
page that it stands on, and ``html.addresses`` makes them relative.
"""
