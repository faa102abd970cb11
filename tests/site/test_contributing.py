"""The ways from a page to its source, only once there is a repository."""

from site_tools.html import contributing

BOTH = [("zh", "docs/zh/a/b.md"), ("en", "docs/en/a/b.md")]


def test_without_a_repository_nothing_is_offered() -> None:
    assert contributing.links("", BOTH, "A?", "zh") == []


def test_each_source_can_be_edited_and_the_page_reported() -> None:
    links = contributing.links("https://e.org/o/r/", BOTH, "是 a & b 吗？", "zh")
    assert links == [
        ("修改中文", "https://e.org/o/r/edit/main/docs/zh/a/b.md"),
        ("修改英文", "https://e.org/o/r/edit/main/docs/en/a/b.md"),
        (
            "报告问题",
            "https://e.org/o/r/issues/new?title="
            "%E6%98%AF%20a%20%26%20b%20%E5%90%97%EF%BC%9F",
        ),
    ]


def test_a_page_made_from_code_leads_to_the_code() -> None:
    (edit, _) = contributing.links("https://e.org/r", [("code", "p/a.py")], "p", "en")
    assert edit == ("Edit the code", "https://e.org/r/edit/main/p/a.py")
