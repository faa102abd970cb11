"""The undecorated kernels compile as one graph, and answer what they answer eagerly."""

import shutil

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.chunked import log_probs_and_entropy_from_hidden_kernel
from ppo_ref.kernels.scan import discounted_residuals
from ppo_ref.log_probs import log_probs_and_entropy_kernel
from ppo_ref.losses import clipped_policy_losses, clipped_value_losses
from tests.strategies import numbers

pytestmark = [
    pytest.mark.slow,
    # torch's own: it makes one of each autograd function that it compiles.
    pytest.mark.filterwarnings("ignore:.*should not be instantiated"),
]
X, Y, Z = numbers(0, 3, 2, 5)
MASK = torch.tensor([[True, False, True, True, False], [True] * 5])
IDS = torch.tensor([[0, 1], [2, 0]])
KERNELS = {
    discounted_residuals: (X, Y, MASK, Z[:, 0], 0.9, 0.8),
    clipped_policy_losses: (X, Y, 0.2, 0.3, 3.0),
    clipped_value_losses: (X, Y, Z, 0.5),
    log_probs_and_entropy_kernel: (numbers(1, 2, 2, 3), IDS, 0.7),
    log_probs_and_entropy_from_hidden_kernel: (
        *(numbers(2, 2, 2, 4), numbers(3, 3, 4), numbers(4, 3)),
        *(IDS, 0.7, 3),
    ),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # inductor's own
@pytest.mark.skipif(
    not shutil.which("c++"), reason="torch.compile needs a C++ compiler"
)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_kernel_compiles(kernel):
    compiled = torch.compile(kernel, fullgraph=True)
    assert_close(compiled(*KERNELS[kernel]), kernel(*KERNELS[kernel]))
