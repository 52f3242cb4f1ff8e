"""Ctrl-C and kill -9 of `neartie compare` in the midst of its rungs: the same bytes afterwards."""

import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from neartie.data.export import write_responses
from neartie.data.simulate import simulate_leaderboard

RUNGS = ["residual", "residual-bootstrap", "full"]
OPTIONS = ["--draws", "40", "--subtests", "10", "--controls", "20", "--bootstraps", "0", "--k", "1"]
OPTIONS += ["--alpha", "0.5", "--min-family-size", "8", "--offsets", "10", "--tune", "200"]
OPTIONS += ["--thin", "5", "--rungs", ",".join(RUNGS), "--seed", "3"]
# Seconds of rungs, as the report and the table of fits end their rows.
SECONDS = re.compile(rb"(& [0-9.]+ \\\\)|(<td class=\"number\">[0-9.]+(?=</td>\s*</tr>))")

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def interrupts_are_heard():
    """What a shell runs in the background ignores interrupts, and so would all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    made = simulate_leaderboard(
        n_items=100, n_models=64, n_owners=40, families=2, n_dimensions=1, n_sources=2,
        n_unclassified=0, rng=5,
    )  # fmt: skip
    write_responses(made.responses, folder)
    tables = ["--items", str(folder / "items.csv"), "--models", str(folder / "models.csv")]
    responses = str(folder / "responses.csv.gz")
    return [sys.executable, "-m", "neartie", "compare", responses, *tables, *OPTIONS, "--out"]


@pytest.fixture(scope="module")
def whole(command, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    subprocess.run([*command, str(out)], check=True, capture_output=True, timeout=300)
    return contents(out)


def contents(out):
    """Return all files but stored rungs, without seconds."""
    found = {}
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        name = str(path.relative_to(out))
        if path.suffix == ".csv":
            table = pd.read_csv(path)
            found[name] = table.drop(columns="seconds", errors="ignore").to_csv().encode()
        elif not name.startswith("rungs/"):
            found[name] = SECONDS.sub(b"", path.read_bytes())
    return found


def stopped_after(command, out, rung, number):
    """Begin, and send a signal as soon as a rung is kept; return the exit status."""
    process = subprocess.Popen(
        [*command, str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 200
        while not (out / "rungs" / f"{rung}.rung").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(process.pid, number)
        return process.wait(timeout=60)
    finally:
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("rung", ["plug-in", *RUNGS[:-1]])
def test_a_stopped_comparison_goes_on_to_the_same_bytes(command, whole, tmp_path, rung, number):
    out = tmp_path / "here" / "out"
    out.parent.mkdir()
    status = stopped_after(command, out, rung, number)
    expected = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
    assert status == expected[number]
    assert not (out / "ladder.csv").exists()
    again = subprocess.run(
        [*command, str(out)], check=True, capture_output=True, text=True, timeout=300
    )
    assert "going on from there" in again.stderr
    assert contents(out) == whole
    assert not list(out.parent.glob(".neartie.*"))
