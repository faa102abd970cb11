"""A site of three pages, built with the real configuration, theme and tools.

``write`` puts it where a test wants it. The fixture ``trial`` (conftest.py) is a larger
one that all tests read and none changes: it is built once a run.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from site_tools.page import accord as locks
from site_tools.page.prose import wording
from site_tools.running import evidence
from site_tools.running.evidence import block_hashes
from tests.layout import ROOT

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
BEHIND = """---
question: {0}
---

## {1} {{ #answer }}

{2}

## {3} {{ #why }}

{4}
"""
BEHIND_EN = BEHIND.format("Late?", "It is", "It was.", "Reason", "It is so.")
BEHIND_ZH = BEHIND.format("晚了？", "对", "是的。", "原因", "就是这样。")
HOME = """---
title: {}
---

{} `ppo_ref.sums.total`: 1 < 2 & "3".

`ppo_ref.more.means.mean`
"""
DERIVED = """---
title: {}
---

```{{ .status data-language="{}" }}
{}
```
"""
REDIRECTS = """alignment/old_name: alignment/first
alignment/first#q-001-4: alignment/a_later_page#answer
"""
FLOORS = "\n\n    3   __main__\n    2   sums  more\n    1   shapes\n"
MODULES = {
    "ppo_ref/__init__.py": f'"""A sum.{FLOORS}"""',
    "ppo_ref/__main__.py": '"""Adds up."""\n\nraise SystemExit\n',
    "ppo_ref/more/__init__.py": '"""What is more.\n\nIn which:\n"""\n',
    "ppo_ref/more/means.py": '''"""Means of tokens."""

from ppo_ref.shapes import Tokens


def mean(rewards: Tokens) -> Tokens:
    """One of many.

    Args:
        rewards: What each token earned.

    Returns:
        The mean.
    """
    return rewards
''',
    "ppo_ref/shapes.py": '"""Shapes."""\n\nTokens = float\n"""One number a token."""\n',
    "ppo_ref/sums.py": '''"""Sums of tokens."""

from ppo_ref.shapes import Tokens


def total(rewards: Tokens, *, gamma: float = 1.0) -> Tokens:
    """Everything added up.

    Args:
        rewards: What each token
            earned.
        gamma: Discount.

    Returns:
        The sum,
        undiscounted.

    Source:
        A paper, equation 1.

    Example:
        >>> total(2.0)
        2.0
    """
    return rewards  # the whole secret
''',
}
ADDRESS = "https://example.org/ppo/"
TOLD = {  # as whoever publishes says it
    "SITE_URL": "https://example.org/ppo",
    "REPOSITORY": "https://example.org/owner/name",
}
# Both in one process: what a build imports takes as long as the build.
BUILD_LINKED = """
from mkdocs.__main__ import cli
for config, folder in (("mkdocs.yml", "linked"), ("mkdocs.en.yml", "linked-en")):
    options = ["--strict", "-f", config, "-d", folder]
    cli.main(["build", *options], standalone_mode=False)
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


NEEDS_PACKAGE = """---
question: Does it need the package?
---

## Yes { #answer }

```python
import ppo_ref.sums
```
"""


def write_running_page(root: Path) -> None:
    """Add a page with blocks; nothing has verified it yet."""
    (root / RUN_PAGE).write_text(RUN, "utf-8")


def note_as_verified(root: Path, *pages: str) -> None:
    """Note the blocks of these pages as passed, as a run of them would."""
    run = {}
    for page in pages or (RUN_PAGE,):
        blocks, _ = evidence.blocks_of(root, page, (root / page).read_text("utf-8"))
        run[page] = {"passed": [*block_hashes(blocks).values()]}
    evidence.note(root, "cpu", evidence.setting(root), "CPU", run)


def write(root: Path) -> None:
    """Put the trial site and what builds it under ``root``."""
    for name in MACHINERY:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(source, target)
    write_files(
        root,
        {
            "docs/zh/index.md": "# 首页\n\n无公式。\n",
            "docs/en/index.md": "# Home\n\nNo formula.\n",
            "docs/zh/alignment/first.md": QUESTION.format(**ZH),
            "docs/en/alignment/first.md": QUESTION.format(**EN),
            "docs/zh/alignment/a_later_page.md": LATER,
            "snippets/alignment/first.svg": PICTURE,
            "ppo_ref/__init__.py": '"""A map.\n\n    1   shapes\n"""',
            "ppo_ref/shapes.py": '"""Shapes."""',
        },
    )


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Put these texts under ``root``."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


def write_whole(root: Path) -> None:
    """The trial site with all that a built site may have around its pages."""
    write(root)
    for name in ("pyproject.toml", "README.md", "LICENSE"):  # for the wheel
        shutil.copy(ROOT / name, root / name)
    behind = wording(BEHIND_ZH), wording(BEHIND_EN)
    lone = "---\nquestion: Alone?\n---\n\n## Yes { #answer }\n"
    changed = BEHIND_ZH.replace("是的", "不是").replace("就是", "并非")
    needs = "docs/en/alignment/needs_package.md"
    files = {
        "docs/zh/index.md": HOME.format("名", "首页说"),
        "docs/en/index.md": HOME.format("Name", "Home says"),
        "docs/redirects.yml": REDIRECTS,
        "docs/zh/alignment/behind.md": changed,
        "docs/en/alignment/behind.md": BEHIND_EN,
        "docs/locks/alignment/behind.txt": locks.write(locks.lock_of(*behind)),
        "docs/en/alignment/english_only.md": lone,
        "docs/en/.draft.md": "---\nx: y: z\n---\n",
        "docs/en/.raw.html": "let be",
        needs: NEEDS_PACKAGE,
    }
    for lang in ("zh", "en"):
        about = f"docs/{lang}/about"
        files[f"{about}/status.md"] = DERIVED.format("Status", lang, "wanted")
        files[f"{about}/offline.md"] = DERIVED.format("Offline", lang, "downloads")
        files[f"{about}/verification.md"] = "---\ntitle: How\n---\n"
    write_files(root, files | MODULES)
    write_running_page(root)
    note_as_verified(root, RUN_PAGE, needs)


def build_whole(root: Path) -> None:
    """In ``site`` as it is published without an address, in ``linked`` with one."""
    write_whole(root)
    linked = start(root, "-c", BUILD_LINKED, **TOLD)
    for run in (start(root, "docs.theme.publish"), linked):
        output, _ = run.communicate()
        assert run.returncode == 0, output
        assert "WARNING" not in output, output
    (root / "linked-en").rename(root / "linked" / "en")


def start(root: Path, *arguments: str, **told: str) -> subprocess.Popen[str]:
    """Run a module, or code behind ``-c``, in the trial site.

    Its environment says where it is published.
    """
    arguments = arguments if arguments[0] == "-c" else ("-m", *arguments)
    unsaid = {"SITE_URL": "", "REPOSITORY": ""}
    quiet = {"NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, *arguments],
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
