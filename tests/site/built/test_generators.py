"""Two generators are held to the same articles; a difference is told."""

import pytest

from site_tools.build.generators import articles, differences
from tests.site.trial_site import write_files

PAGE = '<main><article><h1 id="a">A</h1><p>b <a href="c/">d</a></p></article></main>'


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", []),
        ("<p>b ", "<p>\n  b\n", []),
        ("b", "e", ["x/index.html: text differ"]),
        ('id="a"', "", ["x/index.html: ids differ"]),
        ("c/", "c/#a", ["x/index.html: links differ"]),
        ("article>", "div>", ["x/index.html: only in one of them"]),
    ],
)
def test_what_readers_would_find_otherwise_is_told(tmp_path, old, new, told):
    files = {"one/x/index.html": PAGE, "two/x/index.html": PAGE.replace(old, new)}
    write_files(tmp_path, files)
    read = [articles(tmp_path / name) for name in ("one", "two")]
    assert [*differences(*read)] == told
