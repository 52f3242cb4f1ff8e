"""The page on level and power of the controls: shares, limits, and what is written by hand."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd
import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "controls.py"


@pytest.fixture(scope="module")
def study():
    spec = spec_from_file_location("control_study", PATH)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def found(study, p_values, control):
    name = study.CONDITIONS[0].name
    return pd.DataFrame(
        {
            "condition": name,
            "seed": range(len(p_values)),
            "k": 4.0,
            "control": control,
            "excess_pp": [1.0, 3.0, 2.0, 2.0],
            "p_value": p_values,
        }
    )


def test_rows_of_the_table(study):
    rows = pd.concat(
        [
            found(study, [0.01, 0.05, 0.06, 0.88], "matched random"),
            found(study, [0.5] * 4, "matched on profile"),
        ]
    )
    first, second = study.table_text(rows, study.CONDITIONS).splitlines()[2:]
    assert first == (
        "| exchangeable families | none | 4.0 | matched random | 4 | 2.0 (0.4) | 50 (7 to 93) "
        "| 0.25 |"
    )
    assert second.endswith("| matched on profile | 4 | 2.0 (0.4) | 0 (0 to 60) | 0.50 |")


def test_the_page_keeps_what_was_written_by_hand_and_the_store_is_read(
    study, tmp_path, monkeypatch, capsys
):
    page, store = tmp_path / "page.md", tmp_path / "rows.csv"
    page.write_text(f"old numbers\n{study.READING}\nWhat they mean.\n")
    rows = found(study, [0.01, 0.05, 0.06, 0.88], "matched random")
    rows.assign(seed=rows["seed"] + study.SEED).to_csv(store, index=False)
    monkeypatch.setattr(study, "CONDITIONS", study.CONDITIONS[:1])
    study.main(["--replicates", "4", "--store", str(store), "--out", str(page)])
    text = page.read_text()
    assert "old numbers" not in text
    assert "| matched random | 4 |" in text
    assert text.endswith(f"{study.READING}\nWhat they mean.\n")
    assert "0 leaderboards were open" in capsys.readouterr().err
