"""Which K are too large for the models of a half."""

from types import SimpleNamespace

import pytest

from neartie.audits.comparison_caveats import MODELS_A_DIMENSION, crowding
from neartie.audits.comparison_settings import ComparisonSettings


def base(k, models):
    halves = tuple(SimpleNamespace(responses=SimpleNamespace(n_model=n)) for n in models)
    return SimpleNamespace(audit=SimpleNamespace(k=k), halves=halves)


@pytest.mark.parametrize("models", [20, 41, 400])
def test_the_limit_is_a_quarter_of_the_models(models):
    most = models // MODELS_A_DIMENSION
    settings = ComparisonSettings(rungs=("residual",))
    assert crowding(base((most, most), (models, models)), settings) == ()
    (said,) = crowding(base((1, most + 1), (models, models)), settings)
    assert f"K of the audit is {most + 1} for the {models} models of half 1: " in said


def test_a_dimension_of_its_own_matters_where_a_model_is_fitted():
    own = ComparisonSettings(rungs=("residual",), dimension=30)
    assert crowding(base((2, 2), (40, 40)), own) == ()
    (said,) = crowding(
        base((2, 2), (40, 40)), ComparisonSettings(rungs=("laplace",), dimension=(30, 2))
    )
    assert said.startswith("K of the model that is fitted is 30 for the 40 models of half 0:")
    both = crowding(
        base((12, 2), (40, 40)), ComparisonSettings(rungs=("full",), dimension=(20, 30))
    )
    assert "the audit is 12 for the 40 models of half 0:" in both[0]
    assert "is 20 for the 40 models of half 0 and 30 for the 40 models of half 1:" in both[1]
