"""The live site: both languages, an edit shows, a fault does not end it."""

import http.client
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from site_tools.build import serve as front_door
from site_tools.build.live import Live as Language
from tests.site import trial_site

PATIENCE = 60.0  # of a test, on a machine that does other things as well


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def serve(root: Path, port: int) -> subprocess.Popen[str]:
    return trial_site.start(root, "site_tools.build.serve", "--port", str(port))


class Live:
    """A served copy of the trial site."""

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, free_port()
        self.process = serve(root, self.port)
        self.told = self.read_until("English")
        self.first = [self.get(path) for path in ("/", "/en/")]
        for lang in ("zh", "en"):
            if f"{lang}: built" not in self.told:
                self.told += self.read_until(f"{lang}: built")

    def read_until(self, text: str) -> str:
        """The words of the server up to a text; silence for too long ends it."""
        assert self.process.stdout
        silence = threading.Timer(PATIENCE, self.process.kill)
        silence.start()
        told = ""
        while text not in told:
            line = self.process.stdout.readline()
            assert line, f"the server ended before it said {text!r}: {told}"
            told += line
        silence.cancel()
        return told

    def get(self, path: str) -> str:
        """What stands at a path, also while it is not there yet."""
        address = f"http://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(address) as answer:
                return str(answer.geturl()) + "\n" + answer.read().decode()
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            return error.read().decode()

    def shows(self, path: str, text: str) -> bool:
        return wait(lambda: text in self.get(path))

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def write_home(self, words: str) -> None:
        """Other words on the English home page, whatever stood there before."""
        (self.root / "docs/en/index.md").write_text(f"# Home\n\n{words}\n", "utf-8")

    def processes(self) -> list[int]:
        """The processes of the server alone; the builders last."""
        listed = ["ps", "-A", "-o", "pid=,ppid="]
        text = subprocess.run(listed, stdout=subprocess.PIPE, text=True, check=True)
        pairs = [[*map(int, line.split())] for line in text.stdout.splitlines()]
        found = [self.process.pid]
        for parent in found:
            found += [pid for pid, above in pairs if above == parent]
        return found[1:]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait(reached: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if reached():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    root = tmp_path_factory.mktemp("live")
    trial_site.write(root)
    site = Live(root)
    yield site
    beside = site.processes()
    site.process.terminate()
    site.process.communicate()
    assert len(beside) > 2 and wait(lambda: not any(map(alive, beside)))


def test_both_languages_answer_at_once_and_come_by_themselves(live):
    for first in live.first:
        assert "正在生成" in first and "is being built" in first
        assert 'http-equiv="refresh"' in first
    assert live.shows("/", "首页") and live.shows("/en/", "Home")
    assert live.shows("/en/alignment/first/", 'class="answer"')
    assert live.shows("/alignment/first/", 'class="katex"')
    assert live.get("/en").splitlines()[0].endswith("/en/")


def test_formulas_have_their_styles(live):
    (link,) = re.findall(r'href="([^"]*katex.css)"', live.get("/alignment/first/"))
    assert link == "../../assets/katex/katex.css"
    for home in ("", "/en"):
        assert ".katex" in live.get(f"{home}/assets/katex/katex.css")


def test_an_edit_shows_and_the_search_knows_it(live):
    live.write_home("Nobody wrote this.")
    assert live.shows("/en/", "Nobody wrote this.")
    assert live.shows("/en/search/search_index.json", "Nobody wrote this.")
    assert "Before or after" in live.get("/en/search/search_index.json")


@pytest.mark.slow
def test_a_new_title_reaches_the_page(live):
    name = f"Title {time.monotonic_ns()}?"
    page = live.root / "docs/en/alignment/first.md"
    text = re.sub("question: .*", f"question: {name}", page.read_text("utf-8"))
    page.write_text(text, "utf-8")
    assert live.shows("/en/alignment/first/", f"<h1>{name}</h1>")


@pytest.mark.slow
def test_an_edit_of_the_tools_takes_effect_in_both_languages(live):
    live.edit("site_tools/compile/words/en.yml", "  why: why", "  why: how come")
    assert live.shows("/en/alignment/first/", ">how come</a>")
    assert live.shows("/", "首页")


def test_a_fault_is_told_and_ends_nothing(live):
    live.write_home("Good.")
    assert live.shows("/en/", "Good.")
    live.write_home(r"Now $\frac{$.")
    told = live.read_until("KaTeX must be able")
    assert "docs/en/index.md" in told
    live.write_home("```{ .python .norun }\nx\n```")
    assert "without a reason" in live.read_until("reason")
    assert live.shows("/en/", "without a reason")
    live.write_home('<p onclick="planted()">x</p>')
    assert "onclick" in live.read_until("onclick")
    assert live.shows("/en/", "onclick") and "<p onclick" not in live.get("/en/")
    live.write_home("Now mended.")
    assert live.shows("/en/", "Now mended.")


def test_only_a_change_of_words_leaves_the_other_pages_alone(tmp_path, monkeypatch):
    trial_site.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    here = Language("en")
    here.compile()
    wholes = []
    monkeypatch.setattr(here, "compile", lambda: wholes.append("en"))
    page = "docs/en/alignment/first.md"
    text = (tmp_path / page).read_text("utf-8")
    (tmp_path / page).write_text(text + "\nMore.\n", "utf-8")
    here.recompile([page, "docs/zh/alignment/first.md"])
    compiled = here.compiler.folder / "alignment/first.md"
    assert compiled.read_text("utf-8").endswith("More.\n") and not wholes
    (tmp_path / page).write_text(re.sub("question: ", "question: X", text), "utf-8")
    for changed in ([page], ["docs/en/new.md"], ["snippets/alignment/first.svg"]):
        here.recompile(changed)
    assert len(wholes) == 3
    here.recompile(["docs/zh/index.md"])
    assert len(wholes) == 3


def test_a_page_that_is_not_there_is_answered(live):
    with pytest.raises(urllib.error.HTTPError, match="404") as missing:
        live.get("/nowhere/")
    assert "没有这一页" in missing.value.read().decode()


@pytest.fixture
def door() -> Iterator[int]:
    """The port of a front door behind which nobody builds anything."""

    languages = {lang: SimpleNamespace(port=free_port()) for lang in ("zh", "en")}
    nobody = SimpleNamespace(languages=languages)
    kind = type("Door", (front_door.Door,), {"sites": nobody})
    server = front_door.DoorServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def answered(port: int, *hosts: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.putrequest("GET", "/", skip_host=True)
    for host in hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_another_sites_name_for_this_address_gets_no_page(door):
    """As a rebinding of DNS sends it, after which that site could read drafts."""
    port = door
    for host in ("127.0.0.1", f"localhost:{port}", "LOCALHOST:9000", f"[::1]:{port}"):
        assert answered(port, host)[0] == 503, host
    for hosts in (
        *(["evil.example"], [f"evil.example:{port}"], ["127.0.0.1.evil.example"]),
        *([f"127.0.0.1:{port}@evil.example"], [f"x@127.0.0.1:{port}"], ["localhost:"]),
        *([], [""], ["localhost", "evil.example"], ["evil.example", "localhost"]),
    ):
        code, told = answered(port, *hosts)
        assert (code, told.count("\n")) == (421, 1), hosts
        assert told.startswith("Host must be localhost, 127.0.0.1 or [::1], got '")


def test_a_taken_port_ends_in_one_sentence(live):
    second = serve(live.root, live.port)
    told, _ = second.communicate(timeout=PATIENCE)
    another = f"set another one: make serve PORT={live.port + 1}"
    assert told == f"port {live.port} is taken; {another}\n"
    assert second.returncode == 1


def test_what_is_verified_behind_the_server_ends_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(front_door, "VERIFY", "echo $$ > pid; exec sleep 600")
    with front_door.verifying():
        assert wait(lambda: Path("pid").is_file() and Path("pid").read_text() != "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)
