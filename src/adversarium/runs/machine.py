"""Describe the machine on which results are computed: processor, cores, device, versions."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from adversarium.plans.wording import counted


@cache
def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.lower().startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@cache
def _revision() -> str:
    """Return the git commit of the source tree; empty if it is not a git checkout."""
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def require_device(device: str) -> str:
    """Return the device if torch has it, else raise an error that says why not."""
    import torch

    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
        raise ValueError(f"the device must be cpu, cuda or cuda:N, got {device!r}.")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"the device {device} is not available: torch finds "
            f"{counted(torch.cuda.device_count(), 'GPU')}; use cpu."
        )
    return device


def machine(device: str = "cpu") -> dict[str, object]:
    """Return {cpu, cores, device, torch, python} and the version and revision of adversarium."""
    import torch

    named = torch.cuda.get_device_name() if device.startswith("cuda") else "cpu"
    try:
        release = version("adversarium")
    except PackageNotFoundError:  # run from a source tree that is not installed
        release = "source"
    return {
        "revision": _revision(),
        "cpu": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "device": named,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "adversarium": release,
    }
