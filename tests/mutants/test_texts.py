"""Mutants of pages: where they are, in both languages, and who may live."""

import pytest

from site_tools.checks.languages import compare
from site_tools.html.mutant_table import CODE, KINDS
from site_tools.mutants import sites
from site_tools.mutants.reasons import parse
from site_tools.mutants.sites import Site
from site_tools.problems import Problem
from site_tools.running import verification
from site_tools.source.page import read_page
from tests.mutants import judging, package, texts
from tests.mutants.__main__ import reasons
from tests.site.sample import EN, ZH, page


def told(kind: str) -> list[str]:
    return [site.told for site in sites.sites(page()) if site.kind == kind]


def test_every_digit_sign_and_comparison_is_a_site() -> None:
    shown = ["2.00 → 3.00", "2.00 → 2.10", "2.00 → 2.01", "2.00 → -2.00"]
    assert told(sites.FIGURES) == [*shown, "2 → 3", "2 → -2"]
    assert told(sites.INLINE) == ["G - V → G + V"]
    assert told(sites.OUTPUTS) == [
        "total 2 → total 3",
        "AssertionError: got 2 → AssertionError: got 3",
    ]
    assert len(told(sites.DISPLAYED)) == 5  # =, +, +, 1 and -; not the label's
    assert told(sites.IDS)[0] == "answer → answerx"
    assert told(sites.LINKS) == ["../reference/notation.md → ../reference/notation.mdx"]


def test_a_quotation_is_left_as_it_is() -> None:
    quoted = EN.replace("    It is 2.5.", "    It is $x = 2$.")
    found = [site.told for site in sites.sites(page(quoted))]
    assert found == [site.told for site in sites.sites(page())]


def test_both_languages_are_changed_alike() -> None:
    twins = [page(ZH, "zh"), page()]
    pairs = texts.paired(twins)
    assert len(pairs) == len([*sites.sites(twins[0])]) == 20
    for pair in pairs.values():
        zh, en = (
            page(site.change.applied(twin.text), twin.language)
            for twin, site in zip(twins, pair, strict=True)
        )
        if not any(key.problems for key in (zh, en)):
            assert compare(zh, en) == []


def test_the_choice_is_the_same_after_an_edit_elsewhere() -> None:
    keys = [("figures", "answer", str(n), 0, "") for n in range(100)]
    few = texts.chosen(keys, 10)
    assert texts.chosen(keys[::-1], 10) == few
    rest = [key for key in keys if key not in few[:1]]
    assert set(few[1:]) < set(texts.chosen(rest, 10))


def test_a_second_reason_is_refused_and_a_stale_one_found() -> None:
    row = "- {kind: links, reason: no network, of: [a.md]}\n"
    with pytest.raises(ValueError, match=r"record 2: a second reason for 'a\.md'"):
        parse(row * 2, "r.yml")
    known = parse(row, "r.yml")
    assert known.of("links", "b.md") is None
    assert [*known.stale([("links", "a.md")])] == []
    assert [*known.stale([("links", "b.md")])] == ["links: a.md"]


@pytest.mark.slow
def test_each_reason_is_about_something_that_is_there() -> None:
    there = [(CODE, edit.name) for edit in package.table()]
    for page_id in judging.page_ids():
        found = sites.sites(read_page(judging.ROOT, f"docs/en/{page_id}.md"))
        there += [(site.kind, site.text) for site in found]
    assert [*reasons().stale(there)] == []
    assert {kind for kind, _ in reasons().by_change} <= KINDS.keys()


def lies(kind: str, page_id: str, lang: str) -> list[tuple[Site, list[Problem]]]:
    """Every mutant of a kind on a page, with what the checks say of it."""
    twin = read_page(judging.ROOT, f"docs/{lang}/{page_id}.md")
    run = verification.run(twin).run
    assert judging.judgement(twin, run) == []
    found = [site for site in sites.sites(twin) if site.kind == kind]
    assert len(found) > 5
    return [
        (site, judging.judgement(judging.changed(twin, site), run))
        for site in texts.chosen(found, 40)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("kind", [sites.FIGURES, sites.OUTPUTS])
def test_a_changed_digit_fails_at_its_line(kind: str, lang: str) -> None:
    twin = read_page(judging.ROOT, f"docs/{lang}/alignment/value_before_token.md")
    for site, problems in lies(kind, twin.id, lang):
        line = sites.line(twin, site)
        assert any(line == problem.line for problem in problems), site.told


@pytest.mark.slow
def test_formulas_links_and_pictures_are_noticed() -> None:
    few = {sites.DISPLAYED: 12, sites.LINKS: 4, texts.PICTURES: 12}
    judged = texts.judge_page("gae/inputs", few)
    assert {tried.kind for tried in judged.tried} == few.keys()
    assert [tried.told for tried in judged.tried if not tried.killed] == []
