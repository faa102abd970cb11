"""One more way to ask, on a page that is there."""

from pathlib import Path

from site_tools.commands.pages import files_of, page_id
from site_tools.commands.talk import Refusal, Talk
from site_tools.contributing import aliases, new_names
from site_tools.data import locks
from site_tools.ledger import store
from site_tools.page.front_matter import read_front_matter


def add_wording(page: str, question: str, root: Path, talk: Talk) -> int:
    """Add a wording to a page in its own language, and keep the page's lock true.

    Raises:
        Refusal: where there is no such page in the language of the wording.
        ValueError: where its front matter or its lock cannot be read.
    """
    language = new_names.language_of(question)
    files = files_of(page, root)
    name = f"docs/{language}/{page_id(page)}.md"
    if name not in files:
        raise Refusal(f"No {name} to add it to; {files[0]} is in the other language")
    before = (root / name).read_bytes().decode("utf-8")
    meta, _ = read_front_matter(before.replace("\r\n", "\n"), name)
    if aliases.has_wording(meta, question):
        talk.tell(f"{name} has this wording already; nothing to add")
        return 0
    after = aliases.with_alias(before, question, name)
    lock = root / locks.lock_path(page_id(page))
    text = lock.read_text("utf-8") if lock.is_file() else ""
    recorded = locks.parse(text, page_id(page))
    kept = aliases.lock_after(recorded, language, before, after)
    store(root / name, after.encode())
    if kept != recorded:
        store(lock, locks.write(kept).encode())
    talk.tell(f"{name}: added to aliases: {question}")
    if kept != recorded:
        file = locks.lock_path(page_id(page))
        talk.tell(f"{file}: brought up to date, the languages agree as before")
    return 0
