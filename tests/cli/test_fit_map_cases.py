"""Cases from public reports, for the estimates that `neartie fit` gives without sampling."""

import numpy as np
import pandas as pd
import pytest

from neartie.cli.app import main


def models_of(out, *arguments):
    assert main([*map(str, arguments), "--out", str(out)]) == 0
    return pd.read_csv(out / "models.csv").set_index("model")


@pytest.mark.parametrize("unit", ["mode", "posterior"])
def test_case_c13_a_positive_slope_does_not_hide_a_reversed_item(case_dir, tmp_path, capsys, unit):
    out = tmp_path / "out"
    place = case_dir / "C13" / "responses.csv"
    models_of(out, "fit", "two-pl", place, "--engine", "map", "--unit", unit)
    items = pd.read_csv(out / "items.csv", keep_default_na=False).set_index("item")
    assert items["discrimination"].astype(float).idxmin() == "q04"
    assert [item for item in items.index if "reversed" in items.loc[item, "flag"]] == ["q04"]
    assert "1 item is flagged" in (out / "report.html").read_text()


def test_case_c32_the_order_is_that_of_wins(case_dir, tmp_path):
    place = case_dir / "C32" / "battles.json"
    fit = ["fit", "bradley-terry", place, "--engine"]
    expected = [1.1861, 0.3692, 0.0, -0.3692, -1.1861]
    for engine in ("mm", "newton"):
        exact = models_of(tmp_path / engine, *fit, engine, "--phantom-wins", "0")["strength"]
        assert exact.to_numpy() == pytest.approx(expected, abs=1e-4)
        shrunk = models_of(tmp_path / f"{engine}-printed", *fit, engine)["strength"]
        assert (np.diff(shrunk) < 0).all()
        assert 0 < shrunk["e1"] < exact["e1"]
    mm, newton = (
        pd.read_csv(tmp_path / engine / "models.csv")["strength"] for engine in ("mm", "newton")
    )
    np.testing.assert_allclose(mm, newton, atol=1e-6)
    assert main(["rank", str(tmp_path / "newton"), "--out", str(tmp_path / "ranks")]) == 0
    ranks = pd.read_csv(tmp_path / "ranks" / "ranks.csv")
    assert ranks["model"].tolist() == ["e1", "e2", "e3", "e4", "e5"]
