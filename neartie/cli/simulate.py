"""`neartie simulate`: an invented leaderboard and the truth behind it, as files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neartie.cli.options import OutOption, SeedOption

if TYPE_CHECKING:
    from neartie.data.truth import SimulatedLeaderboard

# How an argument of `simulate_leaderboard` is called on the command line.
_OPTIONS = {
    "n_items": "--items",
    "n_models": "--models",
    "n_owners": "--owners",
    "n_unclassified": "--unclassified",
    "n_sources": "--sources",
    "n_dimensions": "--dimensions",
    "dif_share": "--dif-share",
    "dif_effect": "--dif-effect",
}
_TRUTH = ("truth_items.csv", "truth_models.csv")


def simulate(
    out: OutOption,
    items: Annotated[int, typer.Option("--items", help="Number of items.")] = 1000,
    models: Annotated[int, typer.Option("--models", help="Number of models.")] = 240,
    owners: Annotated[int, typer.Option("--owners", help="Number of owners.")] = 120,
    families: Annotated[
        str, typer.Option("--families", help="How many, or names with commas between.")
    ] = "5",
    unclassified: Annotated[
        int, typer.Option("--unclassified", help="Models whose id names no family, or several.")
    ] = 8,
    sources: Annotated[int, typer.Option("--sources", help="Number of sources.")] = 8,
    dimensions: Annotated[int, typer.Option("--dimensions", help="Dimensions of ability.")] = 3,
    impact: Annotated[
        float, typer.Option("--impact", help="Spread of family means of ability; 0: no difference.")
    ] = 0.3,
    dif_share: Annotated[
        float, typer.Option("--dif-share", help="Share of items with planted family effects.")
    ] = 0.25,
    dif_effect: Annotated[
        float, typer.Option("--dif-effect", help="Range of an item's family effects, in logits.")
    ] = 3.0,
    direction: Annotated[
        str, typer.Option("--direction", help="'random', 'shared', or the family to favour.")
    ] = "shared",
    missing: Annotated[
        float, typer.Option("--missing", help="Chance of an answer to be missing.")
    ] = 0.0,
    seed: SeedOption = 0,
) -> None:
    """Write an invented leaderboard, with the truth that an audit of it should find."""
    from neartie.data.errors import DataError
    from neartie.data.export import write_responses
    from neartie.data.files import output_folder, write_csv_atomic, write_json_atomic
    from neartie.data.simulate import simulate_leaderboard

    try:
        board = simulate_leaderboard(
            n_items=items,
            n_models=models,
            n_owners=owners,
            families=int(families) if families.strip().isdecimal() else _names(families),
            n_unclassified=unclassified,
            n_sources=sources,
            n_dimensions=dimensions,
            impact=impact,
            dif_share=dif_share,
            dif_effect=dif_effect,
            direction=direction,
            missing=missing,
            rng=seed,
        )
    except ValueError as error:
        raise DataError(_in_options(str(error))) from error
    with output_folder(out) as folder:
        write_responses(board.responses, folder)
        write_csv_atomic(board.truth.item_table(), folder / _TRUTH[0])
        write_csv_atomic(board.truth.model_table(), folder / _TRUTH[1])
        write_json_atomic(_summary(board), folder / "summary.json")
    print(_report(board, out))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _in_options(message: str) -> str:
    """Name options in place of arguments, for the user at the keyboard."""
    message = re.sub(r"^(families|impact|direction|missing)\b", r"--\1", message)
    return re.sub(r"\w+", lambda word: _OPTIONS.get(word[0], word[0]), message)


def _summary(board: SimulatedLeaderboard) -> dict[str, object]:
    import numpy as np

    import neartie

    responses, truth = board.responses, board.truth
    accuracy = responses.accuracy()["accuracy"]
    return {
        "n_items": responses.n_item,
        "n_models": responses.n_model,
        "n_owners": responses.models["owner"].nunique(),
        "n_sources": responses.items["source"].nunique(),
        "families": responses.models["family"].value_counts().sort_index().to_dict(),
        "n_planted": int(truth.planted.sum()),
        "n_missing": responses.n_missing,
        "accuracy_low": accuracy.min(),
        "accuracy_high": accuracy.max(),
        "seed": truth.settings["seed"],
        "settings": {name: value for name, value in truth.settings.items() if name != "seed"},
        "versions": {"neartie": neartie.__version__, "numpy": np.__version__},
        "warnings": [],
    }


def _report(board: SimulatedLeaderboard, out: Path) -> str:
    """Return what was written, and what to do next."""
    from neartie.data.export import ITEMS_FILE, MODELS_FILE, RESPONSES_FILE

    responses, truth = board.responses, board.truth
    planted, settings = int(truth.planted.sum()), truth.settings
    sizes = (
        f"{responses.n_item:,} items in {responses.items['source'].nunique()} sources, "
        f"{responses.n_model:,} models of {responses.models['owner'].nunique()} owners "
        f"({', '.join(truth.families)}), {responses.n_missing:,} answers missing"
    )
    effects = (
        f"family effects on {planted:,} items: range {settings['dif_effect']:g} logits, "
        f"direction {settings['direction']}"
        if planted
        else "no family effects"
    )
    answers, items, models = (
        shlex.quote(str(out / name)) for name in (RESPONSES_FILE, ITEMS_FILE, MODELS_FILE)
    )
    # An audit compares complete answers, so that with gaps a look at them comes first.
    command, end = ("describe", "") if responses.n_missing else ("audit", _audit_folder(out))
    return (
        f"{sizes}\n{effects}\n"
        f"written to {out}: {RESPONSES_FILE}, {ITEMS_FILE}, {MODELS_FILE}, {', '.join(_TRUTH)}, "
        "summary.json\n"
        f"next: neartie {command} {answers} --items {items} --models {models}{end}"
    )


def _audit_folder(out: Path) -> str:
    return f" --out {shlex.quote(str(out / 'audit'))}"
