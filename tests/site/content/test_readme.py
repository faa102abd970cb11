"""Both READMEs count what is there."""

import re

import pytest
from PIL import Image

from site_tools.data.dialogues import read_dialogues
from site_tools.data.frameworks import comparison
from site_tools.data.topics import read_topics
from tests.browser import picture
from tests.layout import ROOT

pytestmark = pytest.mark.pages

FILES = {"en": "README.md", "zh": "README.zh.md"}
COUNTED = {
    "dialogues": {"en": "{} Chinese dialogues", "zh": "{}段中文对话"},
    "questions": {"en": "ask {} questions", "zh": "{} 个问题，"},
    "answers": {"en": "each of the {} questions", "zh": "{} 个问题各有一页回答"},
    "topics": {"en": "in {} topics", "zh": "{}个主题"},
    "releases": {"en": "where {} releases differ", "zh": "{}个发布版的异同"},
}
WORDS = {
    "en": re.findall(
        r"\w+",
        "zero one two three four five six seven eight nine ten eleven twelve",
    ),
    "zh": [*"零一二三四五六七八九十", "十一", "十二"],
}


def counts() -> dict[str, int]:
    dialogues = read_dialogues(ROOT)
    questions = sum(len(dialogue.questions) for dialogue in dialogues)
    return {
        "dialogues": len(dialogues),
        "questions": questions,
        "answers": questions,
        "topics": len(read_topics(ROOT).keys() - {"contribute"}),
        "releases": len(comparison(ROOT)[0].releases),
    }


@pytest.mark.parametrize("language", FILES)
def test_a_readme_counts_what_is_there(language):
    text = " ".join((ROOT / FILES[language]).read_text("utf-8").split())
    for name, count in counts().items():
        words = WORDS[language]
        said = words[count] if count < len(words) else str(count)
        counted = COUNTED[name][language].format(said)
        assert counted.casefold() in text.casefold(), counted


@pytest.mark.parametrize("language", FILES)
def test_a_readme_shows_a_page_as_the_command_takes_it(language):
    text = (ROOT / FILES[language]).read_text("utf-8")
    file = picture.file_of(language)
    shown = re.findall(r'<img src="(.+)" width="\d+" alt="[^"]{40,}">', text)
    assert shown == [file.relative_to(ROOT).as_posix()]
    assert file.stat().st_size < 120_000
    with Image.open(file) as image:
        assert image.width == picture.WIDTH * picture.SHARPER
