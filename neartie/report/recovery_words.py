"""What was drawn for simulated comparisons, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neartie.audits.recovery import Recovery
from neartie.data.wording import true_minus


def board_words(boards: Mapping[str, Any]) -> str:
    """Return what the leaderboards of a simulation are.

    Parameters
    ----------
    boards : mapping
        Of `to_dict` of the boards.

    Returns
    -------
    str

    Examples
    --------
    >>> board_words({"design": {"n_items": 80, "dif_effect": 0}})
    'invented leaderboards, each with a truth of its own: items 80, dif-effect 0'
    >>> board_words({"design": {}})
    'invented leaderboards, each with a truth of its own: the usual design'
    """
    if "like" in boards:
        factor = boards["dif_factor"]
        effects = {0: "without family effects", 1: "with its family effects"}.get(
            factor, f"with {true_minus(f'{factor:g}')} times its family effects"
        )
        return (
            f"a parametric bootstrap of your data ({boards['n_items']:,} items, "
            f"{boards['n_models']:,} models): answers drawn anew from its fit with "
            f"K = {boards['dimension']}, {effects}"
        )
    own = boards.get("model", boards.get("design", {}))
    said = ", ".join(f"{argument_name(name)} {_shown(value)}" for name, value in own.items())
    what = "drawn from the full model itself" if "model" in boards else "invented"
    kind = "leaderboards, each with a truth of its own"
    return (
        f"{what} {kind}: {said or 'the usual design'}"
        if what == "invented"
        else f"{kind}, {what}: {said}"
    )


def argument_name(name: str) -> str:
    """Return how `--design` calls an argument.

    Examples
    --------
    >>> argument_name("n_items"), argument_name("dif_share")
    ('items', 'dif-share')
    """
    return name.removeprefix("n_").replace("_", "-")


def reading(found: Recovery) -> tuple[tuple[str, str], ...]:
    """Return how bias, coverage and claims are to be read, as heads and sentences.

    Parameters
    ----------
    found : Recovery

    Returns
    -------
    tuple of (str, str)
    """
    n = found.to_dict()["n_replicates"]
    return (
        (
            "What the truth is.",
            (
                "With observed scores: the reversal rate of the answers under the anchors of the true D. "
                "With latent scores: that of the true expected scores, under the plug-in's anchors or, in "
                "all other rows, under those of the true D. Replicated: the mean rate of answers drawn "
                "anew from the truth. Every leaderboard has a truth of its own."
            ),
        ),
        (
            "What a bias is made of.",
            (
                "Anchors that are estimated are not the true ones, so that rates fall towards those of "
                "random subtests. Anchors that are chosen draw by draw fall further. Intervals of fixed "
                "anchors do not count that the anchors are estimated, and hold the true rate less often."
            ),
        ),
        (
            "Claims.",
            (
                "An excess is claimed with p at most .05 against matched random subtests that are scored "
                "in the same way. Where there is no DIF, claims are false ones, which may be 5%. An "
                "interval of the excess above 0 is no such test: it says that these anchors reverse "
                "more than the median random subtest, which every other random subtest does."
            ),
        ),
        (
            "How sure this is.",
            (
                f"There are {n} leaderboards. A coverage of 95% has a Monte Carlo error of "
                f"{100 * (0.95 * 0.05 / n) ** 0.5:.1f} points with so many, and of 2.2 with 100; ask for "
                "more with the same command, which adds to those that are there."
            ),
        ),
    )


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "/".join(map(str, value))
    if isinstance(value, int | float):
        return true_minus(f"{value:g}" if isinstance(value, float) else str(value))
    return str(value)
