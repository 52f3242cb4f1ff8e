"""Tables of draws, and of estimates with their covariance."""

import numpy as np
import pandas as pd
import pytest

from neartie.data.errors import DataError
from neartie.data.read_draws import read_draws, read_estimates


@pytest.fixture
def draws():
    values = np.random.default_rng(1).normal(size=(40, 3))
    return pd.DataFrame(values, columns=["gpt-3", "gpt-3.5", "007"])


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_draws_come_back_unchanged(tmp_path, draws, kind):
    whole = draws.copy()
    whole.insert(0, "chain", 0)
    whole.insert(1, ".draw", range(40))
    path = tmp_path / f"draws.{kind}"
    if kind == "parquet":
        whole.to_parquet(path)
    else:
        whole.to_csv(path)
    pd.testing.assert_frame_equal(read_draws(path), draws)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3,x\n", "row 3, model 'b': 'x' is no finite number"),
        ("a,b\n1,\n", "row 2, model 'b': blank is no finite number"),
        ("a,b\n1,inf\n", "row 2, model 'b': 'inf' is no finite number"),
        ("a,a\n1,2\n", "'a' stands in two columns, 1 and 2"),
        ("a,b\n", "has a header but no draws"),
        ("chain,draw\n0,1\n", "no column of a model"),
    ],
)
def test_bad_draws_are_a_sentence(tmp_path, text, words):
    (tmp_path / "draws.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read_draws(tmp_path / "draws.csv")


def write(folder, *, models="model,strength,component\nb,1.5,x\na,0.5,x\n", covariance=None):
    (folder / "models.csv").write_text(models)
    (folder / "covariance.csv").write_text(covariance or "model,a,b\na,2,0.5\nb,0.5,3\n")
    return folder


def test_estimates_are_joined_by_id(tmp_path):
    table, covariance = read_estimates(write(tmp_path))
    assert table["model"].tolist() == ["b", "a"]
    assert table["estimate"].tolist() == [1.5, 0.5]
    assert table["component"].tolist() == ["x", "x"]
    assert covariance.tolist() == [[3, 0.5], [0.5, 2]]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"models": "model,skill\na,1\nb,2\n"}, "none of the columns strength, ability"),
        ({"models": "model,strength\na,1\n"}, "has a row for 'b', which"),
        ({"models": "model,strength\na,1\nb,1\nc,2\n"}, "has no row for 'c'"),
        ({"covariance": "model,a,b\na,2,0.5\nb,y,3\n"}, "row 3, model 'a': 'y'"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, files, words):
    with pytest.raises(DataError, match=words):
        read_estimates(write(tmp_path, **files))


def test_estimates_that_are_not_finite_are_kept_for_the_ranking_to_judge(tmp_path):
    table, _ = read_estimates(write(tmp_path, models="model,strength\nb,-inf\na,\n"))
    assert table["estimate"].tolist()[0] == -np.inf
    assert np.isnan(table["estimate"].tolist()[1])
    with pytest.raises(DataError, match="row 2, column 'strength': 'much' is no finite number"):
        read_estimates(write(tmp_path, models="model,strength\nb,much\na,1\n"))
