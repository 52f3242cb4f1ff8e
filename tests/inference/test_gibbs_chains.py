"""Chains of a Gibbs sampler: the same draws whatever the threads, looks and interruptions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytest

from neartie.data.errors import ConvergenceError, DataError
from neartie.inference import gibbs_chains
from neartie.inference.free_values import FreeValues, free_values
from neartie.inference.gibbs_chains import Checkpoint, Length, sample_gibbs
from neartie.inference.gibbs_protocol import State

RHO = 0.6


class Pair:
    """The exact Gibbs sampler of two correlated normals, with a log scale of its own."""

    names = ("x", "y")

    def __init__(self, *, breaks_at: int | None = None, interrupts_at: int | None = None) -> None:
        self.breaks_at, self.interrupts_at = breaks_at, interrupts_at

    def start(self, rng: np.random.Generator) -> State:
        return {"x": rng.standard_normal(2) * 3, "y": np.asarray(0.0), "_sweeps": np.asarray(0.0)}

    def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
        state["_sweeps"] += 1
        if self.breaks_at == state["_sweeps"]:
            raise ValueError("broken on purpose")
        if self.interrupts_at == state["_sweeps"]:
            raise KeyboardInterrupt
        x, width = state["x"], np.sqrt(1 - RHO**2)
        x[0] = RHO * x[1] + width * rng.standard_normal()
        x[1] = RHO * x[0] + width * rng.standard_normal()
        state["y"][...] = rng.standard_normal()

    def counts(self, state: State) -> Mapping[str, float]:
        return {"all_sweeps": float(state["_sweeps"])}


@pytest.fixture(scope="module")
def layout() -> FreeValues:
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        y = pm.Normal("y")
        pm.Deterministic("total", x.sum() + y)
    return free_values(model)


def draw(layout: FreeValues, sampler: Any = None, **changes: Any) -> Any:
    asked: dict[str, Any] = {"length": Length(draws=40, tune=7, thin=3), "chains": 3, "cores": 2}
    return sample_gibbs(sampler or Pair(), layout, **{**asked, **changes}, seed=changes.pop("s", 5))


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sweep reports and writes, as only long runs do."""
    monkeypatch.setattr(gibbs_chains, "_BLOCK_SECONDS", 0.0)
    monkeypatch.setattr(gibbs_chains, "_REPORT_SECONDS", -1.0)
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SHARE", 1e9)


def test_draws_are_those_of_a_plain_loop(layout: FreeValues) -> None:
    found = draw(layout)
    for number, part in enumerate(np.random.SeedSequence(5).spawn(3)):
        rng, sampler, kept = np.random.default_rng(part), Pair(), []
        state = sampler.start(rng)
        for sweep in range(1, 7 + 40 * 3 + 1):
            sampler.sweep(state, rng, tuning=sweep <= 7)
            if sweep > 7 and (sweep - 7) % 3 == 0:
                kept.append([*state["x"], float(state["y"])])
        np.testing.assert_array_equal(found.points[number], kept)
    assert found.stats["sweep"][0].tolist() == [7 + 3 * n for n in range(1, 41)]
    assert found.facts == {"sweeps": 127, "thin": 3, "all_sweeps": 127.0}


def test_cores_change_nothing(layout: FreeValues) -> None:
    np.testing.assert_array_equal(draw(layout, cores=1).points, draw(layout, cores=3).points)


def test_tuning_ends_where_it_is_to_end(layout: FreeValues) -> None:
    seen = []

    class Watching(Pair):
        def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
            super().sweep(state, rng, tuning=tuning)
            seen.append(tuning)

    draw(layout, Watching(), chains=1)
    assert seen == [True] * 7 + [False] * 120


ADAPTIVE = Length(draws=64, tune=5, min_ess=60)


def test_an_adaptive_run_ends_at_the_first_look_that_suffices(layout: FreeValues) -> None:
    found = draw(layout, length=ADAPTIVE, watch=("x", "y", "total"))
    kept, thin = found.points.shape[1], found.facts["thin"]
    assert kept in (32, 48, 64)
    assert found.facts["sweeps"] == 5 + kept * thin
    from neartie.inference.gibbs_watch import reached, watched_values

    assert reached(watched_values(layout, ("x", "y", "total"), found.points)).meets(60)
    plain = draw(layout, length=Length(draws=kept, tune=5, thin=thin))
    np.testing.assert_array_equal(found.points, plain.points)


def test_an_adaptive_run_asks_for_more_where_more_is_needed(layout: FreeValues) -> None:
    few = draw(layout, length=ADAPTIVE).facts["sweeps"]
    many = draw(layout, length=Length(draws=64, tune=5, min_ess=96)).facts["sweeps"]
    assert few <= many
    assert many > 5 + 32


@pytest.mark.usefixtures("short_blocks")
def test_reports_and_blocks_change_nothing(layout: FreeValues) -> None:
    told: list[tuple[str, float]] = []
    names = ("total",)
    found = draw(layout, length=ADAPTIVE, watch=names, progress=lambda *said: told.append(said))
    assert told[0][0] == "tuning"
    assert any("ESS" in step and "R-hat" in step for step, _ in told)
    assert all(0 <= share <= 1 for _, share in told)
    assert told[-1] == ("sampling", 1.0)
    np.testing.assert_array_equal(found.points, draw(layout, length=ADAPTIVE, watch=names).points)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("length", [Length(draws=40, tune=7, thin=3), ADAPTIVE])
@pytest.mark.parametrize("stopped_at", [3, 9, 30, 70])
def test_an_interrupted_run_goes_on_to_the_same_draws(
    layout: FreeValues, tmp_path: Path, length: Length, stopped_at: int
) -> None:
    whole = draw(layout, length=length)
    if whole.facts["sweeps"] <= stopped_at:
        pytest.fail("the interruption comes after the end: choose another seed")
    place = Checkpoint(path=tmp_path / "run.npz", signature={"data": "a"})
    with pytest.raises(KeyboardInterrupt):
        draw(layout, Pair(interrupts_at=stopped_at), length=length, checkpoint=place)
    assert (tmp_path / "run.npz").exists()
    again = draw(layout, length=length, checkpoint=place)
    np.testing.assert_array_equal(again.points, whole.points)
    assert again.facts == whole.facts
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("short_blocks")
def test_an_error_in_one_chain_is_raised_and_leaves_the_last_checkpoint(
    layout: FreeValues, tmp_path: Path
) -> None:
    place = Checkpoint(path=tmp_path / "run.npz")
    with pytest.raises(ValueError, match="broken on purpose"):
        draw(layout, Pair(breaks_at=20), checkpoint=place)
    again = draw(layout, checkpoint=place)
    np.testing.assert_array_equal(again.points, draw(layout).points)


def test_a_value_that_is_no_number_ends_the_run(layout: FreeValues) -> None:
    class Losing(Pair):
        def sweep(self, state: State, rng: np.random.Generator, *, tuning: bool) -> None:
            super().sweep(state, rng, tuning=tuning)
            if state["_sweeps"] == 12:
                state["y"][...] = np.nan

    with pytest.raises(ConvergenceError, match="no number for y after sweep 12"):
        draw(layout, Losing())


@pytest.fixture
def stored(layout: FreeValues, tmp_path: Path, short_blocks: None) -> Checkpoint:
    place = Checkpoint(path=tmp_path / "run.npz", signature={"data": "a"})
    with pytest.raises(KeyboardInterrupt):
        draw(layout, Pair(interrupts_at=30), checkpoint=place)
    return place


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_a_cut_checkpoint_is_refused(layout: FreeValues, stored: Checkpoint, share: float) -> None:
    path = Path(stored.path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=r"run\.npz is damaged.*delete it to start anew"):
        draw(layout, checkpoint=stored)


def test_a_flipped_byte_anywhere_is_refused(layout: FreeValues, stored: Checkpoint) -> None:
    path = Path(stored.path)
    content, whole = path.read_bytes(), draw(layout)
    refused = 0
    for place in range(0, len(content), 97):
        changed = bytearray(content)
        changed[place] ^= 0x10
        path.write_bytes(bytes(changed))
        try:
            found = draw(layout, checkpoint=stored)
        except DataError:
            refused += 1
        else:
            np.testing.assert_array_equal(found.points, whole.points)
    assert refused == len(range(0, len(content), 97))


def test_a_checkpoint_of_another_run_is_refused(layout: FreeValues, stored: Checkpoint) -> None:
    other = Checkpoint(path=stored.path, signature={"data": "b"})
    with pytest.raises(DataError, match="belongs to another run, which differs in: data;"):
        draw(layout, checkpoint=other)
    with pytest.raises(DataError, match="differs in: thin;"):
        draw(layout, checkpoint=stored, length=Length(draws=40, tune=7, thin=4))
    with pytest.raises(DataError, match="differs in: seed;"):
        sample_gibbs(
            Pair(),
            layout,
            length=Length(draws=40, tune=7, thin=3),
            chains=3,
            cores=2,
            checkpoint=stored,
            seed=6,
        )


def test_a_checkpoint_that_cannot_be_written_is_said(
    layout: FreeValues, tmp_path: Path, short_blocks: None
) -> None:
    (tmp_path / "file").write_text("")
    place = Checkpoint(path=tmp_path / "file" / "run.npz")
    with pytest.raises(DataError, match=r"run\.npz cannot be written"):
        draw(layout, checkpoint=place)
