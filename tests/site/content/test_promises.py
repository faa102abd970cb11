"""A promise about all code or all figures names what is not covered."""

import re

import pytest

from site_tools.compile.templates import words
from tests.layout import ROOT

ALL = re.compile(
    r"(?:每段|所有|凡是)[^。，]*(?:代码|数)|每个(?:代码|数)"
    r"|\b(?:every|all)\b[^.]*\b(?:code|numbers?|figures?|decimals?)\b",
    re.IGNORECASE,
)
EXCEPTIONS = ("#not-covered", "{verification}")  # where the list of exceptions stands
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TOLD = [
    "docs/zh/index.md",
    "docs/en/index.md",
    "README.md",
    "README.zh.md",
    "docs/theme/assets/card.svg",
]
SAYS_DEFAULT = re.compile("default|since|默认")
NEGATIVE = re.compile(r"一直(?:为|是)负|\bstays? negative")
SUMMED = re.compile(r"加起来|求和|的和|这个和|没有.*错|sum|nothing wrong")


def unqualified(text: str) -> list[str]:
    """The paragraphs that promise something of all, and name no exception."""
    paragraphs = FENCE.sub("", text).split("\n\n")
    told = [paragraph for paragraph in paragraphs if ALL.search(paragraph)]
    return [p for p in told if not any(where in p for where in EXCEPTIONS)]


@pytest.mark.parametrize("path", TOLD)
def test_no_front_page_promises_more_than_is_verified(path):
    assert unqualified((ROOT / path).read_text("utf-8")) == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_programs_are_told_no_more_either(lang):
    checked = words(lang)["llms"]["checked"]
    assert ALL.search(checked) and not unqualified(checked)


def test_an_absolute_promise_is_found():
    assert unqualified("Every block of code runs as pasted.") != []
    assert unqualified("站上每段代码都能单独复制运行。") != []
    assert unqualified("Every figure, [but these](verification.md#not-covered).") == []


def kl_that_stays_negative(text: str) -> list[str]:
    """The sentences in which a KL stays negative, but not one summed over answers."""
    sentences = re.split(r"(?<=。)|(?<=\.)\s|\n", text)
    return [s for s in sentences if NEGATIVE.search(s) and not SUMMED.search(s)]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_only_a_kl_summed_over_answers_is_suspect_when_it_stays_negative(lang):
    pages = sorted((ROOT / f"docs/{lang}/rewards").glob("*.md"))
    threads = (ROOT / "docs/threads.yml").read_text("utf-8").splitlines()
    texts = [
        re.sub("^---.*?^---", "", p.read_text("utf-8"), flags=re.M | re.S)
        for p in pages
    ]
    texts += [line for line in threads if "KL" in line]
    assert sum(len(NEGATIVE.findall(text)) for text in texts) > 3
    assert [s for text in texts for s in kl_that_stays_negative(text)] == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_default_that_a_release_changed_is_told_with_the_release(lang):
    told = []
    for page in sorted((ROOT / f"docs/{lang}/rewards").glob("*.md")):
        for line in page.read_text("utf-8").splitlines():
            if "`use_bias_correction_kl`" in line and SAYS_DEFAULT.search(line):
                told.append(line)
    assert len(told) >= 2
    assert [line for line in told if "TRL 1.10.0" not in line] == []
