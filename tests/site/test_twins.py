"""The way from a page to its twin, by relative links only."""

import pytest

from site_tools.html import twins


@pytest.mark.parametrize(
    ("lang", "url", "translated", "href"),
    [
        ("zh", "", True, "en/"),
        ("en", "", True, "../"),
        ("zh", "gae/inputs/", True, "../../en/gae/inputs/"),
        ("en", "gae/inputs/", True, "../../../gae/inputs/"),
        ("zh", "gae/inputs/", False, "../../en/"),
        ("en", "gae/inputs/", False, "../../../"),
        ("zh", "notebooks/toy.html", True, "../en/notebooks/toy.html"),
    ],
)
def test_the_link_works_wherever_the_site_is(
    lang: str, url: str, translated: bool, href: str
) -> None:
    assert twins.twin(lang, url, translated).href == href


def test_the_switch_is_the_name_of_the_other_language_in_that_language() -> None:
    assert twins.twin("zh", "", translated=True).name == "English"
    assert twins.twin("en", "", translated=True).name == "中文"


@pytest.mark.parametrize(
    ("langs", "default"), [(["zh", "en"], "en"), (["zh"], "zh"), (["en"], "en")]
)
def test_search_engines_are_told_the_languages_that_have_the_page(
    langs: list[str], default: str
) -> None:
    addresses = {
        "zh": "https://example.org/gae/",
        "en": "https://example.org/en/gae/",
    }
    assert twins.alternates("https://example.org/", "gae/", langs) == {
        **{lang: addresses[lang] for lang in langs},
        "x-default": addresses[default],
    }
