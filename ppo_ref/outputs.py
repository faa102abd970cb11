"""What actor and critic say of a rollout, token by token."""

from ppo_ref.alignment import response_outputs
from ppo_ref.batch import Rollout
from ppo_ref.log_probs import TokenStatistics, log_probs_and_entropy
from ppo_ref.models import Actor, Critic
from ppo_ref.precision import at_least_float32
from ppo_ref.shapes import Tokens, checked


@checked
def actor_statistics(
    actor: Actor, rollout: Rollout, temperature: float = 1.0
) -> TokenStatistics:
    """Log-probability and entropy of every token of the responses, in one pass.

    Args:
        actor: Any of the three policies: in training, as it sampled, the reference.
        rollout: Whose responses are read.
        temperature: Of the sampling; above 0.

    Returns:
        Nats per token; padding is computed like any slot; gradient flows.

    Raises:
        ValueError: if the sequences are longer than the actor's context, a token id is
            outside the vocabulary, or ``temperature`` is not above 0.

    Example:
        >>> from ppo_ref.tiny import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> rollout = next(trainer.train()).experience.rollout
        >>> before = actor_statistics(trainer.models.reference, rollout).log_probs
        >>> difference = before - rollout.rollout_log_probs
        >>> bool(difference[rollout.response_mask].abs().max() < 1e-5)
        True
    """
    logits = actor(rollout.sequences, rollout.attention_mask)
    responses = rollout.responses
    chosen = response_outputs(logits, responses.shape[1])
    return log_probs_and_entropy(chosen, responses, temperature)


@checked
def critic_values(critic: Critic, rollout: Rollout) -> Tokens:
    """The expected return before every token of the responses.

    Args:
        critic: Reads prompt and response.
        rollout: Whose responses are read.

    Returns:
        Reward units; padding is computed like any slot; gradient flows.

    Raises:
        ValueError: if the sequences are longer than the critic's context.

    Example:
        >>> from ppo_ref.tiny import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> experience = next(trainer.train()).experience
        >>> critic_values(trainer.models.critic, experience.rollout).shape
        torch.Size([4, 8])
        >>> experience.values.abs().max()  # before the update: its head began at 0
        tensor(0.)
    """
    outputs = critic(rollout.sequences, rollout.attention_mask)
    return at_least_float32(response_outputs(outputs, rollout.response_mask.shape[1]))
