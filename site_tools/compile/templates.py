"""The words and the templates of everything that the site shows around its text.

``words/<language>.yml`` has the words, ``templates`` macros of Jinja. A
template sees the words of its language as ``w`` and the language as ``lang``.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown import Markdown
from markupsafe import Markup

from site_tools.data.facts import Entry
from site_tools.data.frameworks import PLACE_NUMBER

HERE = Path(__file__).parent
LINK = re.compile(r"(?<!!)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\([^()\s]*\)")
FORMULA = re.compile(r"\$([^$]+)\$")
CODE = re.compile(r"`([^`]+)`")
HTML_TAG = re.compile(r"<[^>]*>")
NAMES = "alpha beta gamma delta epsilon theta lambda pi rho nabla cdot"
TEX_SIGNS = dict(zip(NAMES.split(), "αβγδεθλπρ∇·", strict=True))
TEX_SIGNS |= {"hat A": "Â", "mid": " | "}
UPRIGHT_TEX = re.compile(r"\\(?:mathrm|text)\s*\{([^}]*)\}")
COMMAND = re.compile(r"\\(hat A|[A-Za-z]+)\s*")
EXTENSIONS = {"attr_list": {}, "pymdownx.arithmatex": {"generic": True}}


@cache
def words(lang: str) -> Mapping[str, Any]:
    text = (HERE / "words" / f"{lang}.yml").read_text("utf-8")
    found: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


def fill(name: str, lang: str, *values: object) -> str:
    """HTML that a macro makes of values, by file and name as in ``lists.by_topic``."""
    file, _, macro = name.partition(".")
    # No Markup: that escapes whatever text it is joined with.
    return str(getattr(_module(file, lang), macro)(*values))


def inline(text: str) -> Markup:
    """A line of Markdown as HTML; links from elsewhere are plain text."""
    html = _new_converter().reset().convert(LINK.sub(r"\1", text))
    return Markup(html.removeprefix("<p>").removesuffix("</p>"))


def as_html(text: str) -> Markup:
    """A short text of a data file, its formulas and its code marked up."""
    html = FORMULA.sub(r'<span class="arithmatex">\\(\1\\)</span>', escape(text))
    return Markup(CODE.sub(r"<code>\1</code>", html))


def bare(html: str) -> str:
    """The text of HTML, its tags left out."""
    return unescape(HTML_TAG.sub("", html))


def with_code(html: Markup, entries: Sequence[Entry]) -> Markup:
    codes = [Markup("<code>{}</code>").format(entry.code) for entry in entries]
    return Markup(PLACE_NUMBER.sub(lambda match: codes[int(match[1]) - 1], html))


def as_plain(text: str) -> str:
    return CODE.sub(r"\1", FORMULA.sub(lambda match: spelled(match[1]), text))


def spelled(tex: str) -> str:
    tex = UPRIGHT_TEX.sub(r"\1", tex)
    tex = COMMAND.sub(lambda match: TEX_SIGNS.get(match[1], f"{match[1]} "), tex)
    # an index of one sign needs no braces, any other keeps them
    tex = re.sub(r"([_^])\{(.)\}", r"\1\2", tex)
    return re.sub(r" +", " ", tex).strip()


def anchor(text: str) -> str:
    """A text as part of an id, as ``verl-0-3-0-post1`` of verl 0.3.0.post1."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@cache
def _module(file: str, lang: str) -> Any:
    (path,) = (HERE / "templates").glob(f"{file}.*")
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=path.suffix in (".html", ".xml"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {f.__name__: f for f in (inline, as_html, with_code, anchor)}
    template = environment.get_template(path.name)
    return template.make_module({"w": words(lang), "lang": lang})


@cache
def _new_converter() -> Markdown:
    return Markdown(extensions=list(EXTENSIONS), extension_configs=EXTENSIONS)
