"""The project's own data: facts about verl, the names of the field, what was asked.

facts        what a release says: path, lines, a quotation from its wheel
wheel_names  functions, settings and defaults in a wheel
frameworks   what releases do and did: comparison, timeline, methods
names        the words of the field
phrases      words that no page uses, and why
dialogues    the five chats; ``corrections``: what they got wrong
threads      public threads, and the page that answers each
topics       the folders of questions
rows         data files read strictly
"""
