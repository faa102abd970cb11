"""A changed path names the tests that it can break, and whether the site is built."""

import pytest

from tests.changed import EVERYTHING, OF_SITE, of_pages, plan


def test_a_page_is_verified_built_and_opened():
    todo = plan(["docs/en/gae/variance.md"])
    assert todo.tests == tuple(sorted(["docs", *of_pages()]))
    assert todo.build and todo.pages == ("en/gae/variance/",)


def test_a_snippet_opens_the_pages_that_show_it():
    todo = plan(["snippets/gae/variance.py"])
    assert {"gae/variance/", "en/gae/variance/"} <= set(todo.pages)
    assert len(todo.pages) < 20


@pytest.mark.parametrize(
    ("path", "tests", "build"),
    [
        ("site_tools/numbers.py", OF_SITE, True),
        ("docs/theme/main.html", OF_SITE, True),
        ("docs/comparison.yml", OF_SITE, True),
        ("tests/site/test_build.py", ["tests/site/test_build.py"], False),
        ("tests/site/trial_site.py", ["tests/site"], False),
        ("tests/browser/test_desk.py", [], False),
        ("bench/steps.py", ["tests/bench"], False),
        ("tests/oracles.py", EVERYTHING, True),
        ("pins/python.txt", EVERYTHING, True),
        ("mkdocs.yml", EVERYTHING, True),
        ("what/nobody/named", EVERYTHING, True),
    ],
)
def test_a_path_means_what_can_break(path, tests, build):
    todo = plan([path])
    assert (todo.tests, todo.build) == (tuple(sorted(tests)), build)


def test_the_package_breaks_what_imports_it_and_the_pages():
    todo = plan(["ppo_ref/kl.py"])
    parts = {"docs", "tests/properties", "tests/differential", "tests/command"}
    assert parts <= set(todo.tests)
    assert not {"tests/site", "tests/contributing"} & set(todo.tests)


def test_what_is_named_twice_runs_once():
    todo = plan(["site_tools/numbers.py", "tests/site/test_build.py"])
    assert todo.tests == tuple(sorted(OF_SITE))
    assert plan(["pins/python.txt", "ppo_ref/kl.py"]).tests == ("docs", "tests")
