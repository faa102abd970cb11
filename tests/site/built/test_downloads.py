"""Downloads, made from all pages and from a built site."""

import posixpath
import re
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from site_tools.compile import llms
from site_tools.compile.downloads import SKILL
from site_tools.compile.resolved import resolved
from site_tools.messages import LANGUAGES
from site_tools.page.page import read_page
from tests.layout import ROOT

pytestmark = pytest.mark.slow
MARKDOWN = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
FENCED = re.compile(r"(?ms)^(> | *)(`{3,})\w*\n.*?^\1\2$")
PYTHON = re.compile(r"(?ms)^( *)(`{3,})python\n(.*?)\n\1\2$")
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.DOTALL)
CODE = re.compile(r"(`+).*?\1")
SOURCE = re.compile(
    r"8<-|data-is|\{ ?[#.:]|norun|</?[a-z]|\\\(|&\w+;|\]\(/|\]\([^:]*\.md"
    r"|^ *(?:[!?]{3}|===)"
)


@cache
def texts(lang: str) -> tuple[str, str]:
    """llms.txt and llms-full.txt of the project's own pages."""
    site = llms.LlmsSite(lang, "PPO", "MIT", "", "")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((ROOT / "docs" / lang).rglob("*.md")):
            page = read_page(ROOT, path.relative_to(ROOT).as_posix())
            file = Path(folder, f"{page.id}.md")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(resolved(page, ROOT), "utf-8")
        read = llms.plain_pages(ROOT, site, Path(folder))
    return llms.listed(site, read), llms.full(site, read)


def sections(full: str) -> dict[str, str]:
    """The text of each page, by its address."""
    found = full.split("\n\n---\n\n# ")[1:]
    address = re.compile(r"^- (?:地址：|Address: )(\S+)$", re.MULTILINE)
    return {address.search(text)[1].removeprefix("./"): text for text in found}  # type: ignore[index]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_is_left_to_resolve(lang):
    for text in texts(lang):
        prose = MATHS.sub("", CODE.sub("", FENCED.sub("", text))).replace("\\<", "")
        prose = re.sub(rf"\((\.\./)?{re.escape(SKILL)}\)", "()", prose)  # it is there
        assert [line for line in prose.splitlines() if SOURCE.search(line)] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_list_fits_the_context_of_an_agent(lang):
    """A token is a byte at least, and a third of a small context is left to it."""
    listed, _ = texts(lang)
    assert 10_000 < len(listed.encode()) < 43_000


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_code_of_a_page_is_there_to_the_byte(lang):
    found = sections(texts(lang)[1])
    compared = 0
    for path in sorted((ROOT / "docs" / lang).rglob("*.md")):
        page = read_page(ROOT, path.relative_to(ROOT).as_posix())
        url = re.sub(r"(^|/)index/$", r"\1", f"{page.id}/")
        ran = [block for block in page.blocks if block.runs]
        shown = [
            re.sub(f"(?m)^{indent}", "", code)
            for indent, _, code in PYTHON.findall(found[url])
        ]
        for block in ran:
            assert block.text.rstrip("\n") in shown, f"{path}:{block.fence.line}"
            compared += 1
    assert compared > 200


@pytest.fixture
def published(trial: Path) -> Path:
    """The trial site as it is published, with a page that has been verified."""
    return trial / "site"


def test_the_zip_has_both_languages(published):
    names = zipfile.ZipFile(published / "offline.zip").namelist()
    assert {"index.html", "en/index.html", "en/alignment/run/index.html"} <= {*names}
    assert "offline.zip" not in names


def test_every_link_of_the_texts_leads_to_a_file(published):
    for name in ("llms.txt", "llms-full.txt", "en/llms.txt", "en/llms-full.txt"):
        links = MARKDOWN.findall((published / name).read_text("utf-8"))
        assert links
        for parts in map(urlsplit, links):
            if parts.scheme or not parts.path:
                continue
            path = posixpath.join(posixpath.dirname(name), unquote(parts.path))
            file = published / path
            assert file.is_file() or (file / "index.html").is_file(), f"{name}: {path}"


def test_what_was_verified_is_stated(published):
    text = (published / "en" / "llms-full.txt").read_text("utf-8")
    assert "every block of code was run" in text
    assert "Never run: needs a cluster" in text
