"""Short texts of the data files: formulas between $, code between backticks."""

import re
from html import escape

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


def _spelled(tex: str) -> str:
    tex = COMMAND.sub(lambda match: SIGNS.get(match[1], f"{match[1]} "), tex)
    # an index of one sign needs no braces, any other keeps them
    tex = re.sub(r"([_^])\{(.)\}", r"\1\2", tex)
    return re.sub(r" +", " ", tex).strip()
