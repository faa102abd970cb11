"""Everything that keeps a block apart, put on at once."""

import platform
import sys

from site_tools.confinement.calls import NO_NEW_PRIVILEGES, filters_calls, refuse_calls
from site_tools.confinement.files import hold_to, landlock, reach
from site_tools.confinement.guard import Guard
from site_tools.confinement.kernel import accepted, drop_rights, system
from site_tools.confinement.limits import apply_limits


def confine(folder: str, cuda: bool = False) -> None:
    """Let this process, and all it starts, write in one folder alone, for good."""
    within = reach(folder, cuda)
    guard = Guard(within)
    apply_limits(cuda)
    if platform.system() == "Linux":
        drop_rights()
        accepted("no new privileges", system().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    if version := landlock():
        hold_to(within, version)
    if filters_calls():
        refuse_calls(cuda)
    sys.addaudithook(guard)
