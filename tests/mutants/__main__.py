"""How well do the pages notice? make mutants: break code and pages, and keep the score.

Code: each mutant of tests/mutants/package.yml, on the pages that should notice it.
Pages: digits, signs and comparisons in figures, formulas and outputs, ids and links,
in both languages at once. The score goes to docs/verified/mutants.json; a survivor that
tests/mutants/survivors.yml gives no reason for fails.
"""

import subprocess
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path

from site_tools.html.mutant_table import CODE
from site_tools.mutants.reasons import Reasons, parse
from site_tools.mutants.record import FILE, Record, Score, rests_on, save
from tests.mutants import judging, package, texts
from tests.mutants.package import Verdict
from tests.mutants.texts import Judged

ROOT = Path(__file__).resolve().parents[2]
REASONS = "tests/mutants/survivors.yml"


def reasons() -> Reasons:
    return parse((ROOT / REASONS).read_text("utf-8"), REASONS)


def main() -> None:
    began, before = time.monotonic(), rests_on(ROOT)
    verdicts = of_code(began)
    judged = of_pages(began)
    if rests_on(ROOT) != before:
        sys.exit("make mutants: code or pages were edited under way; run it again")
    record = recorded(verdicts, judged, before)
    save(ROOT, record)
    for kind, score in record.scores.items():
        print(f"{kind:22} {score.noticed} of {score.tried} tried, of {score.all}")
    found = survivors(verdicts, judged)
    known = reasons()
    unknown = [key for key in found if known.of(*key[:2]) is None]
    stale = [*known.stale(key[:2] for key in found)]
    print(f"{FILE}, {time.monotonic() - began:.0f} s; now commit it")
    for kind, changed, told in unknown:
        print(f"no reason for a survivor: {kind}: {changed!r} ({told})")
    if stale:
        print(f"reasons that no survivor of this run needed: {len(stale)}")
    sys.exit(1 if unknown else 0)


def of_code(began: float) -> list[Verdict]:
    edits = package.table()

    def tell(verdict: Verdict) -> None:
        seconds = time.monotonic() - began
        state = "noticed" if verdict.killed else "ALIVE"
        asleep = [page for page, found in verdict.pages.items() if not found]
        words = f", not by {', '.join(asleep)}" if asleep and verdict.killed else ""
        print(f"{seconds:4.0f} s  {state:8}{verdict.name}{words}", flush=True)

    verdicts = package.judge_all(edits, tell)
    if mistakes := [v for v in verdicts if v.mistake]:
        sys.exit("\n".join(f"{v.name}: no mutant: {v.mistake}" for v in mistakes))
    return verdicts


def of_pages(began: float) -> list[Judged]:
    judged = []
    for found in texts.judge_all(judging.page_ids()):
        seconds, tried = time.monotonic() - began, found.tried
        noticed = sum(t.killed for t in tried)
        print(f"{seconds:4.0f} s  {found.page}: {noticed} of {len(tried)}", flush=True)
        judged.append(found)
    return judged


def survivors(
    verdicts: list[Verdict], judged: list[Judged]
) -> list[tuple[str, str, str]]:
    """Kind, what was changed, and how it is told."""
    alive = [(CODE, v.name, v.name) for v in verdicts if not v.killed]
    for found in judged:
        alive += [
            (t.kind, t.text, f"{t.page}: {t.told}") for t in found.tried if not t.killed
        ]
    return alive


def recorded(
    verdicts: list[Verdict], judged: list[Judged], now: dict[str, str]
) -> Record:
    known, all_of = reasons(), Counter()
    for found in judged:
        all_of.update(found.total)
    tried = Counter(t.kind for found in judged for t in found.tried)
    noticed = Counter(t.kind for found in judged for t in found.tried if t.killed)
    scores = {k: Score(all_of[k], tried[k], noticed[k]) for k in texts.PER_PAGE}
    killed = sum(verdict.killed for verdict in verdicts)
    scores[CODE] = Score(len(verdicts), len(verdicts), killed)
    alive: dict[str, dict[str, str]] = {}
    for kind, changed, told in survivors(verdicts, judged):
        alive.setdefault(kind, {})[told] = known.of(kind, changed) or "no reason given"
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    commit, today = head.stdout.strip(), date.today().isoformat()
    return Record(commit, today, now, scores, alive)


if __name__ == "__main__":
    main()
