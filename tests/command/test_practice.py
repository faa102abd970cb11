"""``python -m ppo_ref practice``: the list, a file to fill in, its judge."""

import pytest

from ppo_ref.command.main import main
from ppo_ref.practice import words

RIGHT = "def masked_mean(x, mask):\n    return x[mask].mean()\n"
WRONG = "def masked_mean(x, mask):\n    return x.mean()\n"


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path


def test_the_list_has_all_holes_and_what_was_begun(somewhere, capsys):
    assert main(["practice", "gae"]) == 0
    capsys.readouterr()
    assert main(["practice"]) == 0
    printed = capsys.readouterr().out
    for name in words.HOLES:
        assert f"\n{name} " in f"\n{printed}"
    begun = [line for line in printed.splitlines() if line.endswith("(begun)")]
    assert [line.split()[0] for line in begun] == ["gae"]


def test_a_file_is_written_once_and_never_over_what_was_filled_in(somewhere, capsys):
    assert main(["practice", "masked_mean"]) == 0
    path = somewhere / "practice" / "masked_mean.py"
    assert "def masked_mean(x, mask):" in path.read_text("utf-8")
    path.write_text(RIGHT, "utf-8")
    assert main(["practice", "masked_mean"]) == 2
    assert "is there already and was left as it is" in capsys.readouterr().err
    assert path.read_text("utf-8") == RIGHT


def test_what_was_filled_in_is_judged(somewhere, capsys):
    main(["practice", "masked_mean"])
    assert main(["practice", "masked_mean", "--check"]) == 1
    assert "NotImplementedError" in capsys.readouterr().out
    path = somewhere / "practice" / "masked_mean.py"
    path.write_text(WRONG, "utf-8")
    assert main(["practice", "masked_mean", "--check", "--lang", "zh"]) == 1
    assert "还不对" in capsys.readouterr().out
    path.write_text(RIGHT, "utf-8")
    assert main(["practice", "masked_mean", "--check"]) == 0
    assert "right, on all" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gae", "--check"], "practice/gae.py is missing; to make it, leave --check"),
        (["--check"], "--check needs a NAME, such as gae"),
        (["gea"], "invalid choice: 'gea'"),
    ],
)
def test_a_refusal_says_what_to_do(arguments, told, capsys):
    with pytest.MonkeyPatch.context():
        try:
            code = main(["practice", *arguments])
        except SystemExit as ended:
            code = ended.code
    assert code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "lang"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_it_speaks_the_language_of_the_machine(variables, lang, monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert words.language() == lang
