"""Screen the labelled real sets, repeat P2's experiments on them, and write both tables.

`python docs/make_screen_tables.py` writes `docs/tables/screen_auc.md` and
`docs/tables/screen_experiments.md`. The data are not part of the repository: NEARTIE_DATA names
their folder.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from neartie.audits.auc import compare_auc
from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_experiments import grid_experiment, subsample_experiment, summarise
from neartie.audits.screen_result import ItemScreen
from neartie.audits.screen_statistics import STATISTICS, suspicion
from neartie.data.files import write_text_atomic
from neartie.data.read import read_responses
from neartie.data.responses import Responses

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))
TABLES = ROOT / "docs" / "tables"
SETTINGS = ScreenSettings(statistics="all", n_null=0)

# P2, Table 1: HS Math, GSM8K, MMLU-5, Human (the public one of its two).
PUBLISHED = {
    "acc": (0.585, 0.781, 0.770, 0.667),
    "f1": (0.627, 0.821, 0.791, 0.683),
    "smc": (0.885, 0.841, 0.827, 0.733),
    "mi": (0.814, 0.863, 0.763, 0.817),
    "phi": (0.889, 0.872, 0.865, 0.917),
    "tetrachoric": (0.765, 0.872, 0.866, 0.896),
    "kappa": (0.899, 0.862, 0.869, 0.900),
    "u_sym": (0.780, 0.879, 0.681, 0.883),
    "signed_isotonic_r2": (0.908, 0.873, 0.861, 0.983),
    "mi_rest": (0.576, 0.553, 0.597, 0.590),
    "rho_rest": (0.789, 0.870, 0.871, 0.896),
    "z": (0.788, 0.871, 0.871, 0.933),
    "r2_iso_rest": (0.904, 0.873, 0.830, 0.932),
    "delta_alpha": (0.805, 0.873, 0.850, 0.922),
    "delta_rho": (0.788, 0.870, 0.871, 0.895),
    "d_2pl": (0.670, 0.746, 0.761, 0.771),
    "a_2pl": (0.711, 0.873, 0.837, 0.917),
}

STATISTICS_CAPTION = (
    "**AUC of every statistic** with DeLong's 95 % interval; to the right what P2 reports on its "
    "own sets, without intervals."
)
DIFFERENCES_CAPTION = (
    "**Paired differences:** AUC of the signed isotonic R² less that of the statistic in the "
    "row, on the items that have both, with DeLong's paired 95 % interval. Bold: zero lies "
    "outside. With 17 rivals a set, about one would be bold by chance."
)


def load(name: str) -> Responses:
    """A labelled set; of MMLU-Redux the 14 models that answered (nearly) everything."""
    folder = DATA / name
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    if name == "mmlu_redux_helm":
        most = np.argsort(-data.observed.sum(axis=0), kind="stable")[:14]
        data = data.take(models=np.sort(most))
    return data


def load_platinum() -> Responses:
    """The GSM8K items of the open leaderboard, with their Platinum labels."""
    folder = DATA / "open_llm_v1"
    data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
    return data.take(items=(data.items["source"] == "gsm8k").to_numpy())


def number(value: float) -> str:
    """Three digits, or a dash."""
    return "–" if np.isnan(value) else f"{value:.3f}"


def interval(row: pd.Series) -> str:
    """AUC with its interval, or without one where none exists."""
    if np.isnan(row["low"]):
        return number(row["auc"])
    return f"{row['auc']:.3f} ({row['low']:.3f}–{row['high']:.3f})"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, numbers flush right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def overview(screens: dict[str, ItemScreen]) -> str:
    """One row a set: sizes, degenerate items, the coefficient and two rivals."""
    rows = []
    for name, screen in screens.items():
        kinds = screen.labelled.set_index("kind")
        auc = screen.auc.set_index("statistic")
        apart = [
            f"{kinds.loc[kind, 'n_bad']} / {kinds.loc[kind, 'n_items']}"
            if kind in kinds.index
            else "–"
            for kind in ("ranked", "solved by nobody", "solved by everybody")
        ]
        rows.append(
            [
                f"{name} ({screen.n_models:,})",
                *apart,
                interval(auc.loc["signed_isotonic_r2"]),
                interval(auc.loc["phi"]),
                interval(auc.loc["rho_rest"]),
                number(float(auc.loc["signed_isotonic_r2", "auc_within"])),
            ]
        )
    head = ["set (respondents)", "bad / ranked", "bad / solved by nobody", "bad / solved by everybody",
            "signed isotonic R²", "phi", "item-rest r", "signed isotonic R², within sources"]  # fmt: skip
    return markdown(head, rows)


def every_statistic(screens: dict[str, ItemScreen]) -> str:
    """One row a statistic: every set with intervals, then the four of the paper."""
    head = ["statistic", *screens, "P2 HS Math", "P2 GSM8K", "P2 MMLU-5", "P2 Human"]
    found = [screen.auc.set_index("statistic") for screen in screens.values()]
    rows = []
    for statistic in STATISTICS:
        cells = [interval(auc.loc[statistic]) if statistic in auc.index else "–" for auc in found]
        published = [number(value) for value in PUBLISHED.get(statistic, (np.nan,) * 4)]
        rows.append([f"`{statistic}`", *cells, *published])
    return markdown(head, rows)


def differences(screens: dict[str, ItemScreen]) -> str:
    """One row a rival: the coefficient's AUC less the rival's, paired, with intervals."""
    rows = []
    for rival in STATISTICS[1:]:
        cells = []
        for screen in screens.values():
            turned = suspicion(screen.table)
            if screen.table[rival].isna().all():
                cells.append("–")
                continue
            found = compare_auc(turned["signed_isotonic_r2"], turned[rival], screen.table["is_bad"])
            cell = f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
            beyond = found.low > 0 or found.high < 0
            cells.append(f"**{cell}**" if beyond else cell)
        rows.append([f"`{rival}`", *cells])
    return markdown(["less the AUC of", *screens], rows)


def places(screens: dict[str, ItemScreen]) -> str:
    """Say where the coefficient stands among the statistics, set by set."""
    found = []
    for name, screen in screens.items():
        auc = screen.auc.set_index("statistic")["auc"]
        place = int((auc > auc["signed_isotonic_r2"]).sum()) + 1
        found.append(f"{name} {place} of {len(auc)}")
    return "Place of the signed isotonic R² among the statistics: " + "; ".join(found) + "."


def experiment_tables() -> str:
    """Experiments 2 and 3 on the two sets that are large enough."""
    parts = []
    data = {
        "gsm8k_zeroeval": load("gsm8k_zeroeval"),
        "metabench_gsm8k_a": load("metabench_gsm8k_a"),
    }
    for name, n_models in (("gsm8k_zeroeval", 42), ("metabench_gsm8k_a", 50)):
        results = subsample_experiment(data[name], n_models=n_models, rng=2)
        title = f"**Experiment 2, {name}:** 20 subsamples of 200 items x {n_models} models"
        parts.append(f"{title}\n\n{summary_table(summarise(results))}")
    for name, responses in data.items():
        results = grid_experiment(responses, rng=3)
        sizes = results[["n_items", "n_models"]].drop_duplicates()
        title = f"**Experiment 3, {name}:** {len(sizes)} sizes, 100 resamples each"
        parts.append(f"{title}\n\n{summary_table(summarise(results))}")
    return "\n\n".join(parts)


def summary_table(summary: pd.DataFrame) -> str:
    """Statistics with mean AUC, spread, mean rank and votes."""
    rows = [
        [f"`{row['statistic']}`", number(row["mean_auc"]), f"{row['low']:.3f}–{row['high']:.3f}",
         f"{row['mean_rank']:.1f}", f"{row['borda']:g}", f"{row['missing']:.1%}"]
        for row in summary.to_dict("records")
    ]  # fmt: skip
    head = [
        "statistic",
        "mean AUC",
        "95 % of resamples",
        "mean rank",
        "Borda votes",
        "not estimable",
    ]
    return markdown(head, rows)


def main() -> None:
    """Write one table or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("auc", "experiments"), help="write this one only")
    only = parser.parse_args().only
    if only != "experiments":
        write_auc()
    if only != "auc":
        write_text_atomic(experiment_tables() + "\n", TABLES / "screen_experiments.md")


def write_auc() -> None:
    """Screen every set and write the table of AUCs."""
    names = ("gsm8k_zeroeval", "metabench_gsm8k_a", "mmlu_redux_helm", "swebench_verified")
    screens = {name: screen_items(load(name), SETTINGS, rng=1) for name in names}
    screens["open_llm_v1, gsm8k"] = screen_items(load_platinum(), SETTINGS, rng=1)
    within = ScreenSettings(statistics="all", n_null=0, within="source")
    screens["bfi_reversed, within scales"] = screen_items(load("bfi_reversed"), within, rng=1)
    parts = [
        overview(screens),
        STATISTICS_CAPTION,
        every_statistic(screens),
        places(screens),
        DIFFERENCES_CAPTION,
        differences(screens),
    ]
    write_text_atomic("\n\n".join(parts) + "\n", TABLES / "screen_auc.md")


if __name__ == "__main__":
    main()
