"""verl's names and settings on the pages stand in its wheel as the pages say."""

import importlib
import re
from collections.abc import Iterator
from contextlib import suppress
from zipfile import ZipFile

import pytest
import yaml

from ppo_ref.check.doctor import figures
from ppo_ref.train.trainer import tiny_trainer
from tests.differential.wheels import MISSING, find
from tests.layout import ROOT

pytestmark = pytest.mark.pages

DOCS = ROOT / "docs"
PAGES = [DOCS / lang / "reference" / "reading_the_code.md" for lang in ("zh", "en")]
LOGS = [DOCS / lang / "debug" / "symptoms.md" for lang in ("zh", "en")]
# Written with these prefixes where verl's workers put one before their names.
PREFIX = re.compile("^(?:actor|critic|rollout_corr)/")
FIGURE = re.compile(r"^ *\| `(?P<theirs>[\w/]+)` \| `(?P<ours>\w+)` \|", re.M)
OTHERS = re.compile(r"^    \| [^|]+ \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", re.M)
# As `trainer.save_freq=20`, maybe with its default behind; one that verl's config lacks
# begins with a plus.
SETTING = re.compile(
    r"`(?P<key>[a-z]\w*(?:\.\w+)+)=(?P<value>[^`\s]+)`"
    r"(?: ?[(（](?:default|默认) `?(?P<default>-?[\w.-]+)"
    r"|(?P<kept> ?[(（](?:the defaults?|默认值)[)）]))?"
)
PRINTED = re.compile(
    r"^ *(?P<key>[a-z]\w*(?:\.\w+)+)=\S+\n +default (?P<default>\S+)$", re.M
)
CONFIG = "verl/trainer/config/_generated_ppo_trainer.yaml"
FILE = re.compile(r"^\*\*`(?P<path>verl/[\w/]+\.py)`\*\*$")
ROW = re.compile(r"^- (?P<theirs>`.+`) → (?P<ours>.+)$")
NAME = re.compile(r"`([\w.]+)`")
NAME_OF_A_FIGURE = re.compile(r"`([\w/]+)`")


def rows(text: str) -> list[tuple[str, list[str], list[str]]]:
    """File of verl, its names, and ours of each line of the list."""
    found, path = [], ""
    for line in text.splitlines():
        if file := FILE.match(line):
            path = file["path"]
        if row := ROW.match(line):
            ours = [n for n in NAME.findall(row["ours"]) if n.startswith("ppo_ref.")]
            found.append((path, NAME.findall(row["theirs"]), ours))
    return found


def undefined(names: list[str], source: str) -> list[str]:
    return [
        name
        for name in names
        if not re.search(rf"^ *(?:def|class) {name}\b", source, re.M)
    ]


def exists(name: str) -> bool:
    """True of a module, or something in one, whatever was imported before."""
    with suppress(ModuleNotFoundError):
        return bool(importlib.import_module(name))
    module, _, attribute = name.rpartition(".")
    return hasattr(importlib.import_module(module), attribute)


@pytest.fixture(scope="module")
def verl() -> Iterator[ZipFile]:
    wheel = find("verl 0.9.1")
    if wheel is None:
        pytest.skip(MISSING)
    with ZipFile(wheel) as archive:
        yield archive


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parts[-3])
def test_every_name_is_defined_in_its_file(verl, page):
    found = rows(page.read_text("utf-8"))
    assert len(found) > 10
    for path, theirs, ours in found:
        assert not undefined(theirs, verl.read(path).decode()), path
        assert ours and all(map(exists, ours)), theirs


def test_a_name_that_is_not_there_is_found():
    text = "**`verl/a.py`**\n\n- `gone`, `kept` → `ppo_ref.advantages.gae`, x\n"
    ((path, theirs, ours),) = rows(text)
    assert (path, ours) == ("verl/a.py", ["ppo_ref.advantages.gae"])
    assert undefined(theirs, "class A:\n    def kept(self): ...\n") == ["gone"]
    assert exists("ppo_ref.advantages.gae")
    assert not exists("ppo_ref.advantages.missing")


def unlogged(names: list[str], sources: list[str]) -> list[str]:
    def logged(name: str) -> bool:
        spellings = {f'"{name}"', f'"{PREFIX.sub("", name)}"'}
        return any(each in source for each in spellings for source in sources)

    return [name for name in names if not logged(name)]


@pytest.mark.parametrize("page", LOGS, ids=lambda page: page.parts[-3])
def test_every_figure_is_logged_under_its_name(verl, page):
    pairs = FIGURE.findall(page.read_text("utf-8"))
    assert len(pairs) > 10
    logging = re.compile(r"verl/(trainer/ppo|workers)/.*\.py")
    files = filter(logging.fullmatch, verl.namelist())
    sources = [verl.read(name).decode() for name in files]
    assert unlogged([theirs for theirs, _ in pairs], sources) == []
    trainer = tiny_trainer(wrong_score=0.0, right_score=1.0)
    statistics = next(trainer.train()).statistics.keys() | {"explained_variance"}
    assert {ours for _, ours in pairs} <= statistics


@pytest.mark.parametrize("page", LOGS, ids=lambda page: page.parts[-3])
def test_the_doctor_knows_every_name_of_the_others(page):
    table = page.read_text("utf-8").partition("| TRL | OpenRLHF |")[2]
    names = set(
        NAME_OF_A_FIGURE.findall(" ".join(map(" ".join, OTHERS.findall(table))))
    )
    assert len(names) > 15 and names <= figures.KNOWN | {"return", "values"}


def at(config: object, key: str) -> object:
    for part in key.split("."):
        assert isinstance(config, dict) and part in config, f"verl has no {key}"
        config = config[part]
    return config


def same(told: str, there: object) -> bool:
    with suppress(ValueError):
        return float(told) == there and not isinstance(there, bool)
    return bool(yaml.safe_load(told) == there)


def wrong_settings(text: str, config: object) -> list[str]:
    """The settings of a page whose default is another one in verl's config."""
    wrong = []
    for setting in [*SETTING.finditer(text), *PRINTED.finditer(text)]:
        found = setting.groupdict()
        there = at(config, found["key"])
        told = found["value"] if found.get("kept") else found["default"]
        if told and not same(told, there):
            wrong.append(f"{found['key']} is {there}, not {told}")
    return wrong


@pytest.mark.parametrize("page", LOGS, ids=lambda page: page.parts[-3])
def test_every_setting_is_in_verls_config_with_its_default(verl, page):
    config = yaml.safe_load(verl.read(CONFIG))
    text = page.read_text("utf-8")
    assert len(SETTING.findall(text)) > 40 and len(PRINTED.findall(text)) > 4
    assert wrong_settings(text, config) == []


def test_a_setting_that_is_not_so_is_found():
    config = {"a": {"lr": 1e-06, "n": 1}}
    right = "`a.n=8` (default 1), `a.n=1` (the default)\na.lr=1\n  default 1e-06\n"
    assert wrong_settings(right, config) == []
    wrongs = "`a.n=8` (default 2)", "`a.n=2`（默认值）", "a.lr=1\n  default 1e-05"
    for wrong in wrongs:
        assert len(wrong_settings(wrong, config)) == 1
    with pytest.raises(AssertionError, match=r"verl has no a\.m"):
        wrong_settings("`a.m=2`", config)
