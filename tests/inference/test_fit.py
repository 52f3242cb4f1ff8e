"""One call for all engines: what comes back, what is refused, what a user's script sees."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from neartie.data.errors import CaveatWarning, DataError
from neartie.data.read import read_responses
from neartie.inference import engines as engines_module
from neartie.inference.compare_loo import compare_models
from neartie.inference.diagnostics import diagnostics
from neartie.inference.fit import fit, posterior_memory, seed_of
from neartie.inference.log_likelihood import add_log_likelihood
from neartie.inference.posterior_file import read_posterior, write_posterior
from neartie.models.two_pl import build_two_pl


@pytest.fixture(scope="module")
def answers(case_dir):
    """C77: 12 models, 8 items, 4 blanks."""
    return read_responses(case_dir / "C77" / "responses.csv")


@pytest.fixture(scope="module")
def model(answers):
    return build_two_pl(answers)


@pytest.fixture(scope="module")
def sampled(model):
    return fit(model, draws=1000, tune=500, chains=2, cores=1, log_likelihood=True, rng=1)


@pytest.fixture(scope="module")
def one_parameter(answers):
    return fit(
        answers,
        options={"discrimination": "one"},
        draws=500,
        tune=500,
        chains=2,
        cores=1,
        log_likelihood=True,
        rng=2,
    )


@pytest.fixture(scope="module")
def approximate(model):
    return fit(model, engine="laplace", draws=200, rng=1)


def test_groups_and_labels(sampled, answers):
    assert set(sampled.children) == {
        "posterior",
        "sample_stats",
        "observed_data",
        "constant_data",
        "log_likelihood",
    }
    ability = sampled["posterior"]["ability"]
    assert ability.dims == ("chain", "draw", "model")
    assert set(ability["model"].to_numpy()) == set(answers.models["model"])
    assert sampled["posterior"].sizes["draw"] == 1000
    assert sampled["observed_data"]["score"].size == 92


def test_attributes_say_what_was_done(sampled):
    said = sampled.attrs
    assert (said["kind"], said["engine"], said["seed"]) == ("two-pl", "nuts", "1")
    assert json.loads(said["settings"])["draws"] == 1000
    assert json.loads(said["options"])["discrimination"] == "free"
    assert "ability" in json.loads(said["diagnosed"])
    assert set(json.loads(said["versions"])) >= {"neartie", "pymc", "nutpie", "arviz"}
    assert said["converged"] == "yes"
    assert said["verdict"].startswith("Converged: largest R-hat 1.00")
    table = diagnostics(sampled)
    assert said["max_rhat"] == table["r_hat"].max()
    assert said["min_ess_bulk"] == table["ess_bulk"].min()
    assert said["n_divergent"] == 0


def test_arviz_reads_it(sampled, tmp_path):
    import arviz as az

    path = write_posterior(sampled, tmp_path / "posterior.nc")
    summary = az.summary(az.from_netcdf(path), var_names=["ability"])
    assert len(summary) == 12
    assert np.isfinite(az.ess(sampled)["ability"]).all()


def test_file_round_trip_is_exact(sampled, tmp_path):
    path = write_posterior(sampled, tmp_path / "deep" / "posterior.nc")
    assert read_posterior(path).identical(sampled)
    assert read_posterior(path.parent).identical(sampled)
    again = write_posterior(sampled, tmp_path / "again.nc")
    assert again.read_bytes() == path.read_bytes()
    assert sorted(place.name for place in tmp_path.rglob("*")) == ["again.nc", "deep", path.name]


def test_interrupted_writing_leaves_the_old_file(sampled, tmp_path, monkeypatch):
    path = tmp_path / "posterior.nc"
    path.write_bytes(b"old")

    def interrupted(self, place, **options):
        place.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.DataTree, "to_netcdf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_posterior(sampled, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [None, b"no NetCDF"])
def test_what_is_no_posterior_is_refused(tmp_path, content):
    path = tmp_path / "posterior.nc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"does not exist|cannot be read as a NetCDF file"):
        read_posterior(path)


def test_other_netcdf_is_refused(tmp_path):
    path = tmp_path / "other.nc"
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(DataError, match="holds no group 'posterior'"):
        read_posterior(path)


def test_log_likelihood_is_of_observed_answers_only(sampled, answers):
    """C77: 92 entries, all negative, and those of the formula."""
    values = sampled["log_likelihood"]["score"]
    assert values.sizes["cell"] == 92
    assert (values < 0).all()
    draws = sampled["posterior"].to_dataset().isel(chain=1, draw=123)
    item = sampled["constant_data"]["cell_item"].to_numpy()
    models = sampled["constant_data"]["cell_model"].to_numpy()
    eta = draws["discrimination"].to_numpy()[item] * (
        draws["ability"].to_numpy()[models] - draws["difficulty"].to_numpy()[item]
    )
    score = sampled["observed_data"]["score"].to_numpy()
    expected = -np.logaddexp(0, np.where(score == 1, -eta, eta))
    np.testing.assert_allclose(values.isel(chain=1, draw=123), expected, rtol=1e-10)


def test_log_likelihood_can_be_thinned_and_is_bounded(sampled, model):
    thinned = add_log_likelihood(sampled, model, thin=10)["log_likelihood"]["score"]
    full = sampled["log_likelihood"]["score"].isel(draw=slice(None, None, 10))
    xr.testing.assert_identical(thinned, full)
    with pytest.raises(
        DataError, match=r"2,000 draws x 92 answers \(thin=17 would fit\) needs 1 MB"
    ):
        add_log_likelihood(sampled, model, memory_limit=100_000)


@pytest.mark.filterwarnings("ignore:the leave-one-out estimate")
def test_models_are_compared_on_left_out_answers(sampled, one_parameter):
    table = compare_models({"1PL": one_parameter, "2PL": sampled})
    assert set(table["model"]) == {"1PL", "2PL"}
    assert table["elpd"].is_monotonic_decreasing
    assert (table["elpd"] < 0).all()
    assert table["elpd_diff"].abs().min() == 0
    assert table["weight"].sum() == pytest.approx(1)


def test_missing_log_likelihood_is_explained(sampled, approximate):
    with pytest.raises(DataError, match="'quick' holds no pointwise log-likelihood: fit it with"):
        compare_models({"full": sampled, "quick": approximate})


def test_other_answers_are_not_compared(sampled):
    other = sampled.copy()
    flipped = 1 - sampled["observed_data"].to_dataset()
    other["observed_data"] = xr.DataTree(flipped)
    with pytest.raises(DataError, match="not fits of the same answers"):
        compare_models({"a": sampled, "b": other})


def test_approximation_is_called_one(approximate):
    assert approximate.attrs["converged"] == "not assessed"
    assert approximate.attrs["verdict"].startswith("Approximation (laplace): the optimiser conv")
    assert np.isfinite(approximate.attrs["pareto_k"])
    assert json.loads(approximate.attrs["facts"])["flat_directions"] == 0


def test_same_seed_same_bytes(model, approximate, tmp_path):
    again = fit(model, engine="laplace", draws=200, rng=1)
    files = [
        write_posterior(tree, tmp_path / f"{k}.nc").read_bytes()
        for k, tree in enumerate((approximate, again))
    ]
    assert files[0] == files[1]


def test_one_chain_warns_once(model):
    with pytest.warns(CaveatWarning, match="not assessed") as caught:
        tree = fit(model, draws=50, tune=50, chains=1, rng=1)
    assert len(caught) == 1
    assert tree.attrs["converged"] == "not assessed"
    assert np.isnan(tree.attrs["max_rhat"])


def test_memory_is_refused_beforehand(model, monkeypatch):
    monkeypatch.setattr(engines_module, "flatten_model", lambda model: pytest.fail("too late"))
    needed = posterior_memory(model, draws=10**6, tune=1000, chains=4)
    assert needed > 8 * 4 * 10**6 * 36
    with pytest.raises(DataError, match=r"4 x 1,000,000 draws of 36 numbers needs .* MB"):
        fit(model, draws=10**6, memory_limit=10**6, rng=1)


def test_interrupt_ends_the_sampler(model, monkeypatch):
    import nutpie

    sampler_ended = []

    class Interrupted:
        def wait(self):
            raise KeyboardInterrupt

        def cancel(self):
            sampler_ended.append(True)

    monkeypatch.setattr(nutpie, "sample", lambda *args, **options: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        fit(model, chains=1, draws=50, tune=50, rng=1)
    assert sampler_ended == [True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "gibs"}, "engine must be one of nuts, gibbs, laplace, .*, got 'gibs'"),
        ({"engine": "laplace", "thin": 2}, "thin is for the engine gibbs, not for laplace"),
        ({"checkpoint": "run.npz"}, "checkpoint is for the engine gibbs, not for nuts"),
        ({"engine": "gibbs", "thin": 0}, "thin must be at least 1, got 0"),
        (
            {"engine": "gibbs", "draws": 100, "chains": 2, "min_ess": 101},
            "min_ess must lie above 0 and be at most half of the 200 draws",
        ),
        ({"draws": 0}, "draws must be at least 4, got 0"),
        ({"cores": 0}, "cores must be at least 1, got 0"),
        ({"target_accept": 1.0}, r"target_accept must lie in \(0, 1\), got 1.0"),
        ({"rng": -1}, "a seed is a whole number of at least 0"),
        ({"kind": "two-pl"}, "kind and options go with data"),
    ],
)
def test_bad_settings(model, settings, message):
    with pytest.raises(ValueError, match=message):
        fit(model, **settings)


def test_bad_data(answers):
    with pytest.raises(ValueError, match=r"kind must be one of two-pl, .*, got '3pl'"):
        fit(answers, kind="3pl")
    with pytest.raises(TypeError, match="bradley-terry takes battles, got Responses"):
        fit(answers, kind="bradley-terry")
    with pytest.raises(TypeError, match="fit takes a model of PyMC, responses or battles, got str"):
        fit("two-pl")


def test_seed_of_a_generator_is_drawn_from_it():
    one, other = (np.random.default_rng(3) for _ in range(2))
    assert seed_of(one) == seed_of(other) != seed_of(one)


def test_nothing_observed_has_no_log_likelihood():
    with pm.Model() as model:
        pm.Normal("a")
    tree = fit(model, engine="laplace", draws=20, rng=1)
    with pytest.raises(DataError, match="no observed variable"):
        add_log_likelihood(tree, model)


def test_modes_of_estimated_scales_are_named():
    with pm.Model() as model:
        scale = pm.LogNormal("effect_scale", 0, 0.1)
        pm.Normal("effect", 0, scale, shape=2)
    with pytest.warns(CaveatWarning, match=r"Scales are estimated here \(median effect_scale"):
        fit(model, engine="laplace", draws=20, rng=1)


SCRIPT = """
import multiprocessing as mp
mp.set_start_method("spawn", force=True)
print("started")
import hashlib, shutil
from neartie import Battles
from neartie.inference.fit import fit
from neartie.models.bradley_terry_model import build_bradley_terry
print("compiler", shutil.which("g++"))
battles = Battles.build(["a"] * 5 + ["b"] * 3, ["b"] * 5 + ["a"] * 3, ["model_a"] * 8)
model = build_bradley_terry(battles)
for cores in (1, 2):
    tree = fit(model, draws=500, tune=500, chains=2, cores=cores, rng=1)
    strength = tree["posterior"]["strength"]
    gap = strength.sel(model="a") - strength.sel(model="b")
    print("gap", float(gap.mean()), hashlib.sha256(strength.to_numpy().tobytes()).hexdigest())
"""


def test_script_without_main_guard_and_compiler_finishes(tmp_path):
    """C80, C82: nothing runs the script again; numba compiles where there is no g++."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, path],
        env={"PATH": str(tmp_path), "HOME": os.environ.get("HOME", str(tmp_path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines.count("started") == 1
    assert "compiler None" in lines
    gaps = [line.split()[1:] for line in lines if line.startswith("gap")]
    assert len(gaps) == 2
    assert gaps[0] == gaps[1]
    assert 0 < float(gaps[0][0]) < np.log(5 / 3) + 0.3


def test_what_numba_cannot_cache_is_nobodys_business(model, monkeypatch):
    """PyTensor ignores it for large data, unless it is first imported where filters are undone."""
    flatten = engines_module.flatten_model

    def loud(*arguments, **named):
        said = 'Cannot cache compiled function "numba_funcified_fgraph" as it uses dynamic globals'
        warnings.warn(said, UserWarning, stacklevel=1)
        return flatten(*arguments, **named)

    monkeypatch.setattr(engines_module, "flatten_model", loud)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CaveatWarning)
        assert fit(model, engine="laplace", draws=10, rng=1).attrs["engine"] == "laplace"
