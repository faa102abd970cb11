"""What a log asks: questions, requests about format, follow-ups and duplicates."""

import pytest

from site_tools.logs.log import Log, Round
from site_tools.logs.reading import read
from site_tools.logs.sorting import Kind, sort
from site_tools.logs.wording import language, title
from tests.contributing.invented_log import LOG
from tests.site.test_dialogue_log import DIALOGUES


def kinds(*questions: str) -> list[tuple[str, int | None]]:
    rounds = tuple(Round(n, 0, q, "") for n, q in enumerate(questions, 1))
    return [(each.kind.name, each.earlier) for each in sort(Log(("", "", ""), rounds))]


def test_the_invented_log() -> None:
    found = sort(read(LOG.encode(), "log.md"))
    assert [(each.kind.name, each.earlier) for each in found] == [
        ("QUESTION", None),
        ("QUESTION", None),
        ("FOLLOW_UP", 2),
        ("FOLLOW_UP", 3),
        ("DUPLICATE", 1),
        ("FORMAT", None),
    ]
    assert [each.title for each in found[:2]] == [
        "values 为什么要左移一格？",
        "Where do these figures come from?",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "请将本次对话（包括所有提问与回答）写入一个 Markdown 文件，路径为：\nx.md",
        "好的，把以上对话保存成文件。",
        "换成英文",
        "请用中文回答。",
        "识别图中的文字，一比一输出！注意保持格式。",
        "Save this chat in this form:\n```\n### 问题 1\n```",
        "Thanks! Please write the whole conversation into a Markdown file.",
        "Now in Chinese, please",
        "Please translate that into English.",
    ],
)
def test_a_request_about_format(question: str) -> None:
    assert kinds("What is V?", question) == [("QUESTION", None), ("FORMAT", None)]


@pytest.mark.parametrize(
    "question",
    ["好的！给出示例", "举个例子吧", "继续", "我还是没懂。请把我当做12岁小孩进行解释",
     "再详细解释一下", "Sure, give me a concrete example.", "Go on",
     "I still don't get it. Can you explain it again?",
     "那第一个问题里，如果 λ 是 1 呢？", "那如果 KL 已经爆炸了呢？", "为什么会这样？",
     "接着上面那个，能详细说说吗", "能举个例子吗？", "why is that?", "那 critic 呢？",
     "can you give an example?", "But what if the KL explodes?", "谢谢！那为什么呢？"],
)  # fmt: skip
def test_a_follow_up_belongs_to_the_question_before(question: str) -> None:
    assert kinds("V 是什么？", "换成英文", question)[2] == ("FOLLOW_UP", 1)
    assert kinds(question) == [("QUESTION", None)]


@pytest.mark.parametrize(
    "question",
    ["谢谢", "谢谢！", "好的，谢谢你", "Thanks!", "OK. Thank you very much."],
)
def test_thanks_are_no_question(question: str) -> None:
    assert kinds("V 是什么？", question, "继续")[1:] == [
        ("THANKS", None),
        ("FOLLOW_UP", 1),
    ]
    assert kinds(question) == [("THANKS", None)]


@pytest.mark.parametrize(
    "question",
    [
        "那么，在 PPO 算法中，价值网络又是如何学习的呢？",
        "如果 reward 都是正的，value 会越来越小吗？",
        "Why is the KL negative?",
        "为什么会这样裁剪 ratio？",
        "bootstrap 只能辅助看到 δ",
        "为什么要把对话内容写入 replay buffer？",
        "请用中文回答：V 为什么包含 r？",
        "请结合代码举例说明 GAE 的递推。",
        "Give an example of a token whose ratio is clipped.",
        "Explain why values are shifted.",
        "In English textbooks, does V include r?",
        "How do I save the actor's conversation buffer?",
    ],
)
def test_a_question_stays_one(question: str) -> None:
    assert kinds("V 是什么？", question)[1] == ("QUESTION", None)


def test_small_changes_make_no_new_question_and_others_do() -> None:
    first = "为什么 verl 里的 values 要向左移一格？"
    assert kinds(first, "为何 verl 里的 values 要向左移一格？")[1] == ("DUPLICATE", 1)
    assert kinds(first, "为什么 verl 里的 mask 不用再移？")[1] == ("QUESTION", None)
    again = "bootstrap是不是自启动的含义？"
    assert kinds("bootstrap在这里的含义是？", again)[1] == ("QUESTION", None)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("@verl/a.py values 是什么？  ", "values 是什么？"),
        ("verl/trainer/core.py 只需要两个量么？请看代码。", "只需要两个量么？"),
        ("好的！谢谢。V(0) 包含 r(0) 么？", "V(0) 包含 r(0) 么？"),
        ("我很困惑。V 越来越小。我的理解正确么？", "V 越来越小。我的理解正确么？"),
        ("V falls by 0.5. Is that right?", "V falls by 0.5. Is that right?"),
        ("```\nx = 1\n```\nWhy\nis it 1?", "Why is it 1?"),
        ("# 问\n\n- 没有问号", "问 没有问号"),
        ("a\x00b\x85c？", "a b c？"),
    ],
)
def test_the_question_of_a_page(question: str, expected: str) -> None:
    assert title(question) == expected


def test_a_long_question_is_cut_and_code_alone_is_kept() -> None:
    assert title("为什么" * 50 + "？") == ("为什么" * 40)[:119] + "…"
    assert title("```\nx = 1\n```") == "``` x = 1 ```"


def test_the_language_of_a_question() -> None:
    assert language("values 和 rewards 是什么关系？") == "zh"
    assert language("What does 自举 mean in the code of verl and TRL?") == "en"


@pytest.mark.skipif(
    not DIALOGUES.is_dir(), reason="the dialogues lie beside the project, unpublished"
)
def test_what_is_proposed_for_the_five_dialogues() -> None:
    """Of 27 questions 22 keep a draft of their own: 2 are follow-ups, 3 ask to copy."""
    found = {}
    for file in sorted(DIALOGUES.glob("*.txt")):
        for each in sort(read(file.read_bytes(), file.name)):
            found[file.name[:3], each.round.number] = each
    assert len(found) == 27
    special = {at: e for at, e in found.items() if e.kind is not Kind.QUESTION}
    assert {at: (e.kind.name, e.earlier) for at, e in special.items()} == {
        ("000", 2): ("FORMAT", None),
        ("002", 2): ("FORMAT", None),
        ("004", 4): ("FOLLOW_UP", 3),
        ("004", 9): ("FOLLOW_UP", 8),
        ("004", 12): ("FORMAT", None),
    }
