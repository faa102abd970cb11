"""A file is read without executing it; what is no dump is told in one sentence."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from ppo_ref.__main__ import main
from ppo_ref.check.dump.reading import WRITE, read
from tests.check.dump.batches import dumped, sampled


class DataProto:
    """Pickles like verl's: a class of its own, with bytes in it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("executed"),))


def test_the_line_that_is_printed_makes_the_right_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Data:
        batch = dumped(sampled()) | {"step": 3}  # which is no tensor, and left out
        batch |= {"uid": ["a", "b", "a", "c", "b", "c"]}

    exec(WRITE, {"torch": torch, "batch": Data})
    found = read("dump.pt")
    assert found.keys() == Data.batch.keys() - {"step"}
    assert found["uid"].tolist() == [0, 1, 0, 2, 1, 2]


def refusal(path: Path) -> str:
    with pytest.raises(ValueError) as error:
        read(path)
    text = str(error.value)
    assert "\n" not in text and text.startswith(str(path))
    return text.removeprefix(f"{path}: ")


def test_what_is_no_dump_is_told_and_the_remedy(tmp_path):
    path = tmp_path / "dump.pt"
    assert refusal(path) == "no such file"
    assert refusal(tmp_path) == "a folder"
    for content in (b"", b"just a text\n"):
        path.write_bytes(content)
        assert refusal(path).startswith("no dump; write it in your trainer, behind")
        assert refusal(path).endswith(WRITE)
    torch.save([torch.ones(1)], path)
    assert refusal(path).startswith("must hold a dict of tensors, holds a list; write")
    torch.save({"values": torch.ones(64, 64)}, path)
    path.write_bytes(path.read_bytes()[:2000])
    assert refusal(path).startswith("cut short or no dump (")


@pytest.mark.parametrize("save", [pickle.dump, torch.save])
def test_code_is_never_executed(tmp_path, monkeypatch, save):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "dump.pt"
    with path.open("wb") as file:
        save({"batch": DataProto()}, file)
    assert refusal(path).endswith(WRITE)
    assert not Path("executed").exists()


def test_a_pickled_data_proto_is_called_by_its_name(tmp_path):
    path = tmp_path / "dump.pt"
    # As pickle.dump(data) begins: the name of the class, then its state.
    path.write_bytes(
        b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\rverl.protocol\x8c\tDataProto\x93)\x81."
    )
    assert refusal(path).startswith("a pickled DataProto, which only its")


def test_exit_codes_say_what_was_found(tmp_path, capsys):
    path = str(tmp_path / "dump.pt")
    batch = dumped(sampled(), gae_lambda=0.95)
    torch.save(batch, path)
    assert main(["check", path]) == 0
    assert main(["check", path, "--gamma", "1", "--lam", "0.95"]) == 0
    assert main(["check", path, "--kl-coef", "0.1", "--eos-token-id", "1"]) == 1
    capsys.readouterr()
    assert main(["check", path, "--gamma", "2"]) == 2
    out, told = capsys.readouterr()
    assert (out, told) == ("", "check: gamma must lie in [0, 1], got 2.0\n")
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert "dict(batch.batch.items())" in " ".join(capsys.readouterr().out.split())
    del batch["values"]
    torch.save(batch, path)
    assert main(["check", path]) == 0
    torch.save({"values": torch.ones(2, 3)}, path)
    assert main(["check", path]) == 2
    told = "a dump must hold response_mask or attention_mask, got values\n"
    assert capsys.readouterr().err == told
