"""The log doctor on the page: pasted, dropped, opened; what it says is ppo_ref's."""

import json
from typing import Any

import pytest

from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.reading import read_log
from ppo_ref.train.stored_runs import stored_run

FINDINGS = """[...document.querySelectorAll(".doctor .finding")].map(finding => [
  finding.querySelector("code").textContent, finding.classList[1], finding.open,
  finding.querySelector("a").hash])"""


def log_of(name: str) -> str:
    return "\n".join(json.dumps(line) for line in stored_run(name).iterations)


@pytest.fixture
def page(tab: Any) -> Any:
    tab.goto("en/debug/symptoms/#doctor")
    tab.wait_for_selector(".doctor textarea")
    return tab


def unusual(text: str) -> list[list[Any]]:
    return [
        [x.key, x.level, x.level == "broken", f"#{x.row}"]
        for x in judge(read_log(text))
        if x.level != "fine"
    ]


@pytest.mark.parametrize("name", ["flipped_sign", "whitened_over_padding"])
def test_a_pasted_log_is_judged_as_by_the_command(page: Any, name: str) -> None:
    page.fill(".doctor textarea", log_of(name))
    page.wait_for_selector(".doctor .finding")
    assert page.evaluate(FINDINGS) == unusual(log_of(name))


def test_what_applies_is_shown_from_the_page_itself(page: Any) -> None:
    page.fill(".doctor textarea", log_of("flipped_sign"))
    shown = page.locator(".doctor .finding[open] blockquote").first
    verdict = page.evaluate(
        "document.querySelector('summary:has(#score) ~ p').textContent"
    )
    assert verdict in shown.text_content()
    twice = "ids => ids.length - new Set(ids).size"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(x => x.id)")
    assert page.evaluate(twice, ids) == 0


def test_a_file_is_read_here_and_nothing_is_sent(page: Any) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.set_input_files(
        ".doctor input[type=file]",
        {
            "name": "train.log",
            "mimeType": "text/plain",
            "buffer": log_of("flipped_sign").encode(),
        },
    )
    page.wait_for_selector(".doctor .finding")
    assert sent == []
    page.locator(".doctor").get_by_role("button", name="Clear").click()
    page.wait_for_selector(".doctor .finding", state="detached")


def test_a_text_without_a_known_figure_is_told_so(page: Any) -> None:
    page.fill(".doctor textarea", "hello")
    page.wait_for_selector(".doctor .results p")
    assert "No figure" in page.text_content(".doctor .results")


def test_the_example_is_a_run_of_a_language_model(page: Any) -> None:
    page.get_by_role("button", name="Show me an example").click()
    page.wait_for_selector(".doctor .finding")
    assert page.evaluate(FINDINGS) == unusual(log_of("smollm2_large_steps"))


def test_a_figure_that_is_never_a_number_is_given_none(page: Any) -> None:
    page.fill(".doctor textarea", "step:1 - actor/grad_norm:nan - actor/entropy:0.5")
    page.wait_for_selector(".doctor .finding")
    said = page.text_content(".doctor .finding > p")
    assert said == "never a finite number in 1 step. this section"
    told = page.text_content(".doctor .results > p")
    assert told.startswith("1 step, 2 figures known. Too few to tell a trend")


def test_of_several_runs_the_one_that_is_chosen_is_judged(page: Any) -> None:
    rows = "".join(f"{i},{0.5 + i / 100},nan\n" for i in range(1, 31))
    table = f"Step,good - actor/entropy,bad - actor/entropy\n{rows}"
    page.fill(".doctor textarea", table)
    page.locator(".doctor").get_by_role("button", name="good").click()
    page.wait_for_selector(".doctor .results > p:has-text('30 steps')")


def test_a_file_of_powershell_is_decoded(page: Any) -> None:
    text = "step:1 - actor/grad_norm:nan - actor/entropy:0.5"
    given = {"name": "a.log", "mimeType": "text/plain", "buffer": text.encode("utf-16")}
    page.set_input_files(".doctor input[type=file]", given)
    page.wait_for_selector(".doctor .finding")


def test_a_megabyte_in_one_word_does_not_freeze_the_page(page: Any) -> None:
    """One long word, and more figures than a function may have arguments."""
    word = "a" * 1_000_000 + " ".join(f"a{i}:1" for i in range(200_000))
    show = """text => {
      const box = document.querySelector(".doctor textarea")
      box.value = text
      box.dispatchEvent(new Event("input"))
    }"""
    page.evaluate(show, f"{word} actor/grad_norm:nan")
    page.wait_for_selector(".doctor .finding", timeout=30_000)
