"""A report begins with what its form asks for."""

from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from site_tools.compile import links
from site_tools.compile.templates import words
from tests.layout import ROOT

FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"


@pytest.mark.parametrize(("lang", "colon"), [("zh", "："), ("en", ":")])
def test_a_report_fills_in_what_its_form_asks(lang, colon):
    *_, report = links.edit_links("https://e.org/r", [], "a/b", "A?", lang)
    filled = parse_qs(urlsplit(report.href).query)
    (template,) = filled.pop("template")
    assert filled.pop("title") == ["A?"]
    form = yaml.safe_load((FORMS / template).read_text("utf-8"))
    fields = {f["id"]: f["attributes"]["label"] for f in form["body"] if "id" in f}
    assert filled.keys() == {"page", "language"} and filled.keys() <= fields.keys()
    text = words(lang)["report_form"].format(page="a/b", title="A?")
    asked = [line.partition(colon)[0] for line in text.split("\n")]
    assert asked == [*fields.values()] and "a/b" in text and "A?" in text
