"""Several benchmarks at once: tables, the passing rule, exactly common models."""

import numpy as np
import pandas as pd
import pytest

from neartie.audits.collection import (
    AuditCollection,
    audit_collection,
    exact_common_models,
    needed_benchmarks,
)
from neartie.audits.robustness import Robustness
from neartie.audits.settings import AuditSettings
from neartie.data.errors import DataError
from neartie.data.simulate import simulate_leaderboard

QUICK = AuditSettings(dimension=2, alpha=("0.5", "0.3"), controls=20, bootstraps=0)


@pytest.fixture(scope="module")
def benchmarks():
    board = simulate_leaderboard(n_items=200, n_models=150, n_owners=75, rng=7).responses
    return {
        "one": board.take(items=np.arange(0, 200, 2)),
        "two": board.take(items=np.arange(1, 200, 2), models=np.arange(140)),
    }


@pytest.fixture(scope="module")
def collection(benchmarks):
    return audit_collection(benchmarks, QUICK, rng=3)


def battery(excess, p):
    table = pd.DataFrame({"variant": ["primary", "cap"], "excess_pp": excess, "p_value": p})
    return Robustness(table=table, population=table, k=(1, 1), settings={}, warnings=())


def test_tables_hold_the_audits_numbers(collection):
    table = collection.primary_table().set_index("benchmark")
    for name, audit in collection.audits.items():
        assert table.loc[name, "reversal_rate"] == audit.band()["rate"]
        assert table.loc[name, "n_eligible"] == audit.n_eligible
    assert len(collection.threshold_table()) == 12
    assert collection.fraction_table()["alpha"].tolist() == [0.5, 0.3] * 2
    assert collection.passing_table().empty


def test_the_rule_is_three_of_five(collection):
    assert [needed_benchmarks(n) for n in range(1, 11)] == [1, 2, 2, 3, 3, 4, 5, 5, 6, 6]
    audits = dict.fromkeys("abcde", collection.audits["one"])
    excess = [2.0, 3.0, 1.0, 0.0, np.nan]
    batteries = {
        name: battery([5.0, value], [0.01, 0.05 if i < 3 else 0.5])
        for i, (name, value) in enumerate(zip("abcde", excess, strict=True))
    }
    table = AuditCollection(audits=audits, robustness=batteries).passing_table()
    assert table["passes"].tolist() == [1, 1]
    assert table.iloc[1][["n_positive", "n_significant", "n_undefined"]].tolist() == [3, 3, 1]
    batteries["c"] = battery([5.0, 1.0], [0.01, 0.0501])
    table = AuditCollection(audits=audits, robustness=batteries).passing_table()
    assert table["passes"].tolist() == [1, 0]


def test_common_models_are_exactly_common(benchmarks):
    common = exact_common_models(benchmarks, QUICK, rng=3)
    one, two = common.values()
    pd.testing.assert_frame_equal(one.models, two.models)
    assert set(one.model_ids) <= set(benchmarks["two"].model_ids)
    audits = audit_collection(common, QUICK, rng=3).audits
    population = ["model", "owner", "family", "half", "representative"]
    assert audits["one"].population[population].equals(audits["two"].population[population])


def test_refusals(benchmarks):
    with pytest.raises(DataError, match="at least two benchmarks"):
        exact_common_models({"one": benchmarks["one"]})
    with pytest.raises(DataError, match="at least one audit"):
        AuditCollection(audits={})
    with pytest.raises(DataError, match=r"^small: fewer than two families"):
        audit_collection({"small": benchmarks["one"].take(models=np.arange(40))}, QUICK)
    none = benchmarks["one"].take(models=np.arange(140, 150))
    with pytest.raises(DataError, match="no model is in all of a, b"):
        exact_common_models({"a": none, "b": benchmarks["two"]})
    models = benchmarks["two"].models.assign(owner="somebody")
    changed = type(none).build(
        benchmarks["two"].values, items=benchmarks["two"].items, models=models
    )
    with pytest.raises(DataError, match=r"has owner .* give it the same in both"):
        exact_common_models({"a": benchmarks["one"], "b": changed})
