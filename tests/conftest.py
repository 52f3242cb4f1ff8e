"""Shared data, the worked audit with every intermediate value, and a small leaderboard for laws.

A missing data folder fails under CI and skips elsewhere.
"""

import json
import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neartie.audits.anchors import Cells, Subtest
from neartie.data.responses import Responses

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))


def _folder(path: Path) -> Path:
    if not path.is_dir():
        message = f"{path} is missing: set NEARTIE_DATA to the folder of real data"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return _folder(DATA)


@pytest.fixture(scope="session")
def case_dir() -> Path:
    return _folder(DATA.parent / "cases")


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    return _folder(DATA.parent / "reference")


@dataclass
class Reference:
    """Inputs and expected values of the worked audit."""

    folder: Path

    def table(self, name: str, **options) -> pd.DataFrame:
        return pd.read_csv(self.folder / f"{name}.csv.gz", dtype=str, **options)

    def json(self, name: str) -> dict:
        return json.loads((self.folder / "expected" / f"{name}.json").read_text())

    @cached_property
    def population(self) -> pd.DataFrame:
        table = self.table("inputs/frozen_population")
        return table.astype({"half": "Int64", "representative": "Int64"})

    @cached_property
    def items(self) -> pd.DataFrame:
        return self.table("inputs/items")

    @cached_property
    def raw(self) -> pd.DataFrame:
        """All models, also those that the population leaves out."""
        table = self.table("inputs/responses").set_index("item")
        return table.loc[self.items["item"]].astype(np.int8)

    @cached_property
    def responses(self) -> Responses:
        table = self.population
        return Responses.build(self.raw[table["model"]].to_numpy(), items=self.items, models=table)

    def half(self, half: int, *, representatives: bool = False) -> pd.DataFrame:
        table = self.population[self.population["half"] == half]
        return table[table["representative"] == 1] if representatives else table

    def values(self, half: int, *, representatives: bool = False) -> np.ndarray:
        return self.raw[self.half(half, representatives=representatives)["model"]].to_numpy()

    def anchors(self, setting: str, half: int) -> pd.DataFrame:
        return self.table(f"expected/anchors_{setting}_half{half}")

    def subtest(self, setting: str, half: int) -> Subtest:
        """The expected anchors as a subtest, independent of the code that selects them."""
        table = self.anchors(setting, half)
        keys = table["source"] + "|" + table["stratum"]
        names, code = np.unique(keys, return_inverse=True)
        selected = (table["S3"] == "1").to_numpy()
        return Subtest(
            cells=Cells(
                code=code,
                source=tuple(name.split("|")[0] for name in names),
                stratum=np.array([int(name.split("|")[1]) for name in names]),
                size=np.bincount(code),
            ),
            selected=selected,
            pool=np.ones(len(table), dtype=bool),
            kept=np.bincount(code[selected]),
        )


@pytest.fixture(scope="session")
def reference(reference_dir: Path) -> Reference:
    return Reference(reference_dir)


@pytest.fixture(scope="session")
def open_llm(reference_dir: Path, data_dir: Path) -> tuple[Responses, dict, Path]:
    """Real responses under the frozen population, and what is expected of their audit."""
    folder = reference_dir / "open_llm_v1"
    models = pd.read_csv(folder / "models.csv", dtype=str)
    models = models.astype({"half": "Int64", "representative": "Int64"})
    items = pd.read_csv(data_dir / "open_llm_v1" / "items.csv", dtype=str)
    table = pd.read_csv(data_dir / "open_llm_v1" / "responses.csv.gz", dtype={"item": str})
    values = table.set_index("item").loc[items["item"], models["model"]].to_numpy(np.int8)
    expected = json.loads((folder / "expected.json").read_text())
    return Responses.build(values, items=items, models=models), expected, folder


def fractions(column: pd.Series) -> list[Fraction]:
    return [Fraction(text) for text in column]


@pytest.fixture
def leaderboard() -> Responses:
    """A small leaderboard without structure: 3 families, 12 owners, 3 sources, no constant item."""
    rng = np.random.default_rng(20261130)
    n_item, owners = 60, 18
    ability = rng.normal(size=owners * 2)
    easiness = rng.normal(size=n_item)
    logit = ability[None, :] + easiness[:, None]
    values = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    values[:, 0], values[:, 1] = 0, 1
    models = pd.DataFrame(
        {
            "model": [f"o{m // 2:02d}/m{m:02d}" for m in range(owners * 2)],
            "owner": [f"o{m // 2:02d}" for m in range(owners * 2)],
            "family": [("Ash", "Birch", "Cedar")[m // 2 % 3] for m in range(owners * 2)],
        }
    )
    items = pd.DataFrame(
        {
            "item": [f"q{i:02d}" for i in range(n_item)],
            "source": [("s1", "s2", "s3")[i % 3] for i in range(n_item)],
        }
    )
    return Responses.build(values, items=items, models=models)


@pytest.fixture(scope="session")
def score_tables() -> dict[str, pd.DataFrame]:
    """Answers, samples, verdicts and costs of five models, two domains and a panel of judges."""
    rng = np.random.default_rng(11)
    models = ["ash/one", "birch/two", "cedar/three", "fir/four", "oak/five"]
    ability = np.array([-1.0, -0.4, 0.1, 0.6, 1.2])
    answers, samples = [], []
    for domain, n_item in (("code", 40), ("math", 30)):
        easiness = rng.normal(size=n_item)
        for m, model in enumerate(models):
            if (model, domain) == ("fir/four", "math"):
                continue
            p = 1 / (1 + np.exp(-ability[m] - easiness))
            right = (rng.random(n_item) < p).astype(float)
            right[rng.random(n_item) < 0.04] = np.nan
            stated = np.round(np.clip(p + rng.normal(0.1, 0.15, n_item), 0, 1), 2)
            stated[rng.random(n_item) < 0.1] = np.nan
            anchor = (np.arange(n_item) < n_item // 4).astype(float)
            for i in range(n_item):
                item = f"{domain}-{i}"
                answers.append((domain, model, item, right[i], stated[i], anchor[i]))
                given = rng.choice(["7", "8", ""], size=3, p=[0.7, 0.2, 0.1])
                samples += [(domain, model, item, answer) for answer in given]
    judges = ("oak/five", "judge/x", "judge/y")
    verdicts = []
    for prompt in range(60):
        a, b = rng.choice(len(models), size=2, replace=False)
        for k, judge in enumerate(judges):
            shown = 1 if (prompt + k) % 2 else -1
            p = 1 / (1 + np.exp(ability[b] - ability[a] - 0.3 * shown))
            outcome = 0 if rng.random() < 0.1 else 1 if rng.random() < p else -1
            names = (models[a], models[b], outcome, shown, judge, f"p{prompt}", 0)
            verdicts.append(("writing", *names))
    columns = ["domain", "model", "item"]
    cost = {
        "model": models,
        "cost": [1.0, 2.0, 2.0, 4.0, 8.0],
        "latency": [3.0, 1.0, 2.0, 2.0, 5.0],
    }
    return {
        "answers": pd.DataFrame(answers, columns=[*columns, "score", "confidence", "anchor"]),
        "samples": pd.DataFrame(samples, columns=[*columns, "answer"]),
        "verdicts": pd.DataFrame(
            verdicts,
            columns=[
                "domain", "model_a", "model_b", "outcome", "shown", "judge", "prompt", "unparsed",
            ],
        ),
        "economics": pd.DataFrame(cost),
    }  # fmt: skip
