"""The viewer as a process: what it answers, to whom, how it ends, what it refuses."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from ppo_ref.command.main import main
from ppo_ref.command.view import served
from ppo_ref.train.stored_runs import FOLDER
from tests.command.runs import SMALL, train
from tests.layout import ROOT


@contextmanager
def viewing(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process and its port, once it has told its address."""
    command = [sys.executable, "-m", "ppo_ref", "view", *map(str, arguments)]
    process = subprocess.Popen(
        [*command, "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout
        address = process.stdout.readline()
        assert address.startswith("http://127.0.0.1:"), address
        yield process, int(address.split(":")[2].split("/")[0])
    finally:
        process.kill()
        process.communicate()


def answered(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    """Status and content; the path as it is, which a browser would settle first."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_it_answers_with_the_run_and_the_viewer_and_nothing_else(whole: Path) -> None:
    with viewing(whole) as (process, port):
        status, page = answered(port, "/")
        assert status == 200 and b'src="page.js"' in page
        runs = ("runs.css", "run_files.js", "run_folders.js", "run_faults.js")
        for name in ("page.js", "lab.js", *runs):
            found = answered(port, f"/{name}?x=1")
            assert found == (200, (ROOT / "ppo_ref/train/viewer" / name).read_bytes())
        stored = (FOLDER / "healthy.jsonl").read_bytes()
        assert answered(port, "/stored/healthy.jsonl.txt") == (200, stored)
        given = json.loads(answered(port, "/given.json")[1])
        names = ["statistics.jsonl", "tokens.jsonl", "config.json"]
        assert [*given] == [f"{whole.as_posix()}/{name}" for name in names]
        for path, place in given.items():
            assert answered(port, f"/{place}") == (200, Path(path).read_bytes())
        for path in (
            *("/given/3", "/given/0/", "/given/../given/0", "/given"),
            *(
                f"/..{whole}/checkpoint.pt",
                f"/{whole}/checkpoint.pt",
                "/../__init__.py",
            ),
            *("/stored/../../__init__.py", "/%2e%2e/__init__.py", "/checkpoint.pt"),
        ):
            assert answered(port, path)[0] == 404, path
        # Another site's name for this address, as a rebinding of DNS would send it.
        assert answered(port, "/given/0", Host=f"evil.example:{port}")[0] == 404
        assert answered(port, "/given/0", Host="127.0.0.1:1@evil.example")[0] == 404
        assert answered(port, "/given/0", Host=f"localhost:{port}")[0] == 200
        assert answered(port, "/given/0", Host="localhost:9000")[0] == 200  # by SSH
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


def test_a_run_that_goes_on_is_shown_as_it_is_by_then(whole: Path, tmp_path) -> None:
    log = tmp_path / "statistics.jsonl"
    log.write_text("one\n")
    pages = served([tmp_path, whole])
    log.write_text("one\ntwo\n")
    assert pages["given/0"]() == b"one\ntwo\n"
    assert pages["given/1"]() == (whole / "statistics.jsonl").read_bytes()


def test_a_dump_of_tensors_is_shown_as_json(tmp_path: Path) -> None:
    dump = {"values": torch.tensor([[0.5, float("nan")]]), "meta": torch.zeros(2)}
    torch.save(dump, tmp_path / "dump.pt")
    pages = served([tmp_path / "dump.pt"])
    assert pages["given/0"]() == b'{"values": [[0.5, NaN]]}'
    assert [*json.loads(pages["given.json"]())] == [f"{tmp_path}/dump.pt.json"]


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_tensors_that_no_page_can_show_are_left_out(tmp_path: Path) -> None:
    rows = torch.ones(1, 2)
    shown = {"values": rows, "responses": rows.long(), "response_mask": rows.bool()}
    shown |= {"old": rows.to(torch.float8_e5m2), "half": rows.bfloat16()}
    others = {"z": rows.cfloat(), "gone": rows.to("meta"), "few": rows.to_sparse()}
    others |= {"q": torch.quantize_per_tensor(rows, 0.5, 0, torch.qint8)}
    torch.save(others | shown, tmp_path / "dump.pt")
    pages = served([tmp_path / "dump.pt"])
    assert json.loads(pages["given/0"]()) == {name: [[1, 1]] for name in shown}


def test_a_dump_that_would_be_larger_than_its_file_is_refused(
    tmp_path: Path, capsys: Any
) -> None:
    torch.save({"values": torch.ones(1).expand(2**15, 2**15)}, tmp_path / "dump.pt")
    assert main(["view", str(tmp_path / "dump.pt")]) == 2
    told = capsys.readouterr().err
    assert "must have at most an element per byte" in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{}/nothing"], "{}/nothing must be a file or a folder, and is not there"),
        (["{}"], "{} must be the folder of a run that has begun, but holds no "),
        (["{}/notes.pt"], "{}/notes.pt: no dump; "),
        (["{}/a.json"] * 3, "view compares at most 2 runs, got 3"),
        (["{}/a.json", "--port", "99999"], "--port must be a free one, got 99999: "),
    ],
)
def test_what_it_refuses(
    arguments: list[str], told: str, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "notes.pt").write_text("hello")
    (tmp_path / "a.json").write_text("{}")
    assert main(["view", *(text.format(tmp_path) for text in arguments)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"python -m ppo_ref view: {told.format(tmp_path)}"), error
    assert error.count("\n") == 1


def test_a_port_that_is_taken_is_refused_by_name(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a.json").write_text("{}")
    with viewing(tmp_path / "a.json") as (_, port):
        assert main(["view", str(tmp_path / "a.json"), "--port", str(port)]) == 2
    told = f"python -m ppo_ref view: --port must be a free one, got {port}: "
    assert capsys.readouterr().err.startswith(told)


def test_train_names_the_command_at_its_end(tmp_path: Path, capsys: Any) -> None:
    assert train(*SMALL, "--out", tmp_path / "run") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert (
        last == f"curves, and token by token: python -m ppo_ref view {tmp_path / 'run'}"
    )
