"""Text to token ids and back: batches of whatever tokens, and one id per character."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.require import SequenceIds, SequenceMask

PAD_TOKEN_ID = 0
EOS_TOKEN_ID = 1


class Prompts(NamedTuple):
    """Prompts of one width, padded on the left so that all end in the same slot."""

    token_ids: SequenceIds
    attention_mask: SequenceMask
    eos_token_id: int = EOS_TOKEN_ID
    pad_token_id: int = PAD_TOKEN_ID


class Tokenizer(ABC):
    """Text to token ids and back, and texts to batches, for any way of encoding."""

    def __init__(self, eos_token_id: int, pad_token_id: int) -> None:
        self.eos_token_id, self.pad_token_id = eos_token_id, pad_token_id

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a text, without an end."""

    @abstractmethod
    def decode(self, token_ids: Iterable[int]) -> str:
        """The text up to the end of the response."""

    @abstractmethod
    def shown(self, token_id: int) -> str:
        """A single token as people read it."""

    def encode_prompt(self, text: str) -> list[int]:
        """The ids of what a response is to follow."""
        return self.encode(text)

    def prompts(
        self, texts: Sequence[str], device: torch.device | str = "cpu"
    ) -> Prompts:
        """Several prompts as one batch, padded on the left."""
        if not texts or "" in texts:
            raise ValueError(
                "prompts: texts must be at least one, none of them empty, "
                f"got {list(texts)!r}"
            )
        rows = [self.encode_prompt(text) for text in texts]
        ones = [[1] * len(row) for row in rows]
        width = max(map(len, rows))
        token_ids = _padded(rows, width, self.pad_token_id, left=True)
        mask = _padded(ones, width, 0, left=True).bool()
        return Prompts(
            token_ids.to(device),
            mask.to(device),
            eos_token_id=self.eos_token_id,
            pad_token_id=self.pad_token_id,
        )

    def responses(
        self,
        texts: Sequence[str],
        response_length: int,
        device: torch.device | str = "cpu",
    ) -> Tensor:
        """Several responses as one batch, each ended, then padded on the right."""
        if not texts:
            raise ValueError("responses: texts must be at least one, got none")
        rows = [[*self.encode(text), self.eos_token_id] for text in texts]
        for row, text in zip(rows, texts, strict=True):
            if len(row) > response_length:
                raise ValueError(
                    f"responses: a text and its end must fit {response_length} slots, "
                    f"got {len(row)} tokens for {text!r}"
                )
        return _padded(rows, response_length, self.pad_token_id, left=False).to(device)


class CharacterTokenizer(Tokenizer):
    """Every character of a known set is one token; two more pad and end a response."""

    def __init__(self, characters: str) -> None:
        super().__init__(EOS_TOKEN_ID, PAD_TOKEN_ID)
        self.characters = "".join(sorted(set(characters)))
        first = EOS_TOKEN_ID + 1
        self._ids = {c: i for i, c in enumerate(self.characters, start=first)}

    @property
    def vocab(self) -> int:
        """Number of token ids."""
        return len(self.characters) + 2

    def encode(self, text: str) -> list[int]:
        """The ids of a text's characters, without an end."""
        for position, character in enumerate(text):
            if character not in self._ids:
                raise ValueError(
                    f"encode: text must be made of {self.characters!r}, "
                    f"got {character!r} at {position} in {text!r}"
                )
        return [self._ids[character] for character in text]

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text up to the end of the response."""
        characters = []
        for token_id in token_ids:
            if token_id == EOS_TOKEN_ID:
                break
            if not 0 <= token_id < self.vocab:
                raise ValueError(
                    f"decode: token_ids must lie in [0, {self.vocab}), got {token_id}"
                )
            known = token_id > EOS_TOKEN_ID
            characters.append(self.characters[token_id - 2] if known else "\ufffd")
        return "".join(characters)

    def shown(self, token_id: int) -> str:
        """A single token as people read it."""
        marks = {EOS_TOKEN_ID: "<eos>", PAD_TOKEN_ID: "<pad>"}
        return marks.get(token_id) or self.decode([token_id])


def _padded(
    rows: Iterable[list[int]], width: int, pad_token_id: int, left: bool
) -> Tensor:
    padded = []
    for row in rows:
        padding = [pad_token_id] * (width - len(row))
        padded.append(padding + row if left else row + padding)
    return torch.tensor(padded)
