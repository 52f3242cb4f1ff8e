"""Comparisons of estimates that cannot be made, or whose posterior is not to be relied on."""

import warnings

import numpy as np
import pytest

from neartie.audits.compare_estimates import compare_estimates
from neartie.data.battles import Battles
from neartie.data.errors import DataError
from neartie.inference.two_pl_map import fit_two_pl_map


def test_no_estimate_is_finite(few_draws):
    never = Battles.build(["a", "b"] * 5, ["b", "a"] * 5, ["tie"] * 10)
    with pytest.raises(DataError, match="there is no estimate to compare: newton-ml is left out"):
        compare_estimates(never, options={"ties": "davidson"}, phantom_wins=0, **few_draws)


def test_draws_that_do_not_mix_say_nothing(round_robin, posterior_tree):
    rng = np.random.default_rng(9)
    draws = rng.normal(size=(4, 500, 6)) + 5 * rng.normal(size=(4, 1, 6))
    posterior = posterior_tree({"strength": draws.reshape(-1, 6)}, model=round_robin.models)
    found = compare_estimates(round_robin, posterior=posterior)
    assert set(found.estimators["verdict"]) == {"cannot say"}
    assert "the posterior of strength is not to be relied on. Not converged" in found.warnings[0]
    assert "cannot say" in str(found)


def test_a_few_items_that_do_not_mix_are_said(few_answers, posterior_tree):
    rng = np.random.default_rng(10)
    fit = fit_two_pl_map(few_answers)
    kept = np.isfinite(fit.difficulty)
    n = int(kept.sum())

    def posterior(n_lost):
        values = rng.normal(size=(4, 1000, n))
        values[:, :, :n_lost] += 5 * np.arange(4)[:, None, None]
        return posterior_tree(
            {
                "ability": rng.normal(size=(4000, 12)),
                "difficulty": values.reshape(-1, n),
                "log_discrimination": rng.normal(size=(4000, n)),
            },
            model=fit.models,
            item=np.array(fit.items)[kept],
        )

    found = compare_estimates(few_answers, posterior=posterior(1))
    text = f"of the posterior of difficulty, 1 value of {n} did not converge"
    assert found.warnings[0].startswith(text)
    assert "cannot say" not in set(found.estimators["verdict"])
    found = compare_estimates(few_answers, posterior=posterior(n // 10))
    assert found.warnings[0].startswith("the posterior of difficulty is not to be relied on")
    verdicts = found.estimators.set_index(["estimator", "se_name"])["verdict"]
    assert verdicts["map", "difficulty_se"] == "cannot say"
    assert verdicts["map", "log_discrimination_se"] != "cannot say"
    assert verdicts["map", "se"] != "cannot say"


def test_nothing_is_warned_of_twice(round_robin):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare_estimates(round_robin, draws=20, tune=5, chains=1, rng=1)
    assert "not assessed" in found.warnings[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "mirt-dif"}, ValueError, "kind must be one of two-pl, bradley-terry"),
        ({"kind": "two-pl"}, TypeError, "two-pl takes responses, got Battles"),
        ({"engine": "advi"}, ValueError, "the reference is sampled"),
        ({"level": 1.0}, ValueError, r"level must lie in \(0, 1\)"),
        ({"phantom_wins": -1.0}, ValueError, "phantom_wins must be finite and not negative"),
    ],
)
def test_wrong_settings(round_robin, options, error, message):
    with pytest.raises(error, match=message):
        compare_estimates(round_robin, **options)


def test_wrong_data(round_robin, few_answers, posterior_tree):
    draws = np.random.default_rng(1).normal(size=(40, 6))
    with pytest.raises(TypeError, match="takes responses or battles, got ndarray"):
        compare_estimates(draws)
    with pytest.raises(ValueError, match="nothing to compare discrimination 'signed' with"):
        compare_estimates(few_answers, options={"discrimination": "signed"})
    other = posterior_tree({"strength": draws}, model=list("uvwxyz"))
    with pytest.raises(DataError, match=r"the posterior is one of other data: .*'m0'"):
        compare_estimates(round_robin, posterior=other)
    with pytest.raises(ValueError, match="one that is given has its own"):
        compare_estimates(round_robin, posterior=other, options={})
    own = posterior_tree({"strength": draws}, model=round_robin.models, kind="two-pl")
    with pytest.raises(DataError, match="one of 'two-pl', not of 'bradley-terry'"):
        compare_estimates(round_robin, posterior=own)
    names = few_answers.model_ids
    lacking = posterior_tree(
        {
            "ability": np.zeros((8, 12)),
            "difficulty": np.zeros((8, 2)),
            "log_discrimination": np.zeros((8, 2)),
        },
        model=names,
        item=["q000", "q001"],
    )
    with pytest.raises(DataError, match="it has no item 'q002'"):
        compare_estimates(few_answers, posterior=lacking)
