"""What is shown of a run, on a terminal and elsewhere."""

import io

from ppo_ref.command.session import Step
from ppo_ref.command.train import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, steps: list[Step], seconds: list[float]) -> str:
    times = iter(seconds)
    progress = Progress(stream, clock=lambda: next(times))
    for step in steps:
        progress.show(step)
    progress.end()
    return stream.getvalue()


def test_elsewhere_ten_lines_of_each_stage_stay():
    steps = [Step("PPO", done, 40, {"score": done / 40}) for done in range(41)]
    told = shown(io.StringIO(), steps, [float(n) for n in range(42)])
    lines = told.splitlines()
    assert len(lines) == 11 and "\r" not in told
    assert lines[1] == ("PPO          [#         ]  4/40  score 0.100  0:36 left")
    assert lines[-1] == "PPO          [##########] 40/40  score 1.000"


def test_a_terminal_has_one_line_for_each_stage(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "24")
    steps = [
        Step("imitation", 1, 2, {"loss": 2.0}),
        Step("imitation", 2, 2, {"loss": 1.0}),
        Step("PPO", 1, 2, {"score": 0.5, "held_out": 0.25, "kl": 0.125}),
    ]
    told = shown(Terminal(), steps, [0.0] * 5)
    first, second, rest = told.split("\n")
    assert rest == ""
    assert first.count("\r") == 2 and second.count("\r") == 1
    assert {len(part) for part in (*first.split("\r")[1:], second[1:])} == {59}


def test_time_left_is_of_this_process(monkeypatch):
    """A run that is resumed at 90 of 100 has not been fast until then."""
    steps = [Step("PPO", done, 100, {}) for done in (90, 91, 92)]
    told = shown(Terminal(), steps, [100.0, 160.0, 220.0])
    assert "91/100  9:00 left" in told and "92/100  8:00 left" in told
    assert "90/100  " in told.split("\r")[1] and "left" not in told.split("\r")[1]
