"""A file is read without executing it; what is no dump is told in one sentence."""

import pickle
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch

from ppo_ref.__main__ import main
from ppo_ref.check.dump.reading import REMEDY, fields, read
from ppo_ref.check.dump.trainers import WRITTEN
from tests.check.dump.batches import dumped, sampled


class DataProto:
    """Pickles like verl's: a class of its own, with bytes in it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("executed"),))


def test_the_lines_that_are_printed_make_a_dump(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    kept = dumped(sampled()) | {"step": 3}  # which is no tensor, and left out
    uid = SimpleNamespace(tolist=lambda: ["a", "b", "a", "c", "b", "c"])
    _, of_verl, of_trl, of_openrlhf = WRITTEN
    batch = SimpleNamespace(batch=kept, non_tensor_batch={"uid": uid})
    exec(of_verl.lines, {"torch": torch, "batch": batch})
    found = read("dump.pt")
    assert found.keys() == (kept.keys() | {"uid"}) - {"step"}
    assert found["uid"].tolist() == [0, 1, 0, 2, 1, 2]
    names: dict[str, Any] = {"torch": torch, "output": {"advantages": torch.ones(2)}}
    names |= {"rewards": torch.arange(4), "process_slice": slice(2, 4)}
    names["self"] = SimpleNamespace(accelerator=SimpleNamespace(is_main_process=True))
    exec(of_trl.lines, names)
    assert read("dump.pt")["rewards"].tolist() == [2, 3]
    parts = [SimpleNamespace(values=torch.ones(2, width)) for width in (3, 2)]
    exec(of_openrlhf.lines, {"torch": torch, "experiences": parts})
    assert read("dump.pt")["values"].tolist() == [[1, 1, 1]] * 2 + [[1, 1, 0]] * 2
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    printed = capsys.readouterr().out
    for written in WRITTEN:
        assert indent(written.lines, "    ") in printed


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
        assert refusal(path).startswith("no dump; the lines that dump a batch of verl,")
        assert refusal(path).endswith("ppo_ref check --help")
    torch.save([torch.ones(1)], path)
    assert refusal(path).startswith("must hold a dict of tensors, holds a list; the")
    torch.save({"values": torch.ones(64, 64)}, path)
    path.write_bytes(path.read_bytes()[:2000])
    assert refusal(path).startswith("cut short or no dump (")


@pytest.mark.parametrize("save", [pickle.dump, torch.save])
def test_code_is_never_executed(tmp_path, monkeypatch, save):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "dump.pt"
    with path.open("wb") as file:
        save({"batch": DataProto()}, file)
    assert refusal(path).endswith(REMEDY)
    assert not Path("executed").exists()


def test_a_pickled_data_proto_is_called_by_its_name(tmp_path):
    path = tmp_path / "dump.pt"
    # As pickle.dump(data) begins: the name of the class, then its state.
    path.write_bytes(
        b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\rverl.protocol\x8c\tDataProto\x93)\x81."
    )
    assert refusal(path).startswith("a pickled DataProto, which only its")


KL = torch.tensor([2.0, 3.0])
OBJECTS = np.array(["a", "b"], dtype=object)
ROWS = [torch.ones(2), torch.ones(3)]
NESTED = torch.nested.as_nested_tensor(ROWS, layout=torch.jagged)


@pytest.mark.parametrize(
    ("uid", "told"),
    [
        (OBJECTS, "it holds NumPy arrays: save x.tolist() of each, as of uid;"),
        (DataProto(), "it holds objects beside tensors, which are code: "),
    ],
)
def test_what_a_file_asks_for_is_named(tmp_path, uid, told):
    torch.save(dumped(sampled()) | {"uid": uid}, tmp_path / "dump.pt")
    assert refusal(tmp_path / "dump.pt").startswith(told)


def test_a_nested_tensor_is_refused_with_what_to_save():
    told = "advantages must be a dense tensor, got nested: save advantages.to_padded"
    with pytest.raises(ValueError, match=told):
        fields(dumped(sampled()) | {"advantages": NESTED})


def test_a_batch_of_numpy_is_read_without_numpy(tmp_path):
    batch = dumped(sampled())
    arrays = {name: x.numpy() for name, x in batch.items()}
    arrays["values"] = np.asfortranarray(arrays["values"])
    path = tmp_path / "dump.npz"
    np.savez(path, uid=np.array(["a", "b", "a", "c", "b", "c"]), **arrays)
    found = read(path)
    assert found.pop("uid").tolist() == [0, 1, 0, 2, 1, 2]
    assert found.keys() == batch.keys()
    assert all(torch.equal(found[name], x) for name, x in batch.items())
    np.savez(path, uid=OBJECTS)
    assert refusal(path).startswith("uid is an array of objects, which are code: save ")
    np.savez_compressed(path, values=np.zeros((100, 100)))
    assert "use numpy.savez, which does not pack" in refusal(path)
    for header in (b"{'shape': (9**9**9,)}", b"f()", b"[" * 5000, b"{'descr': 'f8'}"):
        size = len(header).to_bytes(2, "little")
        with ZipFile(path, "w") as archive:
            archive.writestr("x.npy", b"\x93NUMPY\1\0" + size + header)
        assert refusal(path).startswith("x has no header of NumPy")


def test_dicts_and_lists_of_one_batch_are_taken_apart(tmp_path):
    path, batch = tmp_path / "dump.pt", dumped(sampled())
    uid = ["a", "b", "a", "c", "b", "c"]
    torch.save({"batch": batch, "non_tensor_batch": {"uid": uid}, "meta": {}}, path)
    assert read(path).keys() == batch.keys() | {"uid"}
    rows = batch["values"].tolist()
    torch.save({"values": rows, "kept": [0.5, 1.0], "odd": [[1], [2, 3]]}, path)
    found = read(path)
    assert torch.equal(found["values"], batch["values"])
    assert found.keys() == {"values", "kept"}
    # The names of a piece are numbered with those of the others.
    pieces = [
        {"values": torch.ones(1, 2), "prompts": ["a"], "info": {"kl": torch.ones(1)}},
        {"values": torch.ones(2, 3), "prompts": ["b", "a"], "info": {"kl": KL}},
    ]
    torch.save(pieces, path)
    found = read(path)
    assert found["prompts"].tolist() == [0, 1, 0]
    assert found["values"].tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert found["info.kl"].tolist() == [1, 2, 3]
    wide = [{"values": torch.ones(1, 9999)}, {"values": torch.ones(99999, 1)}]
    torch.save(wide, path)
    assert refusal(path).startswith("values must be of pieces about equally wide")


def test_exit_codes_say_what_was_found(tmp_path, capsys):
    path = str(tmp_path / "dump.pt")
    batch = dumped(sampled(), gae_lambda=0.95)
    torch.save(batch, path)
    assert main(["check", path]) == 0
    assert main(["check", path, "--gamma", "1", "--lam", "0.95"]) == 0
    assert main(["check", path, "--kl-coef", "0.1", "--eos-token-id", "1"]) == 3
    capsys.readouterr()
    assert main(["check", path, "--gamma", "2"]) == 2
    out, told = capsys.readouterr()
    assert (out, told) == ("", "check: gamma must lie in [0, 1], got 2.0\n")
    del batch["values"]
    torch.save(batch, path)
    assert main(["check", path]) == 1
    assert "look at: gae, whitening; 5 ok" in capsys.readouterr().out
    for name in ("advantages", "returns"):
        del batch[name]
    torch.save(batch, path)
    assert main(["check", path]) == 1
    assert "the advantages were not compared; 5 ok" in capsys.readouterr().out
    torch.save({"values": torch.ones(2, 3)}, path)
    assert main(["check", path]) == 2
    told = "a dump must hold response_mask or attention_mask, got values\n"
    assert capsys.readouterr().err == told
