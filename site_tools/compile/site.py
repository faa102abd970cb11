"""A language of the site as a folder that any generator of Material's Markdown builds.

Each page becomes Markdown with nothing left to resolve: code from snippets is in, lists
and facts are there, what the theme says around it stands in its front matter. Beside
the pages lie their pictures, what widgets load, the notebooks, and the settings, which
inherit ``mkdocs.yml``.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import yaml

from site_tools.compile import links, navigation, news, reference
from site_tools.compile.downloads import wheel
from site_tools.compile.notebooks import notebook
from site_tools.compile.plain import in_words
from site_tools.compile.plots import themed
from site_tools.compile.resolved import resolved
from site_tools.compile.templates import fill, words
from site_tools.ledger import store
from site_tools.page.page import Page, read_page
from site_tools.page.pictures import is_notebook, plots
from site_tools.run.passed import read_passed
from site_tools.source import files

COMPILED = ".cache/compiled"
CONFIGS = {"zh": "mkdocs.yml", "en": "mkdocs.en.yml"}
Report = Callable[[str], None]  # told of what is wrong
# For those who look after the site, linked and found by the search; and notebooks.
NOT_IN_NAV = """\
/contribute/dialogue_log.md
/about/status.md
jupyter.ipynb
"""
# Folder, pattern, and where in the site: beside the widgets lies what they load. What
# is called text is sent compressed by every host.
PUBLISHED = (
    ("snippets", "*.svg", "{}"),
    ("ppo_ref/check/doctor", "doctor.json", "assets/lab/{}"),
    ("ppo_ref/train/viewer", "lab.*", "assets/lab/{}"),
    ("ppo_ref/train/viewer", "run*.*", "assets/lab/{}"),
    ("ppo_ref/train/stored", "*.jsonl", "assets/lab/stored/{}.txt"),
)


class Told(NamedTuple):
    """The addresses that whoever publishes the site gives."""

    address: str = ""  # of the site, both languages
    repository: str = ""

    def of(self, lang: str) -> str:
        """The address of one language."""
        return self.address + links.SITES[lang].folder if self.address else ""


def told() -> Told:
    """As the environment says."""
    address = os.environ.get("SITE_URL", "").rstrip("/")
    repository = os.environ.get("REPOSITORY", "")
    return Told(f"{address}/" if address else "", repository.rstrip("/"))


def plain_settings(root: Path, lang: str) -> dict[str, str]:
    """The plain text that the settings have of a language."""
    found: dict[str, str] = {}
    for line in (root / CONFIGS[lang]).read_text("utf-8").splitlines():
        key, colon, value = line.partition(": ")
        if colon and key in ("site_name", "copyright"):
            found[key] = str(yaml.safe_load(value))
    return found


class Compiler:
    """Compiles the pages of one language."""

    def __init__(self, root: Path, lang: str, publisher: Told) -> None:
        self.root, self.lang, self.publisher = root, lang, publisher
        self.docs = root / "docs" / lang
        self.folder = root / COMPILED / lang
        self.settings = root / COMPILED / f"{lang}.yml"

    def compile(self, report: Report | None = None) -> None:
        """Compile all of it; files that nothing asks for any longer are removed.

        A page that cannot be compiled is a ValueError that names it; or, where there
        is somebody to report it to, the page says so.
        """
        self._refuse()
        pages = files.front_matters(self.docs)
        made: dict[str, str | bytes] = dict(self._references(pages))
        running: list[Page] = []
        for path in pages:
            page = read_page(self.root, f"docs/{self.lang}/{path}")
            made[path] = self._text(page, report)
            if any(block.runs for block in page.blocks):
                running.append(page)
        if any(map(_imports_package, running)):
            built = self._wheel()
            made[built.name] = built.read_bytes()
        for page in running:
            try:
                made |= self._notebook(page)
            except ValueError:
                if report is None:
                    raise
        if self.publisher.address:
            feed = news.feed(self.root, self.lang, self.publisher.of(self.lang))
            made |= {news.FEED: feed} if feed else {}
        for place, file in published(self.root):
            made[place] = file.read_bytes()
        self._write(made)
        text = yaml.safe_dump(self._settings(made), allow_unicode=True, sort_keys=False)
        if not self.settings.exists() or self.settings.read_text("utf-8") != text:
            store(self.settings, text.encode())

    def compile_page(self, path: str, report: Report) -> None:
        """Compile one page, as ``docs/zh/gae/inputs.md``, if that changes it."""
        text = self._text(read_page(self.root, path), report)
        file = self.folder / path.removeprefix(f"docs/{self.lang}/")
        if file.read_text("utf-8") != text:
            store(file, text.encode())

    def _text(self, page: Page, report: Report | None) -> str:
        try:
            return self.text(page)
        except ValueError as error:
            if report is None:
                raise
            report(str(error))
            around = self._around(page.id, page.id, [])
            fault = f"```` text\n{error}\n````\n"
            return in_front(f"---\ntitle: {page.id}\n---\n\n{fault}", around)

    def text(self, page: Page) -> str:
        """A page as the generator takes it, what the theme says around it in front."""
        title = navigation.title_of(page.meta)
        around = self._around(page.id, title, self._sources(page.id))
        if self.publisher.address:
            around |= self._for_search_engines(page)
        return in_front(resolved(page, self.root), around)

    def _for_search_engines(self, page: Page) -> dict[str, Any]:
        """A question and its verdict, as schema.org has them (QAPage)."""
        answer = navigation.read_answer(page.text, page.id, page.path)
        if "question" not in page.meta or not answer.verdict:
            return {}
        verdict = in_words(answer.verdict, self.lang)
        address = self.publisher.of(self.lang) + links.address(page.id)
        accepted = {"@type": "Answer", "text": verdict, "url": f"{address}#answer"}
        question = {"@type": "Question", "name": answer.title, "answerCount": 1}
        return {
            "qa": {
                "@context": "https://schema.org",
                "@type": "QAPage",
                "mainEntity": question | {"acceptedAnswer": accepted},
            }
        }

    def _refuse(self) -> None:
        for problem in files.symbolic_links(self.root):
            raise ValueError(str(problem))
        for path in sorted(self.docs.rglob("*")):
            inner = path.relative_to(self.docs)
            hidden = any(part.startswith(".") for part in inner.parts)
            if path.is_file() and path.suffix != ".md" and not hidden:
                raise ValueError(
                    f"docs/{self.lang}/{inner.as_posix()}: only pages (.md) may lie "
                    "here; code and pictures go to snippets/"
                )

    def _references(self, pages: Collection[str]) -> Iterator[tuple[str, str]]:
        package = reference.read(self.root / reference.FOLDER)
        for path, text in reference.pages(package, self.lang).items():
            sources = reference.source(path)
            if path in pages:
                raise ValueError(f"docs/{self.lang}: {path}: made from {sources[0][1]}")
            title = files.read_front_matter(text, path)[0]["title"]
            around = self._around(path.removesuffix(".md"), title, sources)
            yield path, in_front(text, around)

    def _languages(self, page: str) -> list[str]:
        docs = self.docs.parent
        return [lang for lang in CONFIGS if (docs / lang / f"{page}.md").exists()]

    def _sources(self, page: str) -> list[tuple[str, str]]:
        langs = self._languages(page)
        return [(lang, f"docs/{lang}/{page}.md") for lang in langs]

    def _around(
        self,
        page: str,
        title: str,
        sources: Collection[tuple[str, str]],
        address: str | None = None,
    ) -> dict[str, Any]:
        """The front matter for what the theme shows around a page.

        A notebook of the page has an address of its own.
        """
        lang, publisher = self.lang, self.publisher
        there = links.other(lang)
        langs = self._languages(page) or [*CONFIGS]  # what is generated is in both
        url = links.address(page) if address is None else address
        found: dict[str, Any] = {
            "id": page,
            "twin": links.other_language(lang, url, there in langs)._asdict(),
            "alternates": {},
            "links": [],
            "edit": "",
        }
        if publisher.address:
            found["alternates"] = links.alternates(publisher.address, url, langs)
        if publisher.repository:
            shown = links.edit_links(publisher.repository, sources, page, title, lang)
            found["links"] = [link._asdict() for link in shown]
            if page in langs or (self.docs / f"{page}.md").exists():
                at = f"edit/main/docs/{lang}/{page}.md"
                found["edit"] = f"{publisher.repository}/{at}"
        return found

    def _wheel(self) -> Path:
        """The wheel of ppo_ref, which says where the site and the code are."""
        publisher = self.publisher
        addresses = {
            "Documentation": publisher.address,
            "Source": publisher.repository,
            "Issues": publisher.repository and f"{publisher.repository}/issues",
        }
        return wheel(self.root, self.root / ".cache" / "wheel", addresses)

    def _notebook(self, page: Page) -> dict[str, str | bytes]:
        """A page as a notebook beside it, and its plots, as it was last run."""
        if not is_notebook(page.id):
            return {links.notebook_file(page.id): self._as_notebook(page, [])}
        page_id, drawn = page.id, read_passed(self.root).plots(page.path)
        svgs = {name: svg for each in drawn for name, svg in each.items()}
        made: dict[str, str | bytes] = {}
        for plot, _ in plots(page.text, page_id):
            svg = fill("page.not_drawn", self.lang)
            try:
                svg = themed(svgs[plot], plot) if plot in svgs else svg
            except ValueError as error:
                raise ValueError(f"{page.path}: {error}") from None
            made[f"{page_id}/{plot}.svg"] = svg
        whole = self._as_notebook(page, drawn)
        # One is rendered by mkdocs-jupyter, the other is taken away.
        made[f"{page_id}/jupyter.ipynb"] = whole
        made[links.notebook_file(page_id)] = whole
        return made

    def _as_notebook(self, page: Page, drawn: Sequence[Mapping[str, str]]) -> str:
        address = self.publisher.of(self.lang)
        return notebook(
            resolved(page, self.root),
            navigation.title_of(page.meta) or page.id,
            drawn,
            self.lang,
            address,
            self._package(page) if address else "",
            page.id,
        )

    def _package(self, page: Page) -> str:
        """The address of ppo_ref's wheel, if the blocks of a page need it, else ""."""
        if not _imports_package(page):
            return ""
        return self.publisher.of(self.lang) + quote(self._wheel().name)

    def _write(self, made: dict[str, str | bytes]) -> None:
        for path, content in made.items():
            data = content.encode() if isinstance(content, str) else content
            file = self.folder / path
            if not file.exists() or file.read_bytes() != data:
                store(file, data)
        for file in [*self.folder.rglob("*")]:
            if file.is_file() and file.relative_to(self.folder).as_posix() not in made:
                file.unlink()
        for folder in sorted(self.folder.rglob("*"), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def _settings(self, made: Collection[str]) -> dict[str, Any]:
        lang, root = self.lang, self.root
        metas = files.front_matters(self.docs)
        package = reference.pages(reference.read(root / reference.FOLDER), lang)
        for path, text in package.items():
            metas[path] = files.read_front_matter(text, path)[0]
        hidden = {line.removeprefix("/") for line in NOT_IN_NAV.split()}
        shown = {path: meta for path, meta in metas.items() if path not in hidden}
        known = files.page_ids(root)
        try:
            nav = navigation.build(shown, lang, known)
        except ValueError as error:
            raise ValueError(f"docs/{lang}: {error}") from None
        rendered = {}
        for path in made:
            page, _, name = path.rpartition("/")
            if name == "jupyter.ipynb":
                title = navigation.title_of(metas[f"{page}.md"])
                sources = self._sources(page)
                address = links.address(f"{page}/jupyter")
                rendered[path] = self._around(page, title, sources, address)
        labels = words(lang)
        names = ("no_account", "without_account", "report_form")
        return {
            "INHERIT": str(root / CONFIGS[lang]),
            "site_url": self.publisher.of(lang),
            "docs_dir": str(self.folder),
            "site_dir": str(root / ".cache" / "built" / lang),
            "nav": nav,
            "not_in_nav": NOT_IN_NAV,
            "theme": {"custom_dir": str(root / "docs" / "theme")},
            "extra": {
                "feed": news.FEED if news.FEED in made else "",
                "notebooks": rendered,
                "words": {name: str(labels[name]) for name in names},
            },
            "plugins": {
                "mkdocstrings": {"handlers": {"python": {"paths": [str(root)]}}}
            },
        }


def in_front(text: str, around: dict[str, Any]) -> str:
    """A page whose front matter also says what stands around it."""
    said = f"around: {json.dumps(around, ensure_ascii=False)}\n"
    # The theme would read each page for an index of its own.
    said += "search: {exclude: true}\n---\n"
    front = files.FRONT_MATTER.match(text)
    if front is None:
        return f"---\n{said}\n{text}"
    head = front[0].removesuffix("---\n")
    if head.startswith("---\n{"):  # generated, as JSON
        meta = json.loads(head.removeprefix("---\n"))
        head = f"---\n{yaml.safe_dump(meta, allow_unicode=True)}"
    return head + said + text[front.end() :]


def published(root: Path) -> Iterator[tuple[str, Path]]:
    """Files that the site shows as they are: their place in it, and where they lie."""
    for folder, pattern, place in PUBLISHED:
        for path in sorted((root / folder).rglob(pattern)):
            inner = path.relative_to(root / folder).as_posix()
            yield place.format(inner), path


def _imports_package(page: Page) -> bool:
    return any(block.runs and "ppo_ref" in block.text for block in page.blocks)
