"""Every setting is an option, and what is refused is refused in one sentence."""

import pytest
import torch

from ppo_ref.command import settings
from ppo_ref.command import train as train_module
from ppo_ref.command.main import Parser
from ppo_ref.command.settings import Settings
from tests.command.runs import SMALL, train


def parsed(*arguments: str) -> Settings:
    parser = Parser()
    settings.add_options(parser)
    return settings.make_settings(vars(parser.parse_args(arguments)))


def test_an_option_becomes_the_field_of_its_name():
    found = parsed("--gae-lambda", "0.5", "--threads", "2", "--device", "cpu")
    assert found == Settings(gae_lambda=0.5, threads=2, device="cpu")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--batch", "8"], "unknown argument --batch; --help shows those that there"),
        (["--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["--estimate", "gae"], "argument --estimate: invalid choice: 'gae'"),
        (
            ["--estimate", "grpo"],
            "responses_per_prompt must be at least 2, as grpo compares the "
            "responses to one prompt, got 1",
        ),
        (["--threads", "0"], "train: threads must be at least 1, got 0"),
        (["--width", "66"], "width must be a multiple of heads 4, got 66"),
        *(
            ([f"--{name}", "inf"], f"{name.replace('-', '_')} must be finite, got inf")
            for name in (
                *("actor-lr", "critic-lr", "warm-start-lr", "temperature", "kl-coef"),
                *("kl-loss-coef", "entropy-coef", "kl-target"),
            )
        ),
        *(
            (sizes, "width and layers must make at most 100000000 weights, got ")
            for sizes in (
                ["--width", "1000000000"],
                ["--layers", "1000000000"],
                ["--width", "4096", "--layers", "2"],
                ["--width", "1" + "0" * 400],
            )
        ),
        *(
            (sizes, "must make at most 10000000 tokens of a batch, got ")
            for sizes in (
                ["--batch-size", "1000000000"],
                ["--warm-start-batch-size", "1000000000"],
                ["--response-length", "1000000000"],
            )
        ),
        (
            ["--preset", "smollm2"],
            "--preset smollm2 needs the model in .cache/smollm2, which make tools "
            "ARGS=smollm2 brings to this project; or name one by --model",
        ),
        (["--preset", "best"], "argument --preset: invalid choice: 'best'"),
        (
            ["--questions", "asked.jsonl"],
            "--questions is for a model that speaks; name",
        ),
        (["--held-out", "0.2"], "--held-out is for questions of a file; those of phr"),
        (["--stop", "="], "--stop is for a model that speaks; name one by --model"),
        (["--no-chat-template"], "--no-chat-template is for a model that speaks; name"),
        *(
            ([f"--{name}", ""], f"--{name} must not be empty, got ''; leave it out ")
            for name in ("stop", "model", "score", "ask")
        ),
        (["--resume", "x", "--seed", "1"], "leave out --seed"),
        (["--resume", "nowhere"], "config.json is missing: no run was begun there"),
    ],
)
def test_what_is_refused_before_anything_is_written(
    tmp_path, monkeypatch, capsys, arguments, told
):
    monkeypatch.chdir(tmp_path)
    assert train(*arguments) == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1
    assert said.startswith("python -m ppo_ref train: ")
    assert "train: train: " not in said and "PPOConfig: " not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--response-length", "3"], "a text and its end must fit 3 slots"),
        (["--wrong-score", "nan"], "reward must give finite scores, got nan for"),
        (["--score", "sc.py:"], "or FILE.py:function, got sc.py:"),
        (["--score", ":paid"], "or FILE.py:function, got :paid"),
        (["--ask", "five?"], "train: --ask: text must be made of '"),
        (["--ask", "1" * 40], "--ask: prompt and response must fit the model's "),
    ],
)
def test_what_is_refused_on_the_way(tmp_path, capsys, arguments, told):
    run = tmp_path / "run"
    more = "--checkpoint-seconds", 9
    assert train(*SMALL, *more, *arguments, "--out", run) == 2
    assert told in capsys.readouterr().err.splitlines()[-1]
    assert run.exists() == ("score" in told)  # by then there is a checkpoint


def test_a_model_that_is_not_there(tmp_path, capsys):
    run = tmp_path / "run"
    assert train("--model", tmp_path / "gone", "--out", run) == 2
    said = capsys.readouterr().err
    told = f"python -m ppo_ref train: --model must be a folder, got '{tmp_path}/gone'; "
    assert said.startswith(told) and not run.exists()


def test_too_little_memory_is_told_in_a_sentence(tmp_path, monkeypatch, capsys):
    def greedy(*given: object) -> None:
        torch.empty(10**15)

    monkeypatch.setattr(train_module, "Session", greedy)
    assert train(*SMALL, "--out", tmp_path / "run") == 2
    said = capsys.readouterr().err
    assert "the run needs more memory than there is" in said and said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_preset_is_a_whole_recipe_and_what_is_named_besides_wins(tmp_path):
    found = parsed("--preset", "smollm2", "--model", str(tmp_path), "--iterations", "7")
    assert found.iterations == 7 and found.model == str(tmp_path)
    assert (found.stop, found.samples, found.warm_start_steps) == ("\n", 32, 0)
    assert found.prompt_template == "14 + 25 = 39\n{prompt}"
    assert found.actor_lr == 3e-5 and found.no_chat_template
    of_any_model = parsed("--model", str(tmp_path), "--actor-lr", "1e-6")
    assert (of_any_model.actor_lr, of_any_model.critic_lr) == (1e-6, 1e-4)


def test_a_device_that_is_not_there(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.chdir(tmp_path)
    assert train("--device", "cuda") == 2
    assert "got cuda" in (said := capsys.readouterr().err) and "--device cpu" in said
    assert parsed().device == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert parsed().device == "cuda"
    assert parsed("--device", "cpu").device == "cpu"
