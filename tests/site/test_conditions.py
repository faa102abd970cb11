"""Conditions on gamma and lambda: the ones that can be written, and all others."""

import pytest

from site_tools.checks.conditions import conditions
from site_tools.checks.structure import check_structure
from tests.site.sample import EN, ROOT, broken, line_of, page


def found(tex: str) -> list[int]:
    return [row[0] for row in conditions(page(broken("$G - V$", f"${tex}$")))]


@pytest.mark.parametrize(
    "tex",
    [
        r"\lambda=1",
        r"\gamma = \lambda = 1",
        r"\gamma\lambda=1",
        r"\lambda=",
        r"0<\lambda<1",
        r"\lambda<1",
        r"\lambda>0",
        r"1-\lambda",
        r"A_t=\delta_t",
        r"\lambda^{N-1}",
    ],
)
def test_what_may_stand(tex: str) -> None:
    assert found(tex) == []


@pytest.mark.parametrize(
    "tex",
    [
        r"\lambda=2",
        r"\lambda\ne 1",
        r"\lambda>1",
        r"\lambda<2",
        r"\gamma<0",
        r"\gamma=\lambda=2",
        r"\gamma\ne\lambda=1",
        r"1<\lambda<1",
        r"\lambda=-1",
    ],
)
def test_what_holds_nowhere_everywhere_or_by_detour(tex: str) -> None:
    assert found(tex) == [line_of("$G - V$", EN)]
    told = check_structure(page(broken("$G - V$", f"${tex}$")), ROOT)
    assert f"${tex}$" in [problem.found for problem in told]
