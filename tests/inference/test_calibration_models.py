"""Every model is calibrated by simulation at small size: the study of the documentation, shorter."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

STUDY = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration.py"
# Of any row of a case, if its model is calibrated.
FALSE_ALARM = 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        "BT, no ties, scale estimated",
        "BT, Davidson, first shown",
        "2PL",
        "1PL, 15 % missing",
        "residual DIF, scale estimated",
        "MIRT-DIF, K = 2, sums over items too",
    ],
)
def test_model_is_calibrated(case, monkeypatch):
    monkeypatch.syspath_prepend(str(STUDY.parent))
    found = runpy.run_path(str(STUDY))["run"](case, 60)
    quantities = {row["quantity"]: row["p_adjusted"] for row in found["rows"]}
    assert {"rank", "P(i above j)", "log_likelihood"} <= set(quantities)
    assert {name: p for name, p in quantities.items() if p < FALSE_ALARM} == {}
