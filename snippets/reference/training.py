# --8<-- [start:pretrained]
from ppo_ref.train.networks import (
    actor_statistics,
)
from ppo_ref.train.pretrained import (
    pretrained_actor,
    pretrained_tokenizer,
)
from ppo_ref.train.rollout import (
    sample_responses,
)

actor = pretrained_actor("model")
tokenizer = pretrained_tokenizer("model")
rollout = sample_responses(
    actor,
    tokenizer.prompts(["1+1=", "2+2="]),
    response_length=8,
)
now = actor_statistics(actor, rollout)
print(now.log_probs, now.entropy)
# --8<-- [end:pretrained]
