r"""One spelling of a formula, and whether it computes or only names something."""

import re

LAYOUT = re.compile(
    r"\\label\{[^}]*\}|\\[,;!: ]|\{\}|&"
    r"|\\(?:quad|left|right|[bB]igg?[lr]?)(?![a-zA-Z])"
)
ROW = re.compile(r"\\\\|\\(?:begin|end)\{[a-z]+\}")
ALIKE = [
    (r"\\text(?=\{)", r"\\mathrm"),
    (r"\\leq(?![a-zA-Z])", r"\\le"),
    (r"\\geq(?![a-zA-Z])", r"\\ge"),
    (r"\\neq(?![a-zA-Z])", r"\\ne"),
    (r"\\[td]frac(?![a-zA-Z])", r"\\frac"),
    (r"\\l?dots(?![a-zA-Z])", "..."),
    (r"\\\|", r"\\parallel "),
]
NESTED = r"\{(?:[^{}]|\{[^{}]*\})*\}"
ATOM = rf"(?:\\mathrm{NESTED}|\\[A-Za-z]+|{NESTED}|\w)"
NAMED = rf"\\(?:hat|bar|tilde) ?{ATOM}|\\(?:mathrm|mathbb|mathcal){NESTED}"
# What tells two things of one name apart; any other exponent is a power.
INDEX = (
    rf"_{ATOM}|\^(?:\\[A-Za-z]+|\\?\*|{{(?:\(\w\)|[A-Z]{{2,}}[^{{}}]*|\\[^-+*/]*)}})"
)
OPERATOR = (
    r"[-+*/^=<>|]|\\(?:times|sum|prod|frac|max|min|arg|nabla|partial|mathbb"
    r"|le|ge|ne|approx|sim|propto|equiv|in|iff|to)(?![a-zA-Z])"
)
RELATION = r"(?:[=<>]|\\(?:le|ge|ne|approx|in|iff)(?![a-zA-Z]))"
SYMBOL = rf"(?:(?!{RELATION})(?:\\[A-Za-z]+|[A-Za-z ]))+(?:\([^()]*\))?"
NUMBER = r"-?(?:[\d.]+|\\frac\d\d|\[[-\d.,]*\]|\(0,1\))"
FREE = re.compile(
    r"-?[0-9tknTLPN](?:[-+][0-9tknTLPN])*"  # a position
    rf"|{NUMBER}"
    rf"|(?:\\gamma=)?{SYMBOL}{RELATION} ?(?:{NUMBER})?"  # a setting
    rf"|{NUMBER}{RELATION} ?{SYMBOL}{RELATION}{NUMBER}"  # a range
)


def computes(tex: str) -> bool:
    r"""Whether a formula is more than a name, a position, or the setting of a name.

    Args:
        tex: The formula, without dollar signs.

    Example:
        >>> [computes(tex) for tex in (r"\hat A_{t+1}", r"V^\pi(s_{t+1})", "P+t-1")]
        [False, False, False]
        >>> computes(r"\lambda = 0.95"), computes(r"0 < \lambda < 1")
        (False, False)
        >>> computes(r"G_t - V(s_t)"), computes(r"(\gamma\lambda)^k")
        (True, True)
    """
    bare = re.sub(NAMED, r"\\x ", re.sub(INDEX, "", normal(tex)))
    return bool(re.search(OPERATOR, bare)) and not FREE.fullmatch(bare)


def contains(formula: str, tex: str) -> bool:
    r"""Whether a formula, or one of its rows, has another one in it.

    What relates two sides to each other has to stand there with both of them whole.

    Args:
        formula: The larger one, as ``normal`` spells it.
        tex: The smaller one.

    Example:
        >>> rows = normal(r"G &= a + b \\ &\quad + c \\ A &= G - V(s_t)")
        >>> [contains(rows, tex) for tex in ("a + b", "G - V", "G = a + b + c")]
        [True, True, True]
        >>> [contains(rows, tex) for tex in ("a - b", "G = a + b", "A = G - V")]
        [False, False, False]
    """
    wanted = re.escape(normal(tex))
    if re.search(RELATION, normal(tex)):
        wanted = rf"(?:^|[;,]|{RELATION} ?){wanted}(?=$|[;,]|{RELATION}|\\forall)"
    else:
        wanted = rf"(?<![ ]){wanted}(?![_^])"
    return re.search(wanted, formula) is not None


def normal(tex: str) -> str:
    r"""One spelling of a formula, without what only lays it out; ``;`` between rows.

    Example:
        >>> normal(r"V_{\text{old}}\,(s_{t}) \leq \hat{A}")
        'V_\\mathrm{old}(s_t)\\le\\hat A'
    """
    for old, new in ALIKE:
        tex = re.sub(old, new, tex)
    tex = LAYOUT.sub("", ROW.sub(";", tex))
    tex = re.sub(r"\{(\w|\\[a-zA-Z]+|\\mathrm\{\w+\})\}", r" \1", tex)
    # Blanks count only where one ends the name of a command.
    ended = re.sub(r"(\\[a-zA-Z]+)\s+(?=[a-zA-Z])", r"\1~", tex)
    joined = re.sub(r"\s", "", ended).replace("~", " ")
    return re.sub(r";+(?=[-+=]|$)", "", joined).lstrip(";")
