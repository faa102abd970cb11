"""The copy buttons of the site: their texts run as they are."""

import re
import subprocess
import sys
import tomllib
from typing import Any
from urllib.request import urlopen

import pytest

from site_tools.page.page import read_page
from site_tools.source.blocks import Copy
from tests import fresh_process
from tests.browser.conftest import ROOT

PAGE = "alignment/value_before_token"


@pytest.fixture
def reader(tab):
    """A tab whose clipboard can be read."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return tab


def clicked(tab, button) -> str:
    """The text that one click puts into the clipboard."""
    tab.evaluate("navigator.clipboard.writeText('nothing')")
    button.click()
    tab.wait_for_function(
        "async () => await navigator.clipboard.readText() !== 'nothing'"
    )
    text: str = tab.evaluate("navigator.clipboard.readText()")
    return text


def copies(language: str) -> list[Copy]:
    page = read_page(ROOT, f"docs/{language}/{PAGE}.md")
    return [copy for copy in page.copies if copy.block.has_box]


def boxes(tab: Any, language: str) -> list[Any]:
    tab.goto(f"{'' if language == 'zh' else 'en/'}{PAGE}/")
    tab.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    tab.wait_for_selector(".md-code__nav")
    found: list[Any] = tab.locator(".highlight:has(> pre)").all()
    return found


@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_button_gives_what_runs(reader, language):
    expected = copies(language)
    found = boxes(reader, language)
    assert len(found) == len(expected)
    pressed = 0
    for box, copy in zip(found, expected, strict=True):
        box.scroll_into_view_if_needed()
        button = box.locator("pre .md-code__button[data-md-type=copy]")
        if "language-output" in box.get_attribute("class"):
            assert button.count() == 0
            continue
        button.wait_for()
        assert clicked(reader, button) == copy.text
        pressed += 1
    assert pressed > 5


def test_the_wheel_of_the_site_runs_what_was_copied(reader, tmp_path):
    found, target = boxes(reader, "zh"), tmp_path / "installed"
    command = clicked(reader, reader.locator(".install button"))
    assert command == reader.inner_text(".install code")
    pip, install, address = command.split(" ")
    assert (pip, install) == ("pip", "install")
    assert address.startswith(reader.evaluate("new URL('../..', location).href"))
    assert urlopen(address).status == 200
    fresh_process.install(address, target)
    states, texts = [], []
    for box, copy in zip(found, copies("zh"), strict=True):
        if copy.block.runs:
            button = box.locator("pre .md-code__button[data-md-type=copy]")
            texts.append(clicked(reader, button))
            states.append(copy.states)
    assert len(texts) > 3
    assert fresh_process.run_each(texts, target) == states


def script_and_needs(text: str) -> tuple[str, list[str]]:
    """A copied script without what it says in front of itself, and what it needs."""
    lines = text.split("\n")
    end = lines.index("# ///", 1)
    assert lines[0] == "# /// script"
    told = tomllib.loads("\n".join(line[2:] for line in lines[1:end]))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert told["requires-python"] == project["requires-python"]
    return "\n".join(lines[end + 1 :]), told["dependencies"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_other_button_gives_a_script_that_says_what_it_needs(
    reader, language, tmp_path
):
    wheels = set()
    for box, copy in zip(boxes(reader, language), copies(language), strict=True):
        button = box.locator("button.script")
        imports = re.findall(r"(?m)^\s*(?:import|from) (torch|ppo_ref)\b", copy.text)
        if not (copy.block.runs and imports):
            assert button.count() == 0
            continue
        box.scroll_into_view_if_needed()
        assert button.bounding_box()["height"] >= 24
        script, needs = script_and_needs(clicked(reader, button))
        assert script == copy.text
        for need in needs:
            name, at, address = need.partition(" @ ")
            assert bool(at) == (name == "ppo-ref")
            wheels |= {address} - {""}
        names = {need.partition(" ")[0].replace("-", "_") for need in needs}
        assert names == set(imports)
    (wheel,) = wheels
    fresh_process.install(wheel, tmp_path)
    assert (tmp_path / "ppo_ref").is_dir()


@pytest.mark.parametrize("act", ["hover", "focus", "tap"])
def test_what_the_other_button_does_is_told_to_mouse_keyboard_and_thumb(open_tab, act):
    tab = open_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    box = boxes(tab, "en")[0]
    box.scroll_into_view_if_needed()
    button, code = box.locator("button.script"), box.locator("pre > code")
    getattr(button, act)()
    told = tab.locator(".md-tooltip2", has_text="uv run block.py")
    told.wait_for()
    below = button.bounding_box()["y"] + button.bounding_box()["height"]
    top = float(code.evaluate("code => parseFloat(getComputedStyle(code).paddingTop)"))
    assert code.bounding_box()["y"] + top >= below - 2  # it covers no code


def test_without_scripts_the_link_leads_to_the_wheel(without_scripts):
    without_scripts.goto(f"{PAGE}/")
    without_scripts.click("details:has(.install) > summary")
    assert not without_scripts.is_visible(".install button")
    with without_scripts.expect_download() as download:
        without_scripts.click(".install a")
    assert download.value.suggested_filename.endswith("-py3-none-any.whl")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_comment_has_verdict_block_output_and_address(reader, language):
    name = "on_policy/ratio_of_itself"
    folder = "" if language == "zh" else "en/"
    reader.goto(f"{folder}{name}/")
    text = clicked(reader, reader.locator("button.comment"))
    verdict, code, output, asked, address = re.fullmatch(
        r"(.+)\n\n```python\n(.*)\n```\n\n```text\n(.*)\n```\n\n(.+) (\S+)",
        text,
        re.DOTALL,
    ).groups()
    assert asked == read_page(ROOT, f"docs/{language}/{name}.md").meta["question"]
    shown = reader.inner_text(".answer strong >> nth=0")
    assert "".join(verdict.replace("`", "").split()) == "".join(shown.split())
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip("\n") == output
    short = reader.locator(".cited a")
    assert address == short.evaluate("link => link.href") and "/q/" in address
    reader.goto(address)
    reader.wait_for_url(f"**/{folder}{name}/")


def test_without_scripts_a_short_address_leads_to_its_section(without_scripts):
    without_scripts.goto("en/q/28/")
    without_scripts.wait_for_url("**/en/debug/symptoms/#pg-loss")
