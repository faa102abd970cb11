"""The commands of a contributor, who asks, words, checks and writes pages.

new        a page; ``likeness``: is there one already?
chat       import and export; ``formats exports activity``: chats as tools export them,
           ``artifacts``: code shown beside a chat, ``log``: our own format
check      the judgement of a page; ``beyond``: what else is asked of it,
           ``annotations``: problems on GitHub
fix        mend what has one right form; ``mend_facts``: a quotation that moved
agree      both languages say the same; what waits
rename     a page and all that names it
release    facts to a new release, by ``move_facts``; ``follow``: pages and pins after
pages      the pages that a command is about
talk       the conversation, in Chinese or English
"""
