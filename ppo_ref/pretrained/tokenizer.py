"""The tokenizer that belongs to a model in a folder."""

from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

from ppo_ref.pretrained.library import read
from ppo_ref.training.tokenizer import Tokenizer


def pretrained_tokenizer(path: str | Path) -> "PretrainedTokenizer":
    """The tokenizer in the folder of a model; nothing is fetched.

    It must have an end, and no more tokens than the model; else it is a ValueError.
    """
    name = "pretrained_tokenizer"
    vocab = read(name, path, "a model", "AutoConfig").get_text_config().vocab_size
    tokenizer = read(name, path, "a tokenizer", "AutoTokenizer")
    if tokenizer.eos_token_id is None:
        raise ValueError(
            f"{name}: path must hold a tokenizer with an eos_token, got none in "
            f"{str(path)!r}"
        )
    if (most := max(tokenizer.get_vocab().values())) >= vocab:
        raise ValueError(
            f"{name}: path must hold a tokenizer of the model's {vocab} tokens, got "
            f"token {most} in {str(path)!r}"
        )
    return PretrainedTokenizer(tokenizer)


class PretrainedTokenizer(Tokenizer):
    """A tokenizer of transformers; where it has no padding token, its end fills slots.

    That changes nothing: what stands behind the first end is never read, and prompts
    say by their mask where they begin.
    """

    def __init__(self, tokenizer: Any) -> None:
        eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        super().__init__(eos, eos if pad is None else pad)
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The ids of a response's text, with no special token added."""
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        return self._require_known(text, ids)

    def encode_prompt(self, text: str) -> list[int]:
        """The ids of a question up to where the answer begins.

        They follow the chat template if there is one; if not, the text stands behind
        the tokens that the tokenizer puts first, such as a beginning of the text.
        """
        if self.tokenizer.chat_template:
            chat = [{"role": "user", "content": text}]
            return self.encode(
                self.tokenizer.apply_chat_template(
                    chat, tokenize=False, add_generation_prompt=True
                )
            )
        ids = self._require_known(text, self.tokenizer.encode(text))
        # Some tokenizers end every text; an answer could not follow.
        return ids[:-1] if ids[-1:] == [self.eos_token_id] else ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text up to the first end; ids that only the head knows say nothing."""
        ids = list(takewhile(lambda token: token != self.eos_token_id, token_ids))
        return self._text(ids)

    def shown(self, token_id: int) -> str:
        """A single token, special ones by name, part of a character as U+FFFD."""
        return self._text([token_id])

    def _text(self, token_ids: list[int]) -> str:
        return str(self.tokenizer.decode(token_ids, clean_up_tokenization_spaces=False))

    def _require_known(self, text: str, token_ids: list[int]) -> list[int]:
        unknown = self.tokenizer.unk_token_id
        # GPT-2 calls its end unknown, too, but knows every byte.
        if unknown != self.eos_token_id and unknown in token_ids:
            raise ValueError(
                "encode: text must be made of what the tokenizer knows, got an unknown "
                f"token at {token_ids.index(unknown)} in {text!r}"
            )
        return token_ids
