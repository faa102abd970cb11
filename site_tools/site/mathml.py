"""A formula as plain text, for where no formula can be set: ``Â_t = G_t−V(s_t)``."""

import unicodedata
from collections.abc import Callable
from xml.etree.ElementTree import Element

ACCENTS = {"^": "\u0302", "~": "\u0303", "ˉ": "\u0304", "‾": "\u0305", "˙": "\u0307"}
RELATIONS = "=<>≤≥≠≈∼≡∝←→⇒⇔∈≪≫"
FUNCTION = "\u2061"  # stands between the name of a function and what it is applied to


def to_text(element: Element) -> str:
    """What a MathML element says, on one line.

    Example:
        >>> from xml.etree.ElementTree import fromstring
        >>> to_text(fromstring("<msub><mi>s</mi><mrow><mi>t</mi></mrow></msub>"))
        's_t'
    """
    tag = element.tag.rpartition("}")[2]
    if tag in SPOKEN:
        return SPOKEN[tag](*map(to_text, element))
    if tag == "mphantom":
        return ""
    if tag == "mtable":
        return "; ".join(map(to_text, element))
    if tag == "mspace":
        return " "
    text = (element.text or "").strip("\n").replace(FUNCTION, " ")
    if tag == "mo" and text and text in RELATIONS:
        return f" {text} "
    return text + "".join(map(to_text, element))


def _grouped(text: str) -> str:
    plain = text.isalnum() or len(unicodedata.normalize("NFC", text)) == 1
    return text if plain else f"({text.strip()})"


def _below(base: str, below: str) -> str:
    return f"{base}_{_grouped(below)}"


def _above(base: str, above: str) -> str:
    if above in ACCENTS:
        return unicodedata.normalize("NFC", base + ACCENTS[above])
    return f"{base}^{_grouped(above)}"


def _both(base: str, below: str, above: str) -> str:
    text = _above(_below(base, below), above)
    return f"{text} " if unicodedata.category(base[-1:] or " ") == "Sm" else text


def _fraction(above: str, below: str) -> str:
    return f"{_grouped(above)}/{_grouped(below)}"


SPOKEN: dict[str, Callable[..., str]] = {
    "msub": _below,
    "munder": _below,
    "msup": _above,
    "mover": _above,
    "msubsup": _both,
    "munderover": _both,
    "mfrac": _fraction,
    "msqrt": lambda *inside: "√" + _grouped("".join(inside)),
}
