"""The printed table: its figures, its dashes, its width."""

from hypothesis import given

from ppo_ref.trace import trace
from tests import oracles
from tests.strategies import token_batches


@given(token_batches())
def test_every_row_prints_what_the_oracles_say(batch):
    inputs, mask = (batch.token_level_rewards, batch.values), batch.response_mask
    ends = {"bootstrap_values": batch.bootstrap_values}
    deltas = oracles.over_rows(oracles.td_residuals(0.9), mask, *inputs, **ends)
    advantages = oracles.over_rows(oracles.gae(0.9, 0.8), mask, *inputs, **ends)
    columns = [*inputs, deltas, advantages, advantages + batch.values]
    for row in range(len(mask)):
        printed = trace(**batch._asdict(), gamma=0.9, gae_lambda=0.8, row=row)
        heading, *lines = printed.splitlines()
        assert heading.split() == ["t", "r_t", "V(s_t)", "delta", "A", "R"]
        assert {len(line) for line in printed.splitlines()} == {43}
        assert printed == "\n".join(line.rstrip() for line in printed.splitlines())
        for t, (line, counts) in enumerate(zip(lines, mask[row].tolist(), strict=True)):
            slot, *cells = line.split()
            assert slot == str(t)
            if not counts:
                assert cells == ["-"] * 5
                continue
            for cell, column in zip(cells, columns, strict=True):
                assert abs(float(cell) - column[row, t].item()) <= 0.50001e-4
