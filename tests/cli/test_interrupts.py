"""Ctrl-C, SIGTERM and kill -9 in the midst of a command."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

COMMAND = [sys.executable, "-m", "neartie"]

LOST = """
import os, signal, sys, time, weakref
from neartie.cli.interrupts import hear_signals

class Thing: pass

hear_signals()
thing = Thing()
# the handler runs in the callback, whose exceptions Python prints and forgets
watch = weakref.ref(thing, lambda _: os.kill(os.getpid(), getattr(signal, sys.argv[1])))
del thing
print("went on", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def interrupts_are_heard():
    """What a shell runs in the background ignores interrupts, and so would all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("name", "status"), [("SIGINT", -signal.SIGINT), ("SIGTERM", 143)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_that_python_forgets_arrives_after_all(name, status):
    done = subprocess.run(
        [sys.executable, "-c", LOST, name], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == status
    assert "went on" in done.stdout
    assert "Exception ignored" not in done.stderr


def start(battles, out):
    """Begin a fit that takes minutes, and return once it is at work."""
    options = ["--draws", "200000", "--cores", "1", "--out", str(out)]
    process = subprocess.Popen(
        [*COMMAND, "fit", "bradley-terry", str(battles), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(out.parent.glob(".neartie.*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    return process


def test_a_fit_that_is_stopped_leaves_nothing_and_runs_again(tmp_path):
    battles, out = tmp_path / "battles.csv", tmp_path / "here" / "out"
    out.parent.mkdir()
    battles.write_text("model_a,model_b,win_a,win_b\nmoss,fern,9,4\nfern,reed,5,5\n")
    process = start(battles, out)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert (process.returncode, shown, said) == (130, "", "interrupted\n")
    assert os.listdir(out.parent) == []
    # nobody can clear away after this one but the next run
    process = start(battles, out)
    process.kill()
    process.communicate(timeout=60)
    assert not out.exists()
    (left,) = out.parent.iterdir()
    assert left.name.startswith(".neartie.")
    again = ["fit", "bradley-terry", str(battles), "--engine", "newton", "--out", str(out)]
    subprocess.run([*COMMAND, *again], capture_output=True, check=True)
    assert [place.name for place in out.parent.iterdir()] == ["out"]
    assert len(pd.read_csv(out / "models.csv")) == 3
