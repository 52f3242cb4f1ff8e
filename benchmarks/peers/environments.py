"""An environment of its own for every peer, in a cache folder outside the repository."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: What is installed for each program; neartie runs where this script does.
PACKAGES: dict[str, str] = {
    "mirt": "mirt==1.2.0",
    "py-irt": "py-irt==0.7.1",
    "girth": "girth==0.8.0",
    "torch_measure": "torch-measure==0.1.0",
    "choix": "choix==0.4.1",
    "evalica": "evalica==0.4.2",
    "arenakit": "arenakit==0.1.1",
    "arena-rank": "arena-rank==0.1.1",
    "scikit-learn": "scikit-learn==1.9.1",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Where a program runs, or why it cannot."""

    python: Path
    failure: str = ""


def environment(program: str, folder: Path) -> Environment:
    """Return the environment of a program, which is made if it is not there yet."""
    if program not in PACKAGES:
        return Environment(python=Path(sys.executable))
    version = "".join(map(str, sys.version_info[:2]))
    home = folder / f"{PACKAGES[program].replace('==', '-')}-py{version}"
    python, done = home / "bin" / "python", home / "installed"
    if done.exists():
        return Environment(python=python)
    print(f"installing {PACKAGES[program]}", flush=True)
    for command in (
        ["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(home)],
        [
            "uv",
            "pip",
            "install",
            "--quiet",
            "--compile-bytecode",
            "--python",
            str(python),
            PACKAGES[program],
        ],
    ):
        try:
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=900, check=False
            )
        except FileNotFoundError:
            return Environment(python=python, failure="not installed: there is no uv")
        except subprocess.TimeoutExpired:
            return Environment(python=python, failure="not installed within 15 minutes")
        if ended.returncode:
            return Environment(python=python, failure=f"not installed: {last_line(ended.stderr)}")
    done.write_text(PACKAGES[program])
    return Environment(python=python)


def last_line(text: str) -> str:
    """Return the last line that says something, short enough for a table."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "no message")[:160].replace("|", "/")
