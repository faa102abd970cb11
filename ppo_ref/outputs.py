"""What actor and critic say of a rollout, token by token."""

from ppo_ref.alignment import response_outputs
from ppo_ref.batch import Rollout
from ppo_ref.log_probs import TokenStatistics, log_probs_and_entropy
from ppo_ref.models import Actor, Critic
from ppo_ref.precision import at_least_float32
from ppo_ref.shapes import Tokens


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
    """
    logits = actor(rollout.sequences, rollout.attention_mask)
    responses = rollout.responses
    chosen = response_outputs(logits, responses.shape[1])
    return log_probs_and_entropy(chosen, responses, temperature)


def critic_values(critic: Critic, rollout: Rollout) -> Tokens:
    """The expected return before every token of the responses.

    Args:
        critic: Reads prompt and response.
        rollout: Whose responses are read.

    Returns:
        Reward units, 0 outside the mask; gradient flows.
    """
    outputs = critic(rollout.sequences, rollout.attention_mask)
    return at_least_float32(response_outputs(outputs, rollout.response_mask.shape[1]))
