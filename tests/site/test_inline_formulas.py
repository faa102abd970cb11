"""Formulas in lines: which of them compute, and which no property test has."""

import pytest

from site_tools.checks.all import check_written
from site_tools.checks.inline_formulas import check_inline_formulas, proved
from site_tools.page.tex import computes
from tests.site.sample import EN, ROOT, ZH, broken, page

WRONG = """### So it is $G = V$ { #wrong-sum }

!!! quote "001·4"

    It is $a - c$.
"""


def found(tex: str) -> list[str]:
    return [p.found for p in check_inline_formulas(page(broken("G - V", tex)), ROOT)]


@pytest.mark.parametrize(
    "tex",
    [
        "G",
        r"\hat A_{t+1}",
        r"\delta_{L-1}",
        r"V(s_{t+1})",
        r"Q^\pi(s_t,a_t)",
        r"A^{(n)}_t",
        r"V^{\mathrm{old}}_t",
        r"\mathrm{KL}(\pi\,\|\,q)",
        r"\gamma\lambda",
        "P+t-1",
        "-T-1",
        r"\tfrac12",
        "t=3",
        r"\lambda=0",
        r"\hat A_t<0",
        r"0<\lambda<1",
        "r=[0,0,1]",
    ],
)
def test_a_name_a_position_and_a_setting_are_free(tex: str) -> None:
    assert not computes(tex)
    assert found(tex) == []


@pytest.mark.parametrize(
    ("tex", "lie"),
    [
        ("G-V", "G+V"),
        (r"\hat{A}_t = \delta_t", r"\hat A_t = \delta_{t+1}"),
        (r"V(s_t)+\sum_k(\gamma\lambda)^k\delta_{t+k}", r"(\gamma\lambda)^{k+1}"),
        ("L<T", r"L\le T"),
        (r"A_0\ne\sum_t A_t", r"A_0=\sum_t A_t"),
        (r"\gamma^k\lambda^{k-1}(1-\lambda)", r"\gamma^k\lambda^k(1-\lambda)"),
        (r"\text{KL}(b\|\pi_\text{ref})-\text{KL}(b\|\pi)", r"\mathrm{KL}(b\|\pi)-1"),
        # Half a right-hand side is a term; with its left-hand side it is a lie.
        (r"\delta_t+\gamma\lambda\hat A_{t+1}", r"V(s_t)=\mathbb{E}_{a_t\sim\pi}[r_t"),
        (r"\hat A_0=\delta_0<0", r"\hat A_0\ne\delta_0<0"),
        (r"e^{-k_1}-1+k_1", r"e^{-k_1}-1-k_1"),
        (r"|\rho_t-1|", r"|\rho_t-2|"),
        (r"\frac{1}{2N}", r"\frac{1}{3N}"),
    ],
)
def test_what_computes_stands_in_the_docstring_of_a_property_test(
    tex: str, lie: str
) -> None:
    assert computes(tex) and computes(lie)
    assert found(tex) == []
    assert found(lie) == [f"${lie}$"]


def test_what_is_found_is_told_with_its_line_in_both_languages() -> None:
    for lang, text in ("en", EN), ("zh", ZH):
        lie = page(broken("G - V", "G + V", text), lang)
        at = text[: text.index("G - V")].count("\n") + 1
        for problems in check_inline_formulas(lie, ROOT), check_written(lie, ROOT):
            (problem,) = (p for p in problems if p.found == "$G + V$")
            assert problem.line == at
            assert problem.expected.startswith("part of a displayed formula")
            assert problem.fix.endswith("In a line: $G + V$")
        assert check_inline_formulas(page(text, lang), ROOT) == []


def test_what_is_quoted_or_refuted_is_left_alone() -> None:
    old = EN[EN.index("!!! quote") : EN.index("```{ .python .cont .raises }")]
    assert check_inline_formulas(page(broken(old, WRONG + "\n")), ROOT) == []
    loose = WRONG.replace(" { #wrong-sum }", "")
    (problem,) = check_inline_formulas(page(broken(old, loose + "\n")), ROOT)
    assert problem.found == "$G = V$"


def test_words_of_a_docstring_prove_nothing() -> None:
    assert not proved("-1 moves", ROOT)
    assert not proved("-V, or", ROOT)
