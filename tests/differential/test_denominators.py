"""What a loss is divided by: TRL's loss types, and the two counts of verl 0.9.1."""

from types import SimpleNamespace

import torch
from torch.testing import assert_close

from ppo_ref.aggregation import sequence_mean_token_mean, token_mean
from tests.differential.batches import gapped_mask, normal, seeds
from tests.differential.others import piece
from tests.differential.peers import NOW
from tests.differential.wheels import requires, source

TRL = "TRL 1.16.0"
pytestmark = requires(TRL, NOW)


def trl_loss(loss_type, losses, mask, *, window=None, steps=1):
    """The loss of a micro-batch; ``window`` is the mask of all of them."""
    scalars = {
        "loss_type": loss_type,
        "current_gradient_accumulation_steps": steps,
        "max_completion_length": 100,
        "args": SimpleNamespace(steps_per_generation=steps),
        "accelerator": SimpleNamespace(num_processes=1),
    }
    count = (mask if window is None else window).sum()
    ran = piece(
        TRL,
        "trl/trainer/grpo_trainer.py",
        'if self.loss_type in ["grpo", "sapo"]:',
        "loss = (per_token_loss * mask).sum() / normalizer",
        self=SimpleNamespace(**scalars),
        mode="train",
        per_token_loss=losses,
        mask=mask,
        inputs={"num_items_in_batch": count},
    )
    return ran.loss


def halves(x):
    return x[: len(x) // 2], x[len(x) // 2 :]


def batch(seed):
    mask = gapped_mask(seed).repeat(2, 1)
    mask[0] = mask[:, 0] = True
    mask[len(mask) // 2 :, 1:] = False  # one half has fewer tokens
    return normal(seed, mask), mask


def accumulated(loss_type, losses, mask):
    parts = zip(halves(losses), halves(mask), strict=True)
    return sum(trl_loss(loss_type, x, m, window=mask, steps=2) for x, m in parts)


@seeds
def test_trls_types_are_our_means_on_one_micro_batch(seed):
    losses, mask = batch(seed)
    assert_close(trl_loss("bnpo", losses, mask), token_mean(losses, mask))
    assert_close(trl_loss("dapo", losses, mask), token_mean(losses, mask))
    by_answer = sequence_mean_token_mean(losses, mask)
    assert_close(trl_loss("grpo", losses, mask), by_answer)


@seeds
def test_over_micro_batches_dapo_is_the_whole_mean_and_bnpo_a_mean_of_means(seed):
    losses, mask = batch(seed)
    assert_close(accumulated("dapo", losses, mask), token_mean(losses, mask))
    parts = zip(halves(losses), halves(mask), strict=True)
    means = sum(token_mean(x, m) for x, m in parts) / 2
    assert_close(accumulated("bnpo", losses, mask), means)
    assert not torch.isclose(means, token_mean(losses, mask))


def test_verl_counts_rejected_tokens_in_one_trainer_and_not_in_the_other():
    asked = torch.tensor([[1, 1, 1, 1]])
    kept = torch.tensor([[1, 0, 0, 1]])

    def counted(data):
        line = 'batch_num_tokens = data["loss_mask"].sum()'
        path = "verl/workers/engine/fsdp/transformer_impl.py"
        given = {"data": data, "get_device_id": lambda: "cpu"}
        return piece(NOW, path, line, line, **given).batch_num_tokens.item()

    # The v1 trainer copies the mask when it samples, and later rejects.
    copy = 'field["loss_mask"] = field["response_mask"]'
    path = "verl/trainer/ppo/v1/agent_loop_tq.py"
    data = piece(NOW, path, copy, copy, field={"response_mask": asked}).field
    data["response_mask"] = kept
    written = source(NOW, "verl/trainer/ppo/v1/trainer_base.py")
    assert 'fields.append("response_mask")' in written
    assert 'fields.append("loss_mask")' not in written
    assert counted(data) == 4

    # The older trainer copies it for each update, after the rejection.
    copy = 'data["loss_mask"] = data["response_mask"]'
    path = "verl/workers/utils/padding.py"
    data = piece(NOW, path, copy, copy, data={"response_mask": kept}).data
    assert counted(data) == 2
