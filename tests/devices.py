"""The device that pages run on: is it there, and what is it called?"""

from site_tools.run.execution import CPU, device_type


def refuse(device: str) -> str | None:
    """Why nothing can run on a device, in one sentence; None if it can."""
    import torch  # only here: who runs pages on the CPU need not wait for it

    if device_type(device) not in (CPU, "cuda"):
        return f"a device must be cpu, cuda, or one GPU as in cuda:1, got {device}"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        found = f"torch {torch.__version__} finds {torch.cuda.device_count()}"
        return f"{device} must be a GPU that PyTorch can use, {found}"
    return None


def device_name(device: str) -> str:
    """What readers are told of a GPU."""
    import torch

    return torch.cuda.get_device_name(device)
