"""Prompts and responses by the tokenizer that belongs to the model."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from ppo_ref.train.pretrained import PretrainedTokenizer, pretrained_tokenizer
from ppo_ref.train.reward import rule
from ppo_ref.train.rollout import as_rollout
from ppo_ref.train.tasks import Question
from tests.pretrained.folders import (
    EOS,
    IDS,
    PAD,
    VOCAB,
    pretrained,
    tokenizer,
    vocabulary,
)

pytestmark = pretrained
TEMPLATE = (
    "{% for m in messages %}add {{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}={% endif %}"
)


def ids(text: str) -> list[int]:
    known = vocabulary()
    return [known[character] for character in text]


def test_prompts_and_responses_are_those_of_its_own_ids(folder):
    ours = pretrained_tokenizer(folder)
    prompts = ours.prompts(["请算1+1", "1="])
    assert prompts.token_ids.tolist() == [ids("请算1+1"), [IDS[PAD]] * 3 + ids("1=")]
    assert prompts.attention_mask.tolist() == [[True] * 5, [False] * 3 + [True] * 2]
    assert prompts[2:] == (IDS[EOS], IDS[PAD])
    assert ours.decode([*ids("1+1"), IDS[EOS], *ids("2")]) == "1+1"
    assert [ours.shown(i) for i in (IDS[EOS], *ids("2"))] == [EOS, "2"]
    answers = ours.responses(["1+1=2", "2"], 7)
    wanted = [[*ids("1+1=2"), IDS[EOS], IDS[PAD]], [*ids("2"), IDS[EOS]]]
    assert answers.tolist() == [wanted[0], wanted[1] + [IDS[PAD]] * 5]
    scores = rule(ours)(
        [Question("", "1+1=2")] * 2, as_rollout(prompts, answers, torch.zeros(2, 7))
    )
    assert scores.tolist() == [1, 0]


@pytest.mark.parametrize("pad", [{}, {"pad_token": EOS}])
def test_without_padding_an_end_fills_slots(pad):
    ours = PretrainedTokenizer(tokenizer(eos_token=EOS, **pad))
    prompts = ours.prompts(["1+1", "1"])
    assert prompts.token_ids.tolist() == [ids("1+1"), [IDS[EOS]] * 2 + ids("1")]
    rollout = as_rollout(prompts, ours.responses(["2", "2+2"], 4), torch.zeros(2, 4))
    assert rollout.response_mask.tolist() == [[True] * 2 + [False] * 2, [True] * 4]
    assert rollout.attention_mask[:, :3].tolist() == prompts.attention_mask.tolist()
    assert rollout.truncated.tolist() == [False, False]


def test_a_beginning_is_put_before_prompts_alone_and_no_end_behind():
    from tokenizers.processors import TemplateProcessing

    theirs = tokenizer(eos_token=EOS, bos_token="=")
    special = [("=", ids("=")[0]), (EOS, IDS[EOS])]
    for form in ("= $0", f"= $0 {EOS}"):
        theirs.backend_tokenizer.post_processor = TemplateProcessing(
            single=form, special_tokens=special
        )
        ours = PretrainedTokenizer(theirs)
        assert ours.encode_prompt("1+1") == ids("=1+1")
        assert ours.encode("1+1") == ids("1+1")


def test_a_chat_template_is_used():
    theirs = tokenizer(eos_token=EOS)
    theirs.chat_template = TEMPLATE
    ours = PretrainedTokenizer(theirs)
    assert ours.prompts(["1+1"]).token_ids.tolist() == [ids("add 1+1=")]
    assert ours.encode("1+1") == ids("1+1")


def test_a_question_stands_in_its_template_and_a_text_ends_the_answer():
    theirs = tokenizer(eos_token=EOS)
    theirs.chat_template = TEMPLATE
    ours = PretrainedTokenizer(theirs, "2+2=4?{prompt}=", chat=False, stop="？")
    prompts = ours.prompts(["1+1"])
    assert prompts.token_ids.tolist() == [ids("2+2=4?1+1=")]
    assert prompts.eos_token_id == ids("？")[0]
    assert ours.decode(ids("2？3")) == "2"
    with_chat = PretrainedTokenizer(theirs, "2+2=4?{prompt}=")
    assert with_chat.encode_prompt("1+1") == ids("add 2+2=4?1+1==")


def test_a_template_without_its_place_and_a_stop_of_two_tokens_are_refused(folder):
    with pytest.raises(ValueError, match=r"must hold {prompt}, got '2='$"):
        pretrained_tokenizer(folder, template="2=")
    with pytest.raises(ValueError, match=r"text of one token, got 2 for '=='$"):
        pretrained_tokenizer(folder, stop="==")


def test_what_it_does_not_know(folder):
    ours = pretrained_tokenizer(folder)
    text = "encode: text must be made of what the tokenizer knows, got an unknown "
    for encode in (ours.encode, ours.encode_prompt):
        with pytest.raises(ValueError, match=f"^{text}token at 2 in '1\\+♞'$"):
            encode("1+♞")
    with pytest.raises(ValueError, match="must fit 3 slots, got 4 tokens for '1\\+1'"):
        ours.responses(["1+1"], 3)
    for texts in ([], ["1", ""]):
        with pytest.raises(ValueError, match=r"^prompts: texts must be at least one"):
            ours.prompts(texts)


def config(folder: Path, **values: Any) -> None:
    given = {"model_type": "llama", "vocab_size": VOCAB} | values
    (folder / "config.json").write_text(json.dumps(given))


def test_folders_that_are_refused(tmp_path):
    def refused(text: str) -> None:
        text = re.escape(f"pretrained: {tmp_path} must hold {text}")
        with pytest.raises(ValueError, match=f"^{text}"):
            pretrained_tokenizer(tmp_path)

    config(tmp_path)
    refused("what AutoTokenizer reads, got ")
    tokenizer(pad_token=PAD).save_pretrained(tmp_path)
    refused("a tokenizer with an eos_token, got none")
    tokenizer().save_pretrained(tmp_path)
    config(tmp_path, vocab_size=VOCAB - 1)
    refused(f"a tokenizer of the model's {VOCAB - 1} tokens, got token {VOCAB - 1}")
    config(tmp_path, vocab_size=VOCAB + 64)  # a head is often made wider
    assert pretrained_tokenizer(tmp_path).eos_token_id == IDS[EOS]
