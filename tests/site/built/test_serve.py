"""The live site: both languages, an edit shows, a fault does not end it."""

import http.client
import os
import re
import signal
import socket
import socketserver
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from site_tools.build import serve as theme_serve
from site_tools.build.builder import Answer, Builder, prepare
from site_tools.build.serve import CONFIGS, Sites
from site_tools.page.twins import with_both_agreed
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
        self.first = self.get("/")
        self.told += self.read_until("en: built in")

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

    def settle(self) -> str:
        """Edit home, and read what is said until English is built with that."""
        self.write_home(f"Settled {time.monotonic_ns()}.")
        said = self.read_until("en: docs/en/index.md shown")
        return said + self.read_until("en: built in")

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


def test_both_languages_answer_at_one_address(live):
    assert "首页" in live.first, "before English is built"
    assert re.search(r"zh: building .*  50 %\n.*zh: built in", live.told, re.DOTALL)
    assert "Home" in live.get("/en/")
    assert live.get("/en").splitlines()[0].endswith("/en/")


@pytest.mark.slow
def test_an_edit_of_a_page_shows_at_once_and_only_its_language_is_built(live):
    live.settle()
    live.write_home("Still none.")
    assert "building" not in live.read_until("en: docs/en/index.md shown")
    assert live.shows("/en/", "Still none.")
    told = live.read_until("built in")
    assert "en: building" in told and "zh:" not in told


@pytest.mark.slow
def test_the_other_language_follows_once_when_it_falls_behind(live):
    pages = [live.root / f"docs/{lang}/alignment/first.md" for lang in ("zh", "en")]
    zh, en = (page.read_text("utf-8") for page in pages)
    agreed = with_both_agreed({"zh": zh, "en": en}, "alignment/first")
    pages[0].write_text(agreed["zh"], "utf-8")
    pages[1].write_text(agreed["en"], "utf-8")
    live.read_until("zh: built in")
    live.read_until("en: built in")
    page, notice = "docs/zh/alignment/first.md", "The Chinese version is newer"
    assert notice not in live.get("/en/alignment/first/")
    live.edit(page, "优势估计在写之前", "优势估计先于写")
    assert f"zh: {page} shown" in live.read_until(f"en: {page} shown")
    assert live.shows("/en/alignment/first/", notice)
    live.edit(page, "优势估计先于写", "优势估计早于写")
    told = live.read_until("built in") + live.read_until("built in")
    assert "zh: built" in told and "en: built" in told
    assert f"zh: {page} shown" in told and f"en: {page}" not in told
    live.edit(page, "优势估计早于写", "优势估计在写之前")
    live.read_until(f"en: {page} shown")
    assert notice not in live.get("/en/alignment/first/")


def test_what_is_shown_at_once_and_what_takes_a_build(tmp_path, monkeypatch):
    trial_site.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    page, picture = "docs/en/alignment/first.md", "snippets/alignment/first.svg"
    data = [f"docs/{path.name}" for path in (trial_site.ROOT / "docs").glob("*.yml")]
    sites = Sites(tmp_path / "live")
    others = [
        "docs/en/new.md",
        "docs/facts/new.yml",
        "site_tools/messages.py",
        "mkdocs.yml",
    ]
    for name in [page, picture, *data, *others]:
        trial_site.write_files(tmp_path, {name: "# planted\n"})
        edit = name in (page, picture)
        assert sites.look() == (([name], set()) if edit else ([], {name}))
    (tmp_path / page).unlink()
    assert sites.look() == ([], {page})


@pytest.mark.slow
@pytest.mark.parametrize("lang", CONFIGS)
def test_a_page_is_rendered_alone_as_in_a_whole_build(lang, tmp_path, monkeypatch):
    trial_site.write_whole(tmp_path)
    monkeypatch.chdir(tmp_path)
    prepare()
    site = tmp_path / "built"
    builder = Builder(lang, CONFIGS[lang], site)
    assert builder.answer() == Answer("built")
    for page in Path("docs", lang).rglob("[!.]*.md"):
        assert builder.ask(str(page)) == Answer("same")
        page.write_text(page.read_text("utf-8") + "\n", "utf-8")
        built = {file: file.read_bytes() for file in site.rglob("*.html")}
        notebook = "notebooks" in page.parts
        assert builder.ask(str(page)) == Answer("whole" if notebook else "shown"), page
        made = {file: file.read_bytes() for file in site.rglob("*.html")}
        assert made == built, page
    builder.end()


@pytest.mark.slow
def test_what_an_edit_adds_is_as_in_the_whole_build_that_follows(live):
    code = '\n\n``` { .python .norun data-reason="shown" }\nassert 1\n```\n'
    page = live.root / "docs/en/alignment/first.md"
    page.write_text(page.read_text("utf-8") + r"$\aleph$" + code, "utf-8")
    served = live.root / ".cache/serve" / str(live.port) / "en"
    files = ("alignment/first/index.html", "assets/katex/katex.css")
    live.read_until("en: docs/en/alignment/first.md shown")
    shown = [(served / file).read_text("utf-8") for file in files]
    live.read_until("en: built in")
    assert [(served / file).read_text("utf-8") for file in files] == shown
    assert "ℵ" in shown[0] and '<span class="k">assert</span>' in shown[0]


@pytest.mark.slow
def test_a_new_title_reaches_the_navigation(live):
    live.settle()
    name = f"Title {time.monotonic_ns()}?"
    page = live.root / "docs/en/alignment/first.md"
    text = re.sub("question: .*", f"question: {name}", page.read_text("utf-8"))
    page.write_text(text, "utf-8")
    assert "en: docs" not in live.read_until("en: built in")
    assert name in live.get("/en/")


@pytest.mark.slow
def test_an_edit_while_a_build_runs_is_shown_and_built_afterwards(live):
    live.settle()
    live.write_home("One.")
    live.read_until("en: building")
    live.write_home("Two.")
    live.read_until("en: docs/en/index.md shown")
    assert live.shows("/en/", "Two.")
    told = live.read_until("en: built in")
    assert "en: ended, to be built again" in told and told.count("building") == 1
    assert "Two." in live.get("/en/")


@pytest.mark.slow
def test_a_builder_that_ends_is_told_and_replaced(live):
    live.settle()
    os.kill(live.processes()[-1], signal.SIGKILL)
    assert "its process ended (-9), building anew" in live.read_until("built in")
    live.settle()


@pytest.mark.slow
def test_nothing_outlives_a_server_that_builds(tmp_path):
    trial_site.write(tmp_path)
    live = Live.__new__(Live)
    live.process = serve(tmp_path, free_port())
    live.read_until(" 10 %")
    beside = live.processes()
    live.process.send_signal(signal.SIGINT)
    told, _ = live.process.communicate(timeout=PATIENCE)
    assert "Traceback" not in told and live.process.returncode == 0
    assert len(beside) > 2 and wait(lambda: not any(map(alive, beside)))


def test_an_edit_of_the_tools_takes_effect_in_both_languages(live):
    live.edit("site_tools/compile/words/en.yml", "  why: why", "  why: how come")
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


@pytest.fixture
def server(tmp_path) -> Iterator[theme_serve.Server]:
    """A server over a folder with one page."""
    (tmp_path / "index.html").write_text("a draft")
    server = theme_serve.Server(lambda: False, "127.0.0.1", 0, str(tmp_path))
    server.server_bind()
    server.server_activate()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    socketserver.BaseServer.shutdown(server)
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


def test_another_sites_name_for_this_address_gets_no_page(server):
    """As a rebinding of DNS sends it, after which that site could read drafts."""
    port = server.server_port
    for host in ("127.0.0.1", f"localhost:{port}", "LOCALHOST:9000", f"[::1]:{port}"):
        assert answered(port, host)[1].startswith("a draft"), host
    for hosts in (
        *(["evil.example"], [f"evil.example:{port}"], ["127.0.0.1.evil.example"]),
        *([f"127.0.0.1:{port}@evil.example"], [f"x@127.0.0.1:{port}"], ["localhost:"]),
        *([], [""], ["localhost", "evil.example"], ["evil.example", "localhost"]),
    ):
        code, told = answered(port, *hosts)
        assert (code, told.count("\n")) == (421, 1), hosts
        assert told.startswith("Host must be localhost, 127.0.0.1 or [::1], got '")
        assert "draft" not in told


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
