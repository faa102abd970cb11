"""The copies of a page by which the time of a build is measured."""

import re
from pathlib import Path

from bench.many_pages import grow


def test_no_two_pages_share_a_title_or_a_formula(tmp_path: Path) -> None:
    pairs = len(list(Path("docs/zh").rglob("*.md"))) + 9
    grow(tmp_path, pairs=pairs)
    for lang in ("zh", "en"):
        pages = list((tmp_path / "docs" / lang).rglob("*.md"))
        assert len(pages) == pairs
        texts = [page.read_text("utf-8") for page in pages if "copy" in page.stem]
        titles = re.findall(r"^question: .*", "\n".join(texts), re.MULTILINE)
        formulas = [set(re.findall(r"\$[^$`]*gamma[^$`]*\$", text)) for text in texts]
        assert len(texts) > 3 and len(set(titles)) == len(texts)
        assert all(formulas) and not set.intersection(*formulas)
