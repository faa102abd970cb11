"""The progress of a run on the terminal, and its records of single tokens."""

import io

import torch

from ppo_ref.batch import Experience, Rollout
from ppo_ref.command.session import Step
from ppo_ref.command.train import Progress
from ppo_ref.train.statistics import records
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import CharacterTokenizer


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


def test_every_row_of_a_response():
    tokenizer = CharacterTokenizer("+1=2")  # ids 2 to 5 are +, 1, 2, =
    questions = [Question("1+1=", "1+1=2"), Question("2+1=", "2+1=3")]
    rollout = Rollout(
        sequences=torch.tensor([[3, 4, 5, 1, 0], [5, 4, 0, 2, 3]]),
        attention_mask=torch.ones(2, 5, dtype=torch.bool),
        response_mask=torch.tensor([[True, True, False], [True, True, True]]),
        rollout_log_probs=torch.tensor([[0.5, 1.0, 9.0], [1.5, 2.0, 2.5]]),
        truncated=torch.tensor([False, True]),
    )
    per_token = {
        name: torch.arange(6.0).view(2, 3) + 10 * at
        for at, name in enumerate(Experience._fields[1:])
    }
    per_token |= {"scores": torch.tensor([1.0, 0.0])}
    batch = Experience(rollout=rollout, **per_token), questions, tokenizer
    first, second = records(*batch, rows=9)
    assert (first["question"], first["response"]) == ("1+1=", ["=", "<eos>"])
    assert second["response"] == ["<pad>", "+", "1"]
    assert (first["score"], first["truncated"]) == (1.0, False)
    assert (second["score"], second["truncated"]) == (0.0, True)
    assert first["rollout_log_probs"] == [0.5, 1.0]
    assert first["old_log_probs"] == [0.0, 1.0]
    for at, name in enumerate(Experience._fields[1:]):
        if name not in ("scores", "kl"):
            assert second[name] == [3.0 + 10 * at, 4.0 + 10 * at, 5.0 + 10 * at]
    assert len([*records(*batch, rows=1)]) == 1
    assert [*records(*batch, rows=0)] == []
