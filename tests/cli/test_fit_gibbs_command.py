"""`neartie fit --engine gibbs`: files as of NUTS, resumed after a stop; options told apart."""

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main
from neartie.cli.fit_run import CHECKPOINT
from neartie.data.files import write_csv_atomic
from neartie.inference import gibbs_chains, gibbs_two_pl

QUICK = ["--engine", "gibbs", "--draws", "200", "--tune", "50", "--chains", "2", "--thin", "2"]


@pytest.fixture(scope="module")
def responses(tmp_path_factory):
    rng = np.random.default_rng(5)
    logit = rng.normal(size=(1, 7)) - rng.normal(size=(10, 1))
    table = pd.DataFrame(
        (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(int),
        columns=[f"model-{k}" for k in range(7)],
    )
    table.insert(0, "item", [f"q{k}" for k in range(10)])
    return write_csv_atomic(table, tmp_path_factory.mktemp("data") / "responses.csv")


def test_a_stopped_fit_goes_on_to_the_same_files(responses, tmp_path, monkeypatch, capsys):
    plain, stopped = tmp_path / "plain", tmp_path / "stopped"
    assert main(["fit", "two-pl", str(responses), *QUICK, "--out", str(plain)]) == 0
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(gibbs_chains, "_CHECKPOINT_SHARE", 1e9)
    monkeypatch.setattr(gibbs_chains, "_BLOCK_SECONDS", 0.0)
    sampler = gibbs_two_pl.TwoPLSampler
    sweep, done = sampler.sweep, []

    def tired(self, state, rng, *, tuning):
        done.append(1)
        if len(done) > 300:
            raise KeyboardInterrupt
        sweep(self, state, rng, tuning=tuning)

    monkeypatch.setattr(sampler, "sweep", tired)
    command = ["fit", "two-pl", str(responses), *QUICK, "--out", str(stopped)]
    assert main(command) == 130
    assert (stopped / CHECKPOINT).exists()
    monkeypatch.setattr(sampler, "sweep", sweep)
    capsys.readouterr()
    assert main(command) == 0
    assert "of a run that was cut off" in capsys.readouterr().err
    assert not (stopped / CHECKPOINT).exists()
    for name in ("models.csv", "items.csv", "diagnostics.csv", "posterior.nc"):
        assert (stopped / name).read_bytes() == (plain / name).read_bytes(), name


def test_a_checkpoint_of_other_settings_is_refused(responses, tmp_path, capsys):
    (tmp_path / CHECKPOINT).write_bytes(b"not a checkpoint")
    assert main(["fit", "two-pl", str(responses), *QUICK, "--out", str(tmp_path)]) == 2
    assert f"{CHECKPOINT} is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--thin", "2"], "--thin is for the engine gibbs, not for nuts"),
        (["--start", "map"], "--start is for the engine gibbs, not for nuts"),
        (
            ["--engine", "gibbs", "--start", "map", "--discrimination", "one"],
            "no joint mode to begin at for discrimination='one'",
        ),
        (["--min-ess", "100"], "--min-ess is for the engine gibbs, not for nuts"),
        (["--dask", "local"], "--dask is for the engine gibbs, not for nuts"),
        (["--keep", "difficulty"], "--keep is for the engine gibbs, not for nuts"),
        (
            ["--engine", "gibbs", "--keep", "height"],
            "keep names 'height', but the model's variables are",
        ),
        (
            ["--engine", "gibbs", "--keep", "difficulty", "--log-likelihood"],
            "--log-likelihood needs the draws of all variables",
        ),
        (["--engine", "gibbs", "--backend", "jax"], "--backend jax is for the other engines"),
        (
            ["--engine", "gibbs", "--min-ess", "1e6"],
            "--min-ess must lie above 0 and be at most 2,000",
        ),
    ],
)
def test_options_are_told_apart(responses, tmp_path, capsys, options, message):
    out = tmp_path / "out"
    assert main(["fit", "two-pl", str(responses), *options, "--out", str(out)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "options",
    [
        ["--thin", "2"],
        ["--min-ess", "9"],
        ["--start", "map"],
        ["--backend", "jax"],
        ["--dask", "local"],
        ["--keep", "difficulty"],
    ],
)
def test_engines_that_do_not_sample_refuse_what_samplers_take(responses, tmp_path, capsys, options):
    out = tmp_path / "out"
    command = ["fit", "two-pl", str(responses), "--engine", "map", *options, "--out", str(out)]
    assert main(command) == 2
    assert f"{options[0]} needs a posterior" in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_what_is_not_kept_has_moments_in_tables_and_report(responses, tmp_path):
    thrifty, plain = tmp_path / "thrifty", tmp_path / "plain"
    command = ["fit", "two-pl", str(responses), *QUICK]
    assert main([*command, "--keep", "difficulty", "--out", str(thrifty)]) == 0
    assert main([*command, "--out", str(plain)]) == 0
    one, other = (pd.read_csv(folder / "items.csv") for folder in (thrifty, plain))
    np.testing.assert_array_equal(one["difficulty_low"], other["difficulty_low"])
    np.testing.assert_allclose(one["discrimination_sd"], other["discrimination_sd"], rtol=1e-9)
    assert one["discrimination_low"].isna().all()
    assert other["discrimination_low"].notna().all()
    assert (thrifty / "models.csv").read_bytes() == (plain / "models.csv").read_bytes()
    assert "nan" not in (thrifty / "report.html").read_text(encoding="utf-8").lower().split()
