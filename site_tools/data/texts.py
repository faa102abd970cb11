"""Short texts of the data files: formulas between $, code between backticks."""

import re
from html import escape

from site_tools import numbers
from site_tools.page.formula_figures import in_formula

FORMULA = re.compile(r"\$([^$]+)\$")
CODE = re.compile(r"`([^`]+)`")
SIGNS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "lambda": "λ",
    "pi": "π",
    "rho": "ρ",
    "theta": "θ",
    "hat A": "Â",
    "mid": " | ",
    "cdot": "·",
}
COMMAND = re.compile(r"\\(hat A|[A-Za-z]+)\s*")


def as_html(text: str) -> str:
    r"""The text with its formulas and its code marked up.

    Example:
        >>> as_html("`old` at $s_t$ < 1")
        '<code>old</code> at <span class="arithmatex">\\(s_t\\)</span> &lt; 1'
    """
    html = FORMULA.sub(r'<span class="arithmatex">\\(\1\\)</span>', escape(text))
    return CODE.sub(r"<code>\1</code>", html)


def as_plain(text: str) -> str:
    r"""The text as one line of plain characters, its formulas spelled out.

    Example:
        >>> as_plain(r"At $\lambda=1$ it is $G_t$, from $V(s_{t+1})$ and $\hat A_t$.")
        'At λ=1 it is G_t, from V(s_{t+1}) and Â_t.'
    """
    return CODE.sub(r"\1", FORMULA.sub(lambda match: _spelled(match[1]), text))


def figure_in(text: str) -> str | None:
    """The first figure of a text: nothing binds it in a data file.

    Worked arithmetic that holds, such as 1+1=2, is none.

    Example:
        >>> figure_in("about $0.5$"), figure_in("step 1 of 1+1=2")
        ('0.5', None)
    """
    for number in numbers.find(FORMULA.sub(" ", text)):
        worked = number.form == "worked arithmetic"
        if not (worked and numbers.holds(number.text)):
            return number.text
    return next(
        (figure for tex in FORMULA.findall(text) for figure in in_formula(tex)), None
    )


def _spelled(tex: str) -> str:
    tex = COMMAND.sub(lambda match: SIGNS.get(match[1], f"{match[1]} "), tex)
    # an index of one sign needs no braces, any other keeps them
    tex = re.sub(r"([_^])\{(.)\}", r"\1\2", tex)
    return re.sub(r" +", " ", tex).strip()
