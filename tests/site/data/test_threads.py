"""Public threads: strictly read, most of them answered, each where it says."""

import pytest

from site_tools.compile.navigation import answered
from site_tools.data.threads import read_threads
from tests.layout import ROOT
from tests.site.trial_site import write_files

ROWS = """
- {thread: o/verl#7, lang: zh, date: ~2025-08, en: Is a < b?, zh: 甲？, page: gae/a#x}
- {thread: o/verl#8, lang: en, en: So?, page: gae/a#no, wrong: {en: Says 1., zh: 错。}}
- {thread: o/RL#9, lang: ko, en: Later?, cluster: 30, page: gae/later}
- {thread: a blog, url: "https://example.org/b", lang: en, en: Never?}
"""


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{thread: a note, lang: en, en: So?}", "a note: must be owner/name#17 or"),
        ("{thread: o/n#1, lang: en, en: So?, cluster: 31}", "at most 30"),
        ("{thread: o/verl#8, lang: en, en: So?}", "verl#8"),
        ("{thread: o/n#1, lang: en, en: So?, page: gae}", "a page or a section"),
    ],
)
def test_a_thread_that_cannot_be_found_is_refused(tmp_path, row, fault):
    write_files(tmp_path, {"docs/threads.yml": f"{ROWS}- {row}"})
    with pytest.raises(ValueError, match=f"threads.yml:6.*{fault}"):
        read_threads(tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "http://example.org/a", "//example.org/a"),
        *("https:example.org/a", "https://user@example.org/a", "https://localhost/a"),
        *("https://example.org:8443/a", "https://example.org/a b"),
        'https://example.org/"a',
    ],
)
def test_a_threads_address_is_https_on_a_named_host(tmp_path, url):
    row = f"{{thread: a blog, lang: en, en: So?, url: '{url}'}}"
    write_files(tmp_path, {"docs/threads.yml": f"{ROWS}- {row}"})
    with pytest.raises(ValueError, match=r"yml:6: url must be an address like https:"):
        read_threads(tmp_path)


@pytest.mark.pages
def test_the_threads_of_the_project_are_read():
    rows = read_threads(ROOT)
    assert len(rows) >= 236
    assert {int(row.cluster) for row in rows} == {*range(31)}


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_most_threads_are_answered(lang):
    done = [each for each in answered(ROOT, lang) if each.page]
    assert len(done) >= 180


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_place_that_answers_is_there_and_every_cluster_has_one(lang):
    every = [each for each in answered(ROOT, lang) if each.thread.page]
    found = {f"{e.page}#{e.anchor}" if e.anchor else e.page for e in every}
    assert {each.thread.page for each in every} - found == set()
    assert {int(each.thread.cluster) for each in every} == {*range(31)}
