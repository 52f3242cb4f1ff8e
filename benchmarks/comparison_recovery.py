"""How far every rung of the comparison is off, on leaderboards with known truth.

    python benchmarks/comparison_recovery.py --folder STUDY                 # all; some core-hours
    python benchmarks/comparison_recovery.py --folder STUDY --only "model 120 x 100"
    python benchmarks/comparison_recovery.py --folder STUDY --write        # tables of what is there

Every setting is kept in a folder of its own and goes on where it stopped; settings may run at the
same time. Worlds: `prior`, drawn from the full model and its priors; `model`, from the model with
scales that are given; `leaderboard`, from `simulate_leaderboard`: models of an owner resemble each
other, a quarter of the items have large effects that lean one way, loadings have one sign on the
first dimension. `K` rows have the audit's dimension too small or too large; `sparse` fits sparse effects.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from comparison_tables import write

RUNGS = ("residual", "residual-bootstrap", "laplace", "full")
EFFECTS = {"no": 0, "weak": 1, "strong": 2}
DRAWN = "drawn"
SIZES = {
    "120 x 100": (120, 100, 4, 2),
    "240 x 200": (240, 200, 4, 2),
    "480 x 320": (480, 320, 5, 3),
}
FIXED = "fixed.jsonl"
REPLICATES = {"120 x 100": 60, "240 x 200": 20, "480 x 320": 5}


@dataclass(frozen=True, kw_only=True, slots=True)
class PriorBoards:
    """Leaderboards from the full model, their scales from its priors: intervals must hold there."""

    sizes: dict[str, int]

    def draw(self, rng: np.random.Generator) -> Any:
        """Return one."""
        from neartie.audits.comparison_boards import ModelBoards
        from neartie.models.priors import MirtDifPriors

        priors = MirtDifPriors()
        spread = priors.loading_spread / np.sqrt(self.sizes["dimension"])
        scales = {
            "loading_scale": spread * np.exp(priors.log_scale_sd * rng.standard_normal()),
            "easiness_mean": priors.easiness_mean_sd * rng.standard_normal(),
            "easiness_scale": priors.easiness_scale
            * np.exp(priors.log_scale_sd * rng.standard_normal()),
            "dif_scale": priors.dif_scale_sd * abs(rng.standard_normal()),
        }
        return ModelBoards(**self.sizes, **scales).draw(rng)

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes."""
        return {"prior": self.sizes}


@dataclass(frozen=True, kw_only=False, slots=True)
class Setting:
    """What is drawn, and with which K it is audited."""

    world: str
    size: str
    effects: str
    k: int | None = None
    sparse: bool = False

    @property
    def name(self) -> str:
        """Name of the folder and of rows."""
        own = " sparse" if self.sparse else "" if self.k is None else f" K{self.k}"
        return f"{self.world} {self.size} {self.effects}{own}"

    def boards(self) -> Any:
        """Return what draws."""
        from neartie.audits.comparison_boards import DesignBoards, ModelBoards

        n_items, n_models, n_families, k = SIZES[self.size]
        sizes = {
            "n_items": n_items,
            "n_models": n_models,
            "n_owners": n_models // 2,
            "n_families": n_families,
            "dimension": k,
        }
        if self.world == "prior":
            return PriorBoards(sizes=sizes)
        strength = EFFECTS[self.effects]
        if self.world == "model":
            return ModelBoards(**sizes, dif_scale=(0.0, 0.25, 0.75)[strength])
        return DesignBoards(
            design={
                "n_items": n_items,
                "n_models": n_models,
                "n_owners": n_models // 2,
                "families": n_families,
                "n_dimensions": k,
                "n_unclassified": 0,
                "n_sources": 4,
                "dif_effect": (0.0, 1.5, 3.0)[strength],
            }
        )

    @property
    def dimension(self) -> int:
        """K of audit and models."""
        return SIZES[self.size][3] if self.k is None else self.k


def settings() -> list[Setting]:
    """Return all settings, the quick ones first."""
    found = [
        Setting(world, size, effects)
        for size in SIZES
        for world in ("model", "leaderboard")
        for effects in EFFECTS
        if (world, size) != ("leaderboard", "480 x 320")
    ]
    more = [
        Setting("leaderboard", "240 x 200", effects, k)
        for k in (1, 8)
        for effects in ("no", "strong")
    ]
    drawn = [Setting("prior", size, DRAWN) for size in SIZES]
    return drawn + found + more + [Setting("leaderboard", "240 x 200", "strong", sparse=True)]


def run(setting: Setting, folder: Path, replicates: int | None) -> None:
    """Draw and compare the leaderboards of a setting."""
    from neartie.audits.compare_simulated import simulate_comparison
    from neartie.audits.comparison_settings import ComparisonSettings
    from neartie.audits.settings import AuditSettings

    own = folder / setting.name.replace(" ", "_")
    own.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    n = replicates or REPLICATES[setting.size]
    simulate_comparison(
        setting.boards(),
        ComparisonSettings(
            rungs=("full",) if setting.sparse else RUNGS,
            options={"sparse": True} if setting.sparse else {},
            draws=200,
            offsets=20,
            chains=1,
            tune=300,
            thin=3,
            subtests=100,
        ),
        audit=AuditSettings(
            dimension=setting.dimension, controls=400, bootstraps=0, min_family_size=5, alpha=0.5
        ),
        replicates=n,
        folder=own,
        rng=20261130,
    )
    print(f"{setting.name}: {n} leaderboards, {time.process_time() - began:.0f} CPU s", flush=True)


def run_fixed(setting: Setting, folder: Path, replicates: int) -> None:
    """Let the full posterior score the audit's anchors, and a subtest that no answer has chosen."""
    import warnings

    from neartie import audit_near_ties
    from neartie.audits.comparison_base import comparison_base
    from neartie.audits.comparison_rows import interval
    from neartie.audits.comparison_settings import ComparisonSettings
    from neartie.audits.comparison_truth import true_targets
    from neartie.audits.rung_run import judge_draws, make_draws
    from neartie.audits.settings import AuditSettings
    from neartie.audits.steps import silent
    from neartie.data.errors import DataError

    warnings.simplefilter("ignore")
    compared = ComparisonSettings(
        rungs=("full",), draws=400, chains=1, tune=300, thin=3, subtests=10
    )
    audit = AuditSettings(
        dimension=setting.dimension, controls=0, bootstraps=0, min_family_size=5, alpha=0.5
    )
    with (folder / FIXED).open("a", encoding="utf-8") as stream:
        for number in range(replicates):
            # Other leaderboards than those of `run`.
            rng = np.random.default_rng([20261130, number, 7])
            board = setting.boards().draw(rng)
            try:
                base = comparison_base(
                    board.responses, audit_near_ties(board.responses, audit, rng=number)
                )
            except DataError as error:
                # The prior makes leaderboards on which most models solve nothing.
                print(f"{setting.name}, {number}: {error}", flush=True)
                continue
            drawn = make_draws(base, "full", compared, seed=number, cores=1, progress=silent)
            for anchors, own in {"plug-in": base, "random": with_random(base, rng)}.items():
                target = true_targets(own, board.truth, compared, seed=number)
                rung = judge_draws(
                    own,
                    "full",
                    drawn,
                    compared,
                    seed=number,
                    kinds=("plug-in",),
                    scores=("latent",),
                    progress=silent,
                )
                rates = rung.cells[0].rate
                low, high = interval(rates)
                true = target.rate["plug-in", "latent"]
                row = {"setting": setting.name, "board": number, "anchors": anchors}
                row |= {"true": true, "rate": float(rates.mean()), "low": low, "high": high}
                # Where the truth lies among the draws, ties by half.
                row["place"] = float((rates < true).mean() + (rates == true).mean() / 2)
                stream.write(json.dumps(row) + "\n")
            stream.flush()


def with_random(base: Any, rng: np.random.Generator) -> Any:
    """Return a comparison with a random subtest in the place of the audit's anchors."""
    from dataclasses import replace

    from neartie.audits.controls import draw_subtests

    halves = []
    for half in base.halves:
        chosen = draw_subtests(half.anchors, 1, rng=rng)[0]
        subtest = replace(half.anchors, selected=chosen)
        halves.append(replace(half, purified=replace(half.purified, subtest=subtest)))
    return replace(base, halves=(halves[0], halves[1]))


def read(setting: Setting, folder: Path) -> Any:
    """Return what is finished of a setting, or None."""
    from neartie.audits.comparison_settings import ComparisonSettings
    from neartie.audits.recovery import collect_recovery
    from neartie.audits.settings import AuditSettings
    from neartie.audits.validation_store import RECORDS

    path = folder / setting.name.replace(" ", "_") / RECORDS
    if not path.exists():
        return None
    lines = path.read_text(encoding="utf-8").split("\n")[1:-1]
    if not lines:
        return None
    return collect_recovery(
        [json.loads(line) for line in lines],
        boards={},
        settings=ComparisonSettings(),
        audit=AuditSettings(),
        seed=0,
        versions={},
    )


def main() -> None:
    """Run, or write tables of what is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", action="append", help="settings whose name begins so")
    parser.add_argument("--replicates", type=int)
    parser.add_argument(
        "--fixed", type=int, metavar="N", help="score random anchors on N leaderboards instead"
    )
    parser.add_argument("--show", action="store_true", help="print what is there")
    parser.add_argument(
        "--write", action="store_true", help="write the tables of the documentation"
    )
    chosen = parser.parse_args()
    if chosen.write:
        found = {setting: read(setting, chosen.folder) for setting in settings()}
        finished = {setting: own for setting, own in found.items() if own is not None}
        scored = chosen.folder / FIXED
        lines = scored.read_text(encoding="utf-8").splitlines() if scored.exists() else []
        write(finished, RUNGS, [json.loads(line) for line in lines])
        return
    wanted = [
        s for s in settings() if not chosen.only or any(s.name.startswith(o) for o in chosen.only)
    ]
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for setting in wanted:
        if chosen.fixed:
            run_fixed(setting, chosen.folder, chosen.fixed)
        elif chosen.show:
            found = read(setting, chosen.folder)
            if found is not None:
                print(setting.name, found.to_dict()["n_replicates"])
                with pd.option_context("display.width", 250, "display.max_columns", 40):
                    print(found.table.round(3).to_string())
                    print(found.anchors.round(3).to_string())
        else:
            run(setting, chosen.folder, chosen.replicates)


if __name__ == "__main__":
    main()
