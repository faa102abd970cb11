"""The peers are the pinned files, and reading them leaves no trace."""

import hashlib
from pathlib import Path

import pytest

from tests.differential.control_peers import STABLE, TORCHRL
from tests.differential.others import OPEN, TRL
from tests.differential.peers import RELEASES
from tests.differential.wheels import MISSING, find

PINS = Path(__file__).parents[2] / "pins" / "peers.txt"
LINES = (line for line in PINS.read_text().splitlines() if "--hash" in line)
HASHES = dict(line.split(" --hash=sha256:") for line in LINES)


@pytest.mark.parametrize("pin", HASHES)
def test_a_wheel_is_the_pinned_one(pin):
    wheel = find(pin.replace("==", " "))
    if wheel is None:
        pytest.skip(MISSING)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == HASHES[pin]


def test_every_peer_is_pinned():
    peers = {*RELEASES, OPEN, TRL, TORCHRL, STABLE}
    assert {peer.lower().replace(" ", "==") for peer in peers} <= HASHES.keys()
