"""The verdict on chains: what is converged, what is not, and what cannot be told."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from neartie.data.errors import CaveatWarning
from neartie.inference.diagnostics import diagnostics, judge_approximation, judge_sampler


def tree(engine: str = "nuts", **variables) -> xr.DataTree:
    """A posterior of arrays over chain, draw and, for more axes, `item` and `factor`."""
    dims = ("chain", "draw", "item", "factor")
    data = {name: (dims[: np.ndim(array)], array) for name, array in variables.items()}
    answer = xr.DataTree.from_dict({"posterior": xr.Dataset(data)})
    answer.attrs["engine"] = engine
    return answer


def noise(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def test_independent_draws_converge():
    table = diagnostics(tree(a=noise(4, 500)))
    assert table["verdict"].to_list() == ["converged"]
    assert table["r_hat"][0] == pytest.approx(1.0, abs=0.01)
    assert judge_sampler(table, {}).converged == "yes"


def test_chains_at_different_places_do_not():
    apart = noise(2, 500) + np.array([[0.0], [1.0]])
    table = diagnostics(tree(a=apart))
    said = judge_sampler(table, {})
    assert said.converged == "no"
    assert said.max_rhat > 1.1
    assert re.match(
        "Not converged: chains do not agree on 1 of 1 quantities .* at a;", said.verdict
    )
    assert "Do not use these draws" in said.verdict


def test_few_effective_draws_do_not():
    walk = np.cumsum(noise(2, 400), axis=1)
    assert diagnostics(tree(a=walk))["verdict"].to_list() == ["not converged"]


def test_the_verdict_leads_with_what_fails():
    """Where only effective draws are few, chains are not said to disagree."""
    # every half of every chain holds the same values, in another order, each ten times over
    rng = np.random.default_rng(1)
    halves = [np.repeat(rng.permutation(noise(25)), 10) for _ in range(8)]
    walk = np.reshape(halves, (4, 500))
    table = diagnostics(tree(a=walk, b=noise(4, 500, seed=2)))
    assert table["r_hat"].max() < 1.01
    assert table["ess_bulk"][0] < 400
    stats = {"diverging": np.zeros((4, 500), dtype=bool)}
    said = judge_sampler(table, stats).verdict
    assert said.startswith(
        "Not converged: there are too few effective draws of 1 of 2 quantities (smallest "
    )
    assert "limit 400" in said
    assert "Chains agree (largest R-hat" in said
    assert "do not agree" not in said
    assert "Do not use these draws" not in said
    # what else is wrong is said behind it, with the stronger advice
    stats["diverging"][0, 0] = True
    worse = judge_sampler(table, stats).verdict
    assert "; 1 transition diverged. Do not use these draws" in worse


@pytest.mark.parametrize(
    ("stats", "said"),
    [
        ({"diverging": np.array([[True, False], [False, True]])}, "2 transitions diverged"),
        ({"energy": np.cumsum(noise(2, 2000), axis=1)}, "the smallest E-BFMI is 0.0"),
    ],
)
def test_sampler_trouble_is_no_convergence(stats, said):
    verdict = judge_sampler(diagnostics(tree(a=noise(4, 500))), stats)
    assert verdict.converged == "no"
    assert said in verdict.verdict


def test_agrees_with_arviz():
    from arviz_stats import ess, rhat

    draws = np.cumsum(noise(4, 300, 3), axis=1) * 0.1 + noise(4, 300, 3, seed=2)
    posterior = tree(a=draws)
    table = diagnostics(posterior)
    np.testing.assert_allclose(table["r_hat"], rhat(posterior)["a"], rtol=1e-12)
    np.testing.assert_allclose(table["ess_bulk"], ess(posterior)["a"], rtol=1e-12)
    tails = ess(posterior, method="tail", prob=(0.05, 0.95))["a"]
    np.testing.assert_allclose(table["ess_tail"], tails, rtol=1e-12)


def test_one_chain_is_not_assessed(case_dir):
    """C79: R-hat is not available, of a constant neither; one warning."""
    draws = pd.read_csv(case_dir / "C79" / "draws_1chain.csv")
    posterior = tree(a=draws["a"].to_numpy()[None], c=draws["c"].to_numpy()[None])
    with pytest.warns(CaveatWarning, match="one chain: R-hat is not available") as caught:
        table = diagnostics(posterior)
    assert len(caught) == 1
    assert table["verdict"].to_list() == ["not assessed", "constant"]
    assert table["r_hat"].isna().all()
    said = judge_sampler(table, {})
    assert said.converged == "not assessed"
    assert np.isnan(said.max_rhat)
    assert not said.max_rhat < 1.01
    assert "not assessed" in said.verdict


def test_constants_have_no_r_hat():
    table = diagnostics(tree(a=np.ones((4, 50))))
    assert table[["r_hat", "ess_bulk", "ess_tail"]].isna().all(axis=None)
    assert judge_sampler(table, {}).converged == "not assessed"


def test_what_turns_with_the_factors_is_left_out():
    mixed = tree(loading=noise(2, 50, 3, 2), ability=noise(2, 50, 3, 2), easiness=noise(2, 50, 3))
    assert diagnostics(mixed)["quantity"].to_list() == [f"easiness[{k}]" for k in range(3)]


def test_the_record_says_what_is_diagnosed():
    named = tree(a=noise(2, 50), b=noise(2, 50))
    named.attrs["diagnosed"] = '["b", "absent"]'
    assert diagnostics(named)["quantity"].to_list() == ["b"]


def test_approximations_get_no_r_hat_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = diagnostics(tree(engine="laplace", a=noise(1, 500)))
    assert table["verdict"].to_list() == ["approximation"]
    assert table["r_hat"].isna().all()


@pytest.mark.parametrize("pareto_k", [0.2, 0.9, np.nan])
def test_an_approximation_never_passes(pareto_k):
    said = judge_approximation("advi", optimiser_converged=True, pareto_k=pareto_k, n_ratio=9999)
    assert said.converged == "not assessed"
    assert said.verdict.startswith("Approximation (advi): the optimiser converged;")
    failed = judge_approximation("advi", optimiser_converged=False, pareto_k=pareto_k)
    assert failed.converged == "no"


def test_a_verdict_on_gibbs_does_not_speak_of_divergences():
    rows = [("ability[a]", 1.2, 400.0, 400.0, "not converged")]
    columns = ["quantity", "r_hat", "ess_bulk", "ess_tail", "verdict"]
    table = pd.DataFrame(rows, columns=columns)
    sweep = {"sweep": np.ones((2, 10))}
    assert "target_accept" not in judge_sampler(table, sweep).verdict
    assert "target_accept" in judge_sampler(table, {"diverging": np.zeros((2, 10))}).verdict
    fine = table.assign(r_hat=1.0, verdict="converged")
    assert "divergence" not in judge_sampler(fine, sweep).verdict
    assert "no divergence" in judge_sampler(fine, {"diverging": np.zeros((2, 10))}).verdict


@pytest.mark.parametrize(("n_ratio", "words"), [(1000, "above 0.67"), (4000, "at most 0.7")])
def test_how_large_a_pareto_k_may_be_depends_on_the_number_of_draws(n_ratio, words):
    said = judge_approximation("laplace", optimiser_converged=True, pareto_k=0.68, n_ratio=n_ratio)
    assert f"Pareto k is 0.68, {words}" in said.verdict
