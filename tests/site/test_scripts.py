"""What browsers load is lean, and nothing that a reader sees is lost."""

import pytest

from docs.theme.hooks.rendering import lean, lean_page


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            '  // why\nconst a = "https://x" // kept\n',
            'const a = "https://x" // kept\n',
        ),
        ("/* one\n * two */\na { b: c } /* d */", "a { b: c } "),
        ('a { content: "/"; }\n/**/b { }\n', 'a { content: "/"; }\nb { }\n'),
    ],
)
def test_comments_stay_at_home(code, expected):
    assert lean(code) == expected


def test_blanks_go_around_an_article_and_stay_within_it():
    code = '<pre>a\n\n    <span class="n">b</span><span class="p">(</span></pre>'
    palette = '<link rel="stylesheet" href="../palette.fb2f.min.css">'
    main = '<link rel="stylesheet" href="../main.57a0.min.css">'
    page = (
        f"<head>\n   {main}\n  {palette}\n\n</head>\n\n <article>{code}</article>\n\n x"
    )
    plain = code.replace('<span class="n">b</span>', "b")
    assert lean_page(page) == f"<head>\n{main}\n</head>\n<article>{plain}</article>\nx"
