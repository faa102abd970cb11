"""What ``make bench`` wrote, as the page about/benchmarks shows it."""

import re
from pathlib import Path

import markdown

NOT_MEASURED = {"zh": "这里还没有测过。", "en": "Not measured here."}
ON_A_GPU = "cuda"


def render(view: str, lang: str, root: Path) -> str:
    """One section of the record, or all of the record made on a GPU.

    Args:
        view: The name of a section, or ``cuda``.
        lang: The language of the words.
        root: The project's folder.

    Raises:
        ValueError: for another language, or a section that the record lacks.
    """
    if lang not in NOT_MEASURED:
        given = f'benchmarks: must say data-language="zh" or "en", got {lang!r}'
        raise ValueError(given)
    device = ON_A_GPU if view == ON_A_GPU else "cpu"
    file = root / "docs" / "verified" / f"benchmarks.{device}.{lang}.md"
    text = NOT_MEASURED[lang]
    if file.exists():
        sections = dict(
            re.findall(
                r"^## (\w+)\n(.*?)(?=^## |\Z)", file.read_text("utf-8"), re.M | re.S
            )
        )
        if view not in (*sections, ON_A_GPU):
            known = f"benchmarks: must be one of {sorted(sections)}, got {view!r}"
            raise ValueError(known)
        text = sections.get(view) or "\n".join(sections.values())
    html = markdown.markdown(text, extensions=["tables"])
    html = html.replace('src="', 'src="../')  # from the address of the page
    return f'<div class="status benchmarks" data-search-exclude="1">\n{html}\n</div>'
