"""The lists as fences of a page: which list, in which language."""

from collections.abc import Mapping
from pathlib import Path

from site_tools.data import frameworks as frameworks_file
from site_tools.indexes import code_map as renamed
from site_tools.indexes import comparison as side_by_side
from site_tools.indexes import frameworks as by_concept
from site_tools.indexes import questions as lists
from site_tools.indexes import sources
from site_tools.indexes import timeline as by_release
from site_tools.indexes import wrong_answers as refuted

ROOT = Path(__file__).resolve().parents[2]
ORDERS = {
    "by topic": lists.by_topic,
    "as asked": lists.as_asked,
    "first": lists.first,
}


def questions(body: str, values: Mapping[str, str]) -> str:
    """The questions: ``by topic``, ``as asked``, or the ``first`` ones to read."""
    order = body.strip()
    if order not in ORDERS:
        raise ValueError(f"questions: must be one of {[*ORDERS]}, got {order!r}")
    return ORDERS[order](_site(values))


def topic(body: str, values: Mapping[str, str]) -> str:
    """The pages of the topic that the fence names, with their short answers."""
    return lists.topic_index(body.strip(), _site(values))


def wrong_answers(body: str, values: Mapping[str, str]) -> str:
    """Every claim that a page refutes, those that the fence names first."""
    lang = language(values)
    return refuted.wrong_answers(sources.answers(ROOT, lang), lang, body.split())


def frameworks(body: str, values: Mapping[str, str]) -> str:
    """The frameworks: ``compared``, ``timeline``, ``places`` or the ``code map``."""
    lang, part = language(values), body.strip()
    users = sources.users(ROOT, lang)
    if part == "code map":
        return renamed.code_map(frameworks_file.code_map(ROOT), users, lang)
    concepts = sources.concepts(ROOT)
    if part == "places":
        return by_concept.frameworks(concepts, users, lang)
    if part == "compared":
        rows = frameworks_file.comparison(ROOT)
        return side_by_side.comparison(rows, concepts, users, lang)
    if part == "timeline":
        changes = frameworks_file.timeline(ROOT)
        return by_release.timeline(changes, concepts, users, lang)
    parts = "compared, timeline, places or code map"
    raise ValueError(f"frameworks: must be {parts}, got {part!r}")


def language(values: Mapping[str, str]) -> str:
    """The language that a fence asks for.

    Raises:
        ValueError: if it asks for none.
    """
    lang = values.get("data-language", "")
    if lang not in ("zh", "en"):
        raise ValueError(f'the fence must say data-language="zh" or "en", got {lang!r}')
    return lang


def _site(values: Mapping[str, str]) -> lists.Site:
    lang = language(values)
    return lists.Site(
        lang,
        sources.answers(ROOT, lang),
        sources.dialogues(ROOT),
        sources.topics(ROOT),
        frozenset(p.parent.name for p in (ROOT / "docs" / lang).glob("*/index.md")),
    )


DERIVE = {
    "questions": questions,
    "topic": topic,
    "wrong_answers": wrong_answers,
    "frameworks": frameworks,
}
