"""Size and power of the tests beside the audit (`pytest -m slow` for the long ones).

Seeds are fixed. Each check states how often it would fail by chance if its claim held.
"""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "replication.py"


@pytest.fixture(scope="module")
def study():
    spec = spec_from_file_location("replication_study", PATH)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(PATH.parent))
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(PATH.parent))
    del sys.modules[spec.name]


def rejects_too_often(p, level=0.05, alarm=0.001):
    hits = int((np.asarray(p) <= level).sum())
    return stats.binomtest(hits, len(p), level, alternative="greater").pvalue < alarm


def test_replication_holds_its_level_on_independent_signatures(study):
    """Three statistics, 15 draws: a failure by chance is 3 in 1000."""
    p = study.replication_by_signature(15, item=0.0, permutations=59)
    assert not any(rejects_too_often(p[name]) for name in p)
    strong = study.replication_by_signature(3, item=1.5, permutations=59)
    assert (strong <= 0.05).all(axis=None)


def test_shuffled_labels_hold_their_level_where_the_binomial_test_does_not(study):
    """Item effects without source effects, 20 draws: a failure by chance is 1 in 1000."""
    p = study.source_signs(20, item=0.5, permutations=59)
    assert not rejects_too_often(p["labels"])
    assert rejects_too_often(p["binomial"])
    planted = study.source_signs(5, item=0.3, source=0.4, permutations=59)
    assert (planted["labels"] <= 0.05).all()


def test_paired_tests_hold_their_level_and_the_rule_finds_what_is_planted(study):
    """10 draws: a failure by chance is below 3 in 1000."""
    null = study.content_study(10)
    assert not rejects_too_often(null["mcnemar"])
    assert not rejects_too_often(null["wilcoxon"])
    assert not null["confirmed"].any()
    assert study.content_study(3, difference=0.3)["confirmed"].all()


def test_family_association_holds_its_level_in_uneven_benchmarks(study):
    """20 draws: a failure by chance is 1 in 1000."""
    assert not rejects_too_often(study.family_study(20, permutations=59))
    assert (study.family_study(5, lean=0.4, permutations=59) <= 0.05).all()


def test_owner_intervals_miss_about_as_often_as_they_should(study):
    """40 draws of 5 families: 200 intervals miss 7 % on average; above 15 % is 1 in 10,000."""
    assert (~study.owner_coverage(40, bootstraps=200)).mean() < 0.15
    assert (~study.common_coverage(40, bootstraps=200)).mean() < 0.15


def test_rows_with_several_entries_have_an_error_over_replicates(study):
    hits = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])
    # means .5, 1, 0, .5: mean .5, standard error .408 / 2
    assert study.row("a", "b", hits) == "| a | b | 4 | 50.0 | 10.0 to 90.0 |"
    assert study.row("a", "b", np.zeros((6, 9))) == "| a | b | 6 | 0.0 | 0.0 to 45.9 |"
    assert study.row("a", "b", np.zeros((0, 2))) == "| a | b | 0 | – | – |"


def test_the_table_is_written(study, tmp_path, capsys, monkeypatch):
    def found(*given, **options):
        return pd.DataFrame([[0.01] * 3], columns=list(study.STATISTICS))

    names = ("replication_by_leaderboard", "replication_by_signature", "replication_by_families")
    for name in names:
        monkeypatch.setattr(study, name, found)
    for name in ("pooled", "battery"):
        monkeypatch.setattr(study, name, lambda label, n: [f"| {label} | {n} |"])
    store = tmp_path / "store.json"
    arguments = ["--replicates", "1", "--workers", "1", "--store", str(store)]
    study.main([*arguments, "--out", str(tmp_path / "table.md")])
    text = (tmp_path / "table.md").read_text()
    assert len(json.loads(store.read_text())) == len(study.parts(1))
    assert "| replication, overlap | signatures independent | 1 | 100.0 | 2.5 to 100.0 |" in text
    assert text in capsys.readouterr().out


@pytest.mark.slow
def test_level_and_power_of_replication_on_drawn_signatures(study):
    """200 draws: a failure by chance is 3 in 1000."""
    p = study.replication_by_signature(200, item=0.0)
    assert not any(rejects_too_often(p[name]) for name in p)
    power = (study.replication_by_signature(50, item=1.5) <= 0.05).mean()
    assert power.min() > 0.95


@pytest.mark.slow
def test_replication_of_whole_audits(study):
    """Signed effects of disjoint owners are independent without DIF; 60 leaderboards, 1 in 1000."""
    board = {"n_items": 300, "n_models": 160, "n_owners": 80}
    null = study.replication_by_leaderboard(board | {"dif_effect": 0.0, "impact": 0.0}, 60)
    assert not rejects_too_often(null["median_rho"])
    planted = study.replication_by_leaderboard(
        board | {"dif_effect": 3.0, "direction": "random"}, 20
    )
    assert (planted["median_rho"] <= 0.05).mean() > 0.9


@pytest.mark.slow
def test_overlap_replicates_without_dif(study):
    """The caveat that is printed; 150 leaderboards, a sound test would do this 1 time in 1000."""
    board = {"n_items": 1500, "n_models": 160, "n_owners": 80, "dif_effect": 0.0, "impact": 0.0}
    null = study.replication_by_leaderboard(board, 150)
    assert rejects_too_often(null["overlap"])
    assert not rejects_too_often(null["median_rho"])


@pytest.mark.slow
def test_level_and_power_of_source_signs(study):
    """200 draws each: a failure by chance is 2 in 1000."""
    for item in (0.0, 0.5):
        assert not rejects_too_often(study.source_signs(200, item=item)["labels"])
    power = (study.source_signs(50, item=0.5, source=0.2)["labels"] <= 0.05).mean()
    assert power > 0.6


@pytest.mark.slow
def test_level_and_power_of_the_content_audit(study):
    """300 draws: a failure by chance is 2 in 1000; the rule confirms nothing that is not there.

    At a true difference of 30 points it confirms 99 of 100 samples (of 25 points: 91), so that
    fewer than nine tenths of 60 are 1 in 10,000.
    """
    null = study.content_study(300)
    assert not rejects_too_often(null["mcnemar"])
    assert not rejects_too_often(null["wilcoxon"])
    assert null["confirmed"].mean() < 0.02
    assert study.content_study(60, difference=0.3)["confirmed"].mean() >= 0.9


@pytest.mark.slow
def test_level_and_power_of_the_family_association(study):
    """400 draws: a failure by chance is 1 in 1000."""
    assert not rejects_too_often(study.family_study(400))
    assert (study.family_study(50, lean=0.25) <= 0.05).mean() > 0.8


@pytest.mark.slow
def test_the_battery_and_the_sign_rule_hold_their_level(study):
    """30 leaderboards without DIF: a failure by chance is 3 in 1000; no rule over five is met.

    p of a perturbation is tested through its share over perturbations, with the error over
    leaderboards: 5 % and at most 3.1 standard errors more.
    """
    board, dimension = study.BATTERIES["no DIF, families alike"]
    found = study.batteries(board, 30, dimension=dimension)
    p = study.variant_p_values(found)
    assert not rejects_too_often(p["primary"])
    share = (p.iloc[:, 1:] <= 0.05).mean(axis=1)
    assert share.mean() < 0.05 + 3.1 * max(share.std(), 0.05) / np.sqrt(len(share))
    assert not study.passing(found).to_numpy().any()
    signs = study.attributions(study.NULL, 60)
    assert not rejects_too_often([part.shifts.p_value for part in signs])
    assert not study.pooled_rule(signs).any()


@pytest.mark.slow
def test_the_battery_finds_shared_effects(study):
    """20 leaderboards: p is small in some 40 % of them; without power this passes 3 times in 1000."""
    board, dimension = study.BATTERIES["shared DIF, range 3"]
    p = study.variant_p_values(study.batteries(board, 20, dimension=dimension))
    assert rejects_too_often(p["primary"], alarm=0.003)
    share = (p.iloc[:, 1:] <= 0.05).mean(axis=1)
    assert share.mean() > 0.05 + 3 * share.std() / np.sqrt(len(share))
