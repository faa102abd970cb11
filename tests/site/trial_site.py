"""A site of three pages, built with the real configuration, theme and tools."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from site_tools.running import evidence, manifest, manifest_files
from site_tools.running.hashes import block_hashes

ROOT = Path(__file__).parents[2]
MACHINERY = ("mkdocs.yml", "mkdocs.en.yml", "docs/theme", "site_tools")

QUESTION = r"""---
question: {question}
aliases: ["{alias}"]
answers: ["004·2", "verl#1960"]
---

## {verdict} {{ #answer }}

{text} $V(s_t)$, `policy_loss`.

## {picture} {{ #picture }}

![{alt}](first.svg)

## {why} $\delta_t$ {{ #why }}

$$
\delta_t = r_t + \gamma V(s_{{t+1}}) - V(s_t) \label{{td-residual}}
$$
"""
ZH = {
    "question": "先还是后？",
    "alias": "写之前还是写之后？",
    "verdict": "之前",
    "text": "优势估计在写之前。",
    "picture": "图",
    "alt": "一根桩",
    "why": "为什么",
}
EN = {
    "question": "Before or after?",
    "alias": "Earlier or later?",
    "verdict": "Before",
    "text": "It comes before.",
    "picture": "A post",
    "alt": "One post",
    "why": "Why",
}
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
<path id="post" d="M1 1V9"/><text lang="zh">桩</text><text lang="en">post</text>
</svg>"""
LATER = """---
question: 要先懂前一页吗？
needs: [alignment/first]
---

## 要 { #answer }

见[前一页](first.md#q-004-2)和[公式](first.md#td-residual)。
"""
RUN_PAGE = "docs/en/alignment/run.md"
RUN = """---
question: Does it run?
---

## Yes { #answer }

```python
x = 1
print(x)
```

```output
1
```

```{ .python .norun data-reason="needs a cluster" }
train()
```

```{ .python .cont }
assert x == 1
```
"""


def write_running_page(root: Path) -> None:
    """Add a page with blocks; nothing has verified it yet."""
    (root / RUN_PAGE).write_text(RUN, "utf-8")


def note_as_verified(root: Path) -> None:
    """Note the blocks of the page as passed, as a run of it would."""
    text = (root / RUN_PAGE).read_text("utf-8")
    blocks, _ = evidence.blocks_of(root, RUN_PAGE, text)
    noted = frozenset(block_hashes(blocks).values())
    run = {RUN_PAGE: manifest.Outcome(noted, noted, frozenset())}
    manifest_files.update(root, "cpu", manifest.setting(root), "CPU", run)


def write(root: Path) -> None:
    """Put the trial site and what builds it under ``root``."""
    for name in MACHINERY:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(source, target)
    pages = {
        "docs/zh/index.md": "# 首页\n\n无公式。\n",
        "docs/en/index.md": "# Home\n\nNo formula.\n",
        "docs/zh/alignment/first.md": QUESTION.format(**ZH),
        "docs/en/alignment/first.md": QUESTION.format(**EN),
        "docs/zh/alignment/a_later_page.md": LATER,
        "snippets/alignment/first.svg": PICTURE,
        "ppo_ref/__init__.py": '"""A map.\n\n    1   shapes\n"""',
        "ppo_ref/shapes.py": '"""Shapes."""',
    }
    for name, text in pages.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def start(root: Path, *arguments: str, **told: str) -> subprocess.Popen[str]:
    """Run a module in the trial site; its environment says where it is published."""
    unsaid = {"SITE_URL": "", "REPOSITORY": ""}
    quiet = {"NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=root,
        env=os.environ | quiet | unsaid | told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def build(root: Path, config: str, *more: str, **told: str) -> subprocess.Popen[str]:
    """Build the trial site by one configuration."""
    return start(root, "mkdocs", "build", "--strict", "-f", config, *more, **told)
