"""A changed path names the tests that it can break, and whether the site is built."""

import pytest

from tests.changed import EVERYTHING, OF_SITE, of_pages, plan

PAGES = {
    "docs/en/gae/variance.md": ["en/gae/variance/"],
    "snippets/gae/variance.py": ["en/gae/variance/", "gae/variance/"],
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_verified_built_and_opened(path):
    todo = plan([path])
    assert todo.tests == tuple(sorted(["docs", *of_pages()])) and todo.build
    assert {*PAGES[path]} <= {*todo.pages} and len(todo.pages) < 20


@pytest.mark.parametrize(
    ("paths", "tests", "build"),
    [
        (["docs/theme/main.html"], OF_SITE, True),
        (["tests/site/test_build.py"], ["tests/site/test_build.py"], False),
        (["tests/site/trial_site.py"], ["tests/site"], False),
        (["tests/browser/test_desk.py"], [], False),
        (["bench/steps.py"], ["tests/bench"], False),
        (["what/nobody/named"], EVERYTHING, True),
        (["site_tools/numbers.py", "tests/site/test_build.py"], OF_SITE, True),
        (["pins/python.txt", "ppo_ref/kl.py"], EVERYTHING, True),
    ],
)
def test_paths_mean_what_can_break(paths, tests, build):
    todo = plan(paths)
    assert (todo.tests, todo.build) == (tuple(sorted(tests)), build)


def test_the_package_breaks_what_imports_it_and_the_pages():
    todo = plan(["ppo_ref/kl.py"])
    parts = {"docs", "tests/properties", "tests/differential", "tests/command"}
    assert parts <= set(todo.tests)
    assert not {"tests/site", "tests/contributing"} & set(todo.tests)
