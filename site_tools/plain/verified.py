"""With what the code of a page was run, in a sentence."""

from collections.abc import Sequence

from site_tools.page.blocks import Block
from site_tools.running.evidence import Evidence
from site_tools.running.hashes import block_hashes

DONE = {
    "zh": "{count} 个代码块全部通过：torch {torch}，Python {python}，CPU{gpu}；"
    "代码的哈希 {hash}",
    "en": "all {count} blocks of code passed: torch {torch}, Python {python}, "
    "CPU{gpu}; hash of the code {hash}",
}
ON_GPU = {
    "zh": "；{device}，torch {torch}，{date}",
    "en": "; {device}, torch {torch}, {date}",
}
OPEN = {
    "zh": "{count} 个代码块里验证了 {passed} 个",
    "en": "{passed} of {count} blocks of code verified",
}


class Code:
    """The running blocks of a page, and what is known of them.

    Args:
        known: What has been verified.
        page: The path of the page, as in ``docs/zh/gae/inputs.md``.
        blocks: Its blocks.
    """

    def __init__(self, known: Evidence, page: str, blocks: Sequence[Block]) -> None:
        self.known, self.page = known, page
        self.hashes = [*block_hashes(blocks).values()]
        self.open = [h for h in self.hashes if not known.on_cpu(page, h)]

    @property
    def is_verified(self) -> bool:
        """Whether every block has passed as it stands."""
        return not self.open

    def told(self, lang: str) -> str:
        """With what it was run, in a sentence; "" if nothing runs.

        The hash is that of the last block, which covers all above it (running.hashes).
        """
        if self.open:
            count = len(self.hashes)
            return OPEN[lang].format(count=count, passed=count - len(self.open))
        if not self.hashes:
            return ""
        return DONE[lang].format(
            count=len(self.hashes),
            torch=self.known.setting.torch,
            python=self.known.setting.python,
            gpu=self._on_gpu(lang),
            hash=self.hashes[-1],
        )

    def _on_gpu(self, lang: str) -> str:
        """The GPU, if every block has passed on it as it stands."""
        found = [self.known.on_gpu(self.page, block) for block in self.hashes]
        runs = [run for run, holds in filter(None, found) if holds]
        if not runs or len(runs) < len(self.hashes):
            return ""
        return ON_GPU[lang].format(**runs[0].by)
