"""The tokenizer that belongs to a model in a folder."""

from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

from ppo_ref.pretrained.library import read
from ppo_ref.training.tokenizer import Tokenizer


class PretrainedTokenizer(Tokenizer):
    """A tokenizer of transformers; where it has no padding token, its end fills slots.

    That changes nothing: what stands behind the first end is never read, and prompts
    say by their mask where they begin.

    Args:
        tokenizer: Has an end, and chat template or none.
    """

    def __init__(self, tokenizer: Any) -> None:
        eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        super().__init__(eos, eos if pad is None else pad)
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The ids of a text, with no special token added.

        Args:
            text: Of a response.

        Returns:
            One id per token.

        Raises:
            ValueError: if the tokenizer does not know a part of it.
        """
        return self._known(text, self.tokenizer.encode(text, add_special_tokens=False))

    def encode_prompt(self, text: str) -> list[int]:
        """The ids of a question, in the chat template if the tokenizer has one.

        Args:
            text: What a user asks.

        Returns:
            Up to where the answer begins; without a template, the text behind the
            tokens that the tokenizer puts first, such as a beginning of the text.

        Raises:
            ValueError: if the tokenizer does not know a part of it.
        """
        if self.tokenizer.chat_template:
            asked = [{"role": "user", "content": text}]
            return self.encode(
                self.tokenizer.apply_chat_template(
                    asked, tokenize=False, add_generation_prompt=True
                )
            )
        ids = self._known(text, self.tokenizer.encode(text))
        # Some tokenizers end every text; an answer could not follow.
        return ids[:-1] if ids[-1:] == [self.eos_token_id] else ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text up to the end of the response.

        Args:
            token_ids: What was sampled; nothing after the first end is read.

        Returns:
            Special tokens by their names; ids that only the head knows say nothing.
        """
        read = list(takewhile(lambda token: token != self.eos_token_id, token_ids))
        return self._text(read)

    def shown(self, token_id: int) -> str:
        """A single token as people read it.

        Args:
            token_id: Of any token, those that pad and end included.

        Returns:
            Its text, which for part of a character is U+FFFD.
        """
        return self._text([token_id])

    def _text(self, token_ids: list[int]) -> str:
        return str(self.tokenizer.decode(token_ids, clean_up_tokenization_spaces=False))

    def _known(self, text: str, token_ids: list[int]) -> list[int]:
        unknown = self.tokenizer.unk_token_id
        # GPT-2 calls its end unknown, too, but knows every byte.
        if unknown != self.eos_token_id and unknown in token_ids:
            raise ValueError(
                "encode: text must be made of what the tokenizer knows, got an unknown "
                f"token at {token_ids.index(unknown)} in {text!r}"
            )
        return token_ids


def pretrained_tokenizer(path: str | Path) -> PretrainedTokenizer:
    """The tokenizer in the folder of a model; nothing is fetched.

    Args:
        path: Of a folder with ``config.json`` and ``tokenizer.json``.

    Returns:
        It makes prompts and responses, and reads responses.

    Raises:
        ValueError: if there is no such folder, transformers is missing, the folder
            holds no tokenizer, it has no end, or more tokens than the model.

    Example:
        >>> pretrained_tokenizer("gpt2")
        Traceback (most recent call last):
        ValueError: pretrained_tokenizer: path must be a folder, got 'gpt2'; download \
the model first, since nothing is fetched here
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
