"""The live site: both languages, an edit shows, a fault does not end it."""

import operator
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

import pytest

from docs.theme import serve as theme_serve
from docs.theme.serve import Sites
from site_tools.page.accord import lock_of, write
from site_tools.page.prose import wording
from tests.site import trial_site

PATIENCE = 60.0  # of a test, on a machine that does other things as well


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def serve(root: Path, port: int) -> subprocess.Popen[str]:
    return trial_site.start(root, "docs.theme.serve", "--port", str(port))


class Live:
    """A served copy of the trial site."""

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, free_port()
        self.process = serve(root, self.port)
        self.told = self.read_until("English")
        self.first = self.get("/")
        self.told += self.read_until("en: built in")

    def read_until(self, text: str) -> str:
        """What the server says up to a text; silence for too long ends it."""
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
        address = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(address) as answer:
            return str(answer.geturl()) + "\n" + answer.read().decode()

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

    def settle(self) -> None:
        """Read what is said until every build that began has ended."""
        words = f"Settled {time.monotonic_ns()}."
        self.write_home(words)
        said = self.read_until("en: building")
        assert self.shows("/en/", words)
        while said.count("building") > len(re.findall("built in|not built", said)):
            said += self.read_until("built")


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
    site.process.terminate()
    site.process.communicate()


def test_both_languages_answer_at_one_address(live):
    assert "首页" in live.first, "before English is built"
    assert re.search(r"zh: building .*  50 %\n.*zh: built in", live.told, re.DOTALL)
    assert "Home" in live.get("/en/")
    assert live.get("/en").splitlines()[0].endswith("/en/")


def test_an_edit_of_a_page_shows_and_only_its_language_is_built(live):
    live.settle()
    live.write_home("Still none.")
    assert live.shows("/en/", "Still none.")
    told = live.read_until("built in")
    assert "en: building" in told and "zh:" not in told


def agree(root: Path) -> None:
    """Record the first page as it stands."""
    pages = [root / f"docs/{lang}/alignment/first.md" for lang in ("zh", "en")]
    words = [wording(page.read_text("utf-8")) for page in pages]
    lock = {"docs/locks/alignment/first.txt": write(lock_of(*words))}
    trial_site.write_files(root, lock)


def test_a_language_is_built_too_once_when_it_falls_behind(tmp_path, monkeypatch):
    trial_site.write(tmp_path)
    agree(tmp_path)
    monkeypatch.chdir(tmp_path)
    sites, page = Sites.__new__(Sites), Path("docs/zh/alignment/first.md")
    seen = [sites.sources("en")]
    for words in ("先于写", "早于写", "在写之前"):
        text = page.read_text("utf-8")
        page.write_text(re.sub("估计.*?。", f"估计{words}。", text), "utf-8")
        seen.append(sites.sources("en"))
    assert seen[0] != seen[1] == seen[2] != seen[3] == seen[0]


def test_an_edit_of_any_data_file_is_seen_by_both_languages(tmp_path, monkeypatch):
    trial_site.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    sites = Sites.__new__(Sites)
    for data in (trial_site.ROOT / "docs").glob("*.yml"):
        before = [sites.sources(lang) for lang in ("zh", "en")]
        (tmp_path / "docs" / data.name).write_text("# planted\n")
        seen = [sites.sources(lang) for lang in ("zh", "en")]
        assert all(map(operator.ne, before, seen)), data.name


def test_an_edit_of_the_tools_takes_effect_in_both_languages(live):
    live.edit("site_tools/site/words/en.yml", "  why: why", "  why: how come")
    assert live.shows("/en/alignment/first/", ">how come</a>")
    told = live.read_until("zh: built in") + live.read_until("en: built in")
    assert "not built" not in told


def test_a_fault_is_told_once_and_the_last_good_page_stays(live):
    live.write_home("Good.")
    assert live.shows("/en/", "Good.")
    live.write_home(r"Now $\frac{$.")
    told = live.read_until("KaTeX must be able")
    assert "en: not built, and nothing replaced" in told
    assert "Traceback" not in told
    assert "Good." in live.get("/en/")
    live.write_home("Now mended.")
    assert live.shows("/en/", "Now mended.")


def test_a_page_that_is_not_there_is_answered(live):
    with pytest.raises(urllib.error.HTTPError, match="404") as missing:
        live.get("/nowhere/")
    assert "没有这一页" in missing.value.read().decode()


def test_a_taken_port_ends_in_one_sentence(live):
    second = serve(live.root, live.port)
    told, _ = second.communicate(timeout=PATIENCE)
    another = f"set another one: make serve PORT={live.port + 1}"
    assert told == f"port {live.port} is taken; {another}\n"
    assert second.returncode == 1


def test_what_is_verified_behind_the_server_ends_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(theme_serve, "VERIFY", "echo $$ > pid; exec sleep 600")
    with theme_serve.verifying():
        assert wait(lambda: Path("pid").is_file() and Path("pid").read_text() != "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)
