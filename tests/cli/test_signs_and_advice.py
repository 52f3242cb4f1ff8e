"""Whole sentences of the commands: one sign for a minus, and no advice that a command refuses."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from neartie.audits.comparison_claim import _cell_words
from neartie.audits.comparison_settings import ComparisonSettings
from neartie.audits.estimate_pairs import _why
from neartie.audits.validation_words import verdict
from neartie.cli.app import main
from neartie.report.recovery_words import board_words
from neartie.report.validation_text import _short

# A hyphen before a number that no word, number or bracket goes on from.
ASCII_MINUS = re.compile(r"(?:^|[\s(])-[.\d]")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    place = tmp_path_factory.mktemp("graded") / "responses.csv"
    rows = ["item,a/phi-1,b/qwen-1,c/phi-2,d/qwen-2", "q1,1,0.5,0,1", "q2,0,1,0.25,1"]
    place.write_text("\n".join(rows) + "\n")
    return str(place)


@pytest.mark.parametrize(
    "command",
    [
        ["compare"],
        ["audit"],
        ["content-audit", "sample", "--key", "key.csv"],
        ["fit", "two-pl"],
        ["fit", "mirt-dif"],
        ["compare-estimates", "two-pl"],
        ["validate", "two-pl", "--like"],
    ],
)
def test_no_command_for_right_and_wrong_advises_of_graded_scores(graded, command, tmp_path, capsys):
    assert main([*command, graded, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "score 0.5 is neither 0 nor 1; set a threshold such as 0.5 (--threshold 0.5)" in said
    assert "graded" not in said.replace(graded, "")


def test_commands_that_take_graded_scores_still_say_so(graded, tmp_path, capsys):
    assert main(["describe", graded]) == 2
    assert "allow it with scores='graded' (--scores graded), or set" in capsys.readouterr().err


def test_negative_numbers_have_one_sign():
    cell = {"anchors": "draws", "scores": "latent", "reversal_rate": 0.2, "low": 0.1, "high": 0.3,
            "excess_pp": -6.24, "excess_low": -22.7, "excess_high": 6.6, "p_value": 0.6}  # fmt: skip

    class Compared:
        settings = ComparisonSettings()

    said = _cell_words(cell, Compared())
    assert "−6.2 over random, −22.7 to +6.6" in said
    quantities = pd.DataFrame(
        [{"quantity": "P(i above j)", "slope": -0.5, "slope_se": 0.1, "p": 0.0, "p_adjusted": 0.0}]
    )
    coverage = pd.DataFrame(columns=["level"])
    departs = verdict(quantities, coverage, "ability", n_data_sets=30, matched=True, alpha=0.01)
    assert "too sure (slope −0.50 ± 0.10)" in departs
    boards = board_words({"model": {"easiness_mean": -1.5, "n_items": 20}})
    assert "easiness-mean −1.5, items 20" in boards
    for text in (said, departs, boards, _short(-0.5)):
        assert not ASCII_MINUS.search(text), text


def test_reasons_of_pairs_have_one_sign():
    one = SimpleNamespace(moved_by="phantom wins", leaves_out="", se_name="se")
    said = _why(one, "estimate", 0, (-0.25, 0.1), (0.125, 0.1), 1.0)
    assert said == "the difference is −0.250, and 0.125 by the posterior: phantom wins"
