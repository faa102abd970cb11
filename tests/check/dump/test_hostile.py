"""Files made to stop or mislead ``check``: one sentence each, in little memory."""

import io
import random
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ppo_ref.__main__ import main
from ppo_ref.check.dump.judging import judge
from ppo_ref.check.dump.reading import fields
from tests.check.dump.batches import dumped, sampled
from tests.check.dump.written import Shape, openrlhf, trl, written
from tests.layout import ROOT

LIMITED = """
import resource, sys
import torch
from ppo_ref.command.main import main
torch.set_num_threads(1)
if sys.platform == "linux":  # /proc says how much is used
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 400_000_000,) * 2)
for path in sys.argv[1:]:
    assert main(["check", path]) == 2, path
"""


def limited(files: dict[str, bytes], folder: Path) -> dict[str, str]:
    """The sentence for each, where 400 MB more than torch's own are all there are."""
    paths = [folder / f"{number}.pt" for number in range(len(files))]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return dict(zip(files, done.stderr.splitlines(), strict=True))


def saved(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def with_pickle(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The same file with another pickle, its checksums right."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as old, ZipFile(buffer, "w", ZIP_STORED) as new:
        for name in old.namelist():
            code = old.read(name)
            new.writestr(name, change(code) if name.endswith("data.pkl") else code)
    return buffer.getvalue()


def mutated(code: bytes, random_: random.Random) -> bytes:
    """A few bytes of a pickle replaced, left out, put in or copied elsewhere."""
    found = bytearray(code)
    for _ in range(random_.choice([1, 1, 2, 3, 8])):
        at, length = random_.randrange(len(found)), random_.randint(1, 8)
        kind = random_.random()
        if kind < 0.5:
            found[at] = random_.randrange(256)
        elif kind < 0.7:
            del found[at : at + length]
        elif kind < 0.85:
            found[at:at] = random_.randbytes(length)
        else:
            source = random_.randrange(len(found))
            found[at : at + length] = found[source : source + 5 * length]
    return bytes(found)


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence of ``check`` for a file that it does not judge."""
    assert main(["check", str(path)]) == 2
    out, told = capsys.readouterr()
    assert out == "" and told.count("\n") == 1, told
    assert all(sign.isprintable() or sign == "\n" for sign in told), told
    return told


def test_mutated_pickles_are_judged_or_refused_in_a_sentence(tmp_path, capsys):
    random_ = random.Random(3)
    shape = Shape(critic=False, prompts=3, answers=2, width=8)
    batch = written(1, shape)
    wholes = [
        saved(dumped(sampled()) | {"uid": ["a", "b", "a", "c", "b", "c"]}),
        saved(trl(batch, scored=True)),
        saved(openrlhf(batch, shape)),
    ]
    path, judged = tmp_path / "dump.pt", 0
    for turn in range(300):
        whole = wholes[turn % 3]
        path.write_bytes(with_pickle(whole, lambda code: mutated(code, random_)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # which would stand beside the sentence
            code = main(["check", str(path)])
        out, told = capsys.readouterr()
        assert (code == 2) == (told.count("\n") == 1) == (out == ""), told
        judged += code != 2
    assert judged > 5  # a few hit nothing


def text(words: str) -> bytes:
    return b"X" + struct.pack("<I", len(words.encode())) + words.encode()


UID, DEEP = text("uid"), 300_000
TWICE = b"".join(b"q%ch%c\x86" % (i, i) for i in range(60))  # q puts, h gets
PICKLES = {  # by protocol 2: ( begins, } a dict, ) and \x85 are tuples, s puts into it
    "a tuple as deep as the file is long": b"})" + b"\x85" * DEEP + b"K\x01s.",
    "a key that is a tuple of one tuple, twice, 60 times": b"})q\0"
    + TWICE
    + b"K\x01s.",
    "a list as deep": b"}" + UID + b"]" * DEEP + b"a" * (DEEP - 1) + b"s.",
    "a persistent id that is a number": b"}" + UID + b"K\x01Qs.",
    "a tensor rebuilt from a tuple": b"}"
    + UID
    + b"ctorch._utils\n_rebuild_parameter\n(K\x01K\x02K\x03K\x04tRs.",
    "a call with too few": b"}" + UID + b"ctorch._utils\n_rebuild_tensor_v2\n)Rs.",
    "names that a terminal would obey": b"}"
    + text("\x1b[2Jx\n\u202e\x9b")
    + b"K\x01s.",
    "half of a character": b"}X\3\0\0\0\xed\xa0\x80K\x01s.",
    "nothing": b"",
}


def test_pickles_made_by_hand_are_refused_in_a_sentence(tmp_path):
    """In a process of its own, which the first three would crash or keep for ever."""
    sound = saved({"values": torch.ones(2)})

    def of(code: bytes) -> bytes:
        return with_pickle(sound, lambda _: b"\x80\x02" + code)

    files = {kind: of(code) for kind, code in PICKLES.items()}
    for told in limited(files, tmp_path).values():
        assert told.isprintable(), told


def repeated(*shape: int) -> Tensor:
    """A view with strides 0: one number on the disk."""
    return torch.ones(1).expand(shape)


LARGE = {
    "a terabyte of one number": lambda: saved(
        dict.fromkeys(["values", "response_mask"], repeated(10**6, 10**6))
    ),
    "a gigabyte of one number": lambda: saved(
        dict.fromkeys(["values", "response_mask"], repeated(2**15, 2**15))
    ),
    "rows without a column": lambda: saved(
        {"values": torch.ones(2, 2), "prompts": torch.ones(0).view(0, 1).expand(0, 1)}
        | {"response_mask": torch.empty_strided((10**12, 0), (1, 1))}
    ),
    "half a gigabyte, packed": lambda: packed(2**29),
}


def packed(size: int) -> bytes:
    buffer = io.BytesIO()
    with (
        ZipFile(io.BytesIO(saved({"values": torch.ones(2, 2)}))) as old,
        ZipFile(buffer, "w", ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            code = old.read(name)
            new.writestr(name, b"\0" * size if name.endswith("data/0") else code)
    return buffer.getvalue()


def test_sizes_are_looked_at_before_anything_is_made(tmp_path):
    files = {kind: make() for kind, make in LARGE.items()}
    told = limited(files, tmp_path)
    for kind, content in files.items():
        size = len(content)
        assert size < 2**21
        words = f"bytes, more than its own {size}"
        if "packed" not in kind:
            words = f"must have at most an element per byte of the file, {size}, got"
        assert words in told[kind], kind


def test_a_view_that_repeats_numbers_is_read(tmp_path, capsys):
    """Advantages of one score per row need not be written out."""
    batch = dumped(sampled())
    batch["old_log_probs"] = batch["ref_log_prob"][:, :1].expand(6, 8)
    torch.save(batch, tmp_path / "dump.pt")
    assert main(["check", str(tmp_path / "dump.pt")]) == 3
    assert "kl         ok" in capsys.readouterr().out


def test_twice_the_groups_take_no_four_times_the_work(tmp_path):
    """Counted in elements that are looked at, in calls of torch."""
    looked: list[int] = []

    class Counts(TorchFunctionMode):
        def __torch_function__(self, function, types, given=(), named=None):
            tensors = [x for x in given if isinstance(x, Tensor)]
            looked.append(sum(x.numel() for x in tensors))
            return function(*given, **named or {})

    def work(rows: int) -> int:
        looked.clear()
        column = torch.arange(rows, dtype=torch.float64)[:, None]
        names = ("advantages", "token_level_scores")
        batch = dict.fromkeys(names, column) | {"uid": torch.arange(rows)}
        with Counts():
            judge(
                batch | {"response_mask": torch.ones(rows, 1), "prompts": column.long()}
            )
        return sum(looked)

    assert work(800) < 2.2 * work(400)


def test_names_of_a_dump_reach_no_terminal_raw(tmp_path, capsys):
    path = tmp_path / "dump.pt"
    torch.save({"\x1b[2J\x07\u202evalues\x9b": torch.ones(2, 3)}, path)
    assert r"\x1b[2J\x07\u202evalues\x9b" in refused(path, capsys)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        (
            "response_mask",
            Tensor.cfloat,
            "response_mask must hold 0 and 1, got complex",
        ),
        (
            "attention_mask",
            lambda x: x.cfloat() / 2,
            "attention_mask must hold 0 and 1, got complex",
        ),
        (
            "attention_mask",
            lambda x: x / 2,
            "attention_mask must hold 0 and 1, got 0.5",
        ),
        ("response_mask", lambda x: x * 2, "response_mask must hold 0 and 1, got 2"),
        ("prompts", lambda x: x[:2], "prompts must have 6 rows and 2 axes, got [2, 3]"),
        ("responses", lambda x: x[0], "responses must have 6 rows and 2 axes, got [8]"),
        ("input_ids", Tensor.cfloat, "input_ids must hold ids, got complex64"),
        ("responses", Tensor.double, "responses must hold ids, got float64"),
        ("values", Tensor.to_sparse, "values must be a dense tensor, got sparse_coo"),
        ("prompts", lambda x: x.to("meta"), "prompts must be a dense tensor, got meta"),
        ("uid", lambda x: x[:, None], "uid must name 6 rows, got [6, 1]"),
    ],
)
def test_tensors_that_are_no_batch_are_refused_by_name(name, change, told):
    batch = dumped(sampled()) | {"uid": torch.arange(6)}
    with pytest.raises(ValueError) as error:
        fields(batch | {name: change(batch[name])})
    assert str(error.value).startswith(told), error.value
