"""A short page to begin with: it passes the checks, and says what is yours to write.

Its texts lie in ``skeletons``. Whatever has to be replaced says TODO, which
``checks.unfinished`` finds.
"""

import json
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from site_tools.contributing.drafts import Draft, shown
from site_tools.contributing.likeness import Known
from site_tools.contributing.new_names import language_of
from site_tools.data.rows import figure_in
from site_tools.page import tree

FOLDER = Path(__file__).with_name("skeletons")
LINKS = 2
NOTHING = Draft()
TRANSLATE = {"zh": "TODO：用中文问：", "en": "TODO: ask it in English: "}


def skeleton(
    page: str,
    question: str,
    languages: Sequence[str],
    links: Mapping[str, str],
    draft: Draft = NOTHING,
) -> dict[str, str]:
    """The files of a new page and what they hold.

    Args:
        page: As in ``gae/why_sum``.
        question: As it was asked.
        languages: Those to write.
        links: The last lines of the page, in each language.
        draft: Of a chat, where the page begins with one.
    """
    snippet, files = f"snippets/{page}.py", {}
    for language in languages:
        own = language_of(question) == language or len(languages) == 1
        title = question if own else TRANSLATE[language] + question
        text = (FOLDER / f"{language}.md").read_text("utf-8")
        files[f"docs/{language}/{page}.md"] = (
            text.replace("{snippet}", snippet)
            .replace("{page}", page)
            .replace("{links}", links[language])
            .replace("{chat}", shown(draft, language))
            .replace("{aliases}", _aliases(draft, language))
            .replace("{question}", _yaml(title))  # last: it may hold any braces
        )
    return {**files, snippet: (FOLDER / "snippet.txt").read_text("utf-8")}


def _aliases(draft: Draft, language: str) -> str:
    own = [alias for alias in draft.aliases if language_of(alias) == language]
    return json.dumps(own, ensure_ascii=False)


def _yaml(question: str) -> str:
    """The line of the front matter, in quotes only where YAML needs them."""
    row = {"question": question}
    return str(yaml.safe_dump(row, allow_unicode=True, width=10**6)).rstrip("\n")


def next_links(
    page: str, near: Sequence[Known], languages: Sequence[str], root: Path
) -> dict[str, str]:
    """A line for each of the nearest pages that all these languages have.

    Args:
        page: The page on which they stand.
        near: All pages, the nearest first.
        languages: Those to write.
        root: The project's folder.
    """
    titles = {lang: _titles(root / "docs" / lang) for lang in languages}
    there = [k.page for k in near if all(k.page in titles[lang] for lang in languages)]
    return {
        lang: "\n".join(
            f"- [{titles[lang][other]}]({_path(page, other)})"
            for other in there[:LINKS]
        )
        for lang in languages
    }


def _titles(docs: Path) -> dict[str, str]:
    """The title of each page, but for those with a figure, which nothing would bind."""
    fronts = tree.front_matters(docs).items()
    titles = {
        path.removesuffix(".md"): str(front.get("question", front.get("title", "")))
        for path, front in fronts
    }
    return {page: text for page, text in titles.items() if text and not figure_in(text)}


def _path(page: str, other: str) -> str:
    return posixpath.relpath(f"{other}.md", posixpath.dirname(page))
