"""rename: a page moves with all that names it, or nothing moves."""

import posixpath
import re
from pathlib import Path

import pytest

from site_tools import ledger
from site_tools.contributing.rename import with_new_name, with_redirect
from site_tools.data.rows import plain_yaml
from site_tools.page.twins import TwinState, twins_of
from tests.contributing.trial import command, state

OLD, NEW = "gae/variance", "critic/noise"
LINK = re.compile(r"\]\(([^)\s:]+\.(?:md|svg))")


def dead_links(root: Path) -> list[tuple[str, str]]:
    """Links from page to page or picture that lead to no file."""
    dead = []
    for language in ("zh", "en"):
        docs = root / "docs" / language
        for file in docs.rglob("*.md"):
            for target in LINK.findall(file.read_text("utf-8")):
                place = posixpath.join(file.relative_to(docs).parent.as_posix(), target)
                places = [docs / place, root / "snippets" / place]
                if not any(path.resolve().is_file() for path in places):
                    dead.append((file.relative_to(root).as_posix(), target))
    return sorted(dead)


@pytest.mark.pages
def test_a_page_moves_with_all_that_names_it(root):
    before, dead = state(root), dead_links(root)
    code, said = command(root, "rename", OLD, NEW)
    assert code == 0 and said.startswith(f"{OLD} is {NEW}: docs/zh/gae/variance.md, ")
    after = state(root)
    kinds = ("docs/zh/{}.md", "docs/en/{}.md", "snippets/{}.py", "snippets/{}.svg")
    assert before.keys() - after.keys() == {kind.format(OLD) for kind in kinds}
    assert after.keys() - before.keys() == {kind.format(NEW) for kind in kinds}
    naming = {path for path, data in after.items() if OLD.encode() in data}
    assert naming == {"docs/redirects.yml", "docs/short.yml"}
    assert after["docs/short.yml"] == before["docs/short.yml"]
    moves = plain_yaml(after["docs/redirects.yml"].decode(), "")
    assert moves[OLD] == NEW
    home = plain_yaml(after["docs/dialogues.yml"].decode(), "")
    asked = {each["id"]: each["page"] for row in home for each in row["questions"]}
    assert asked["004·7"] == NEW
    assert len(dead_links(root)) == len(dead)
    for page in (NEW, "bootstrap/reach", "gae/why_sum_deltas"):
        assert twins_of(root, page).state is TwinState.IN_STEP, page


@pytest.mark.pages
def test_what_breaks_half_way_is_undone_whole(root, monkeypatch):
    before, real, written = state(root), ledger.store, []

    def failing(target, content):
        written.append(target)
        if len(written) == 20:
            raise OSError(28, "No space left on device", str(target))
        real(target, content)

    monkeypatch.setattr(ledger, "store", failing)
    code, said = command(root, "rename", OLD, NEW)
    assert code == 1 and "No space left on device; nothing was written" in said
    assert len(written) > 20 and state(root) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([OLD, "gae/inputs"], "gae/inputs is taken: docs/zh/gae/inputs.md"),
        ([OLD[:-1], NEW], f"the nearest is {OLD}"),
        ([OLD, "gea/noise"], "No topic gea; the nearest is gae"),
        ([OLD, "../noise"], "A page must be like topic/page"),
        (["notebooks/index", "notebooks/noise"], "the first page of its folder"),
        ([OLD, "debug/ten_asserts"], "No topic debug"),
        ([OLD, NEW, "--dry-run"], f"{OLD} would be {NEW}: "),
    ],
)
def test_what_is_refused_or_tried_writes_nothing(root, words, told):
    before = state(root)
    assert told in command(root, "rename", *words)[1]
    assert state(root) == before


def test_a_page_that_is_no_utf_8_stops_everything(root):
    odd = root / "docs/en/gae/odd.md"
    odd.write_bytes(b"\xff")
    before = state(root)
    code, said = command(root, "rename", OLD, NEW)
    assert code == 1 and said.startswith("docs/en/gae/odd.md must be UTF-8")
    assert state(root) == before


@pytest.mark.parametrize(
    ("file", "text", "due"),
    [
        (
            "docs/en/gae/b.md",
            "[x](a.md#i) [y](aa.md)",
            "[x](../critic/c.md#i) [y](aa.md)",
        ),
        ("docs/en/critic/b.md", "[x](../gae/a.md)", "[x](c.md)"),
        ("docs/en/gae/a.md", "[x](b.md) ![p](a.svg)", "[x](../gae/b.md) ![p](c.svg)"),
        (
            "docs/en/gae/a.md",
            "[x](https://a.b/gae) [y](#i)",
            "[x](https://a.b/gae) [y](#i)",
        ),
        ("docs/en/index.md", "[x]: gae/a.md", "[x]: critic/c.md"),
        ("docs/en/index.md", '--8<-- "gae/a.py:x"', '--8<-- "critic/c.py:x"'),
        ("docs/en/b/b.md", "needs: [gae/a, gae/ab]", "needs: [critic/c, gae/ab]"),
        ("tests/b.yml", "find: gae/a/, x/gae/a", "find: critic/c/, x/gae/a"),
        ("README.md", "docs/en/gae/a.md gae/a-b", "docs/en/critic/c.md gae/a-b"),
        ("tests/b.py", 'f"docs/{lang}/gae/a.md"', 'f"docs/{lang}/critic/c.md"'),
        ("CHANGELOG.md", "gae/a", "gae/a"),
    ],
)
def test_a_name_follows_and_what_only_looks_like_it_stays(file, text, due):
    assert with_new_name(text, file, "gae/a", "critic/c") == due


def test_no_redirect_leads_to_another():
    before = "# why\ngae/x: gae/a\ngae/y#i: gae/a#j\ngae/a#old: gae/b#k\ngae/z: gae/ab"
    now = plain_yaml(with_redirect(before, "gae/a", "gae/c"), "")
    assert now == {
        "gae/x": "gae/c",
        "gae/y#i": "gae/c#j",
        "gae/a#old": "gae/b#k",
        "gae/z": "gae/ab",
        "gae/c#old": "gae/b#k",
        "gae/a": "gae/c",
    }
