"""What a reader of a scorecard must know before the numbers: caveats in sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from neartie.audits.scorecard_abilities import DomainAbilities
from neartie.audits.scorecard_result import Scorecard
from neartie.data.wording import counted, listed

#: Fewer anchors than this leave the contamination gap mostly to chance.
FEW_ANCHORS: Final = 30
_NUMBER_OR_NAME: Final = re.compile(r"'[^']*'|\d[\d.,e+-]*")


def scorecard_caveats(
    card: Scorecard,
    found: Sequence[DomainAbilities],
    notices: Sequence[str],
    reader_notices: Sequence[str],
) -> tuple[str, ...]:
    """Return the caveats of a scorecard, worst first.

    Parameters
    ----------
    card : Scorecard
    found : sequence of DomainAbilities
    notices, reader_notices : sequence of str
        What was said on the way, and by readers.

    Returns
    -------
    tuple of str
    """
    said = _alike([(part.domain, notice) for part in found for notice in part.notices])
    return (
        *(f"{part.domain}: the fit did not converge" for part in found if not part.converged),
        *_incomplete(card),
        *_judge_caveats(card),
        *_small_numbers(card),
        *(_sentence(notice) for notice in (*notices, *said, *reader_notices)),
    )


def _alike(notices: Sequence[tuple[str, str]]) -> list[str]:
    """Return notices with their domains, those that differ in numbers and names only in one."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for domain, text in notices:
        groups.setdefault(_NUMBER_OR_NAME.sub("#", text), []).append((domain, text))
    said = []
    for group in groups.values():
        domain, text = group[0]
        others = [name for name, _ in group[1:] if name != domain]
        likewise = f" (likewise, with other numbers, in {listed(others)})" if others else ""
        said.append(f"{domain}: {text}{likewise}")
    return said


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _incomplete(card: Scorecard) -> list[str]:
    if card.models.empty:
        return []
    if not card.models["n_domains"].any():
        return ["No domain gives a score, so that no model has an index; the reasons stand below."]
    lacking = card.models[card.models["complete"] == 0]
    said = []
    if len(lacking):
        verb = "has" if len(lacking) == 1 else "have"
        said.append(
            f"{counted(len(lacking), 'model')} {verb} no rank for want of some domains: "
            f"{listed(lacking['model'].tolist())}. The index of such a model is over its own "
            "domains, as P1 has it, and cannot be set beside the others; shared_index compares all "
            "models on the domains that all of them have."
        )
    if card.models["shared_index"].isna().all():
        said.append("No domain has scores of all models: nothing compares all of them.")
    unknown = card.models["half_width"].isna() & card.models["global_index"].notna()
    if unknown.any():
        said.append(
            f"The global index of {counted(int(unknown.sum()), 'model')} has no interval: for ready "
            "scores nothing is known of their errors."
        )
    return said


def _judge_caveats(card: Scorecard) -> list[str]:
    said = []
    for row in card.duels.to_dict("records"):
        domain = row["domain"]
        if row["n_discarded"]:
            said.append(
                f"{domain}: {counted(row['n_discarded'], 'duel')} discarded for too few judges who "
                f"did not take part."
            )
        if row["n_self"]:
            said.append(
                f"{domain}: {counted(row['n_self'], 'verdict')} left out because the judge took part."
            )
        if row["n_unparsed"]:
            said.append(
                f"{domain}: {counted(row['n_unparsed'], 'verdict')} could not be read and "
                f"{'counts as a tie' if row['n_unparsed'] == 1 else 'count as ties'}."
            )
        if row["n_one_provider"] and not np.isnan(row["n_one_provider"]):
            said.append(
                f"{domain}: {counted(int(row['n_one_provider']), 'duel')} judged by judges of one "
                "provider only."
            )
        if row["share_low"] > 0.5 or row["share_high"] < 0.5:
            side = "first" if row["share_first"] > 0.5 else "second"
            said.append(
                f"{domain}: the {side} shown wins {100 * abs(row['share_first'] - 0.5) + 50:.0f} % of "
                f"decided verdicts (95 %: {100 * row['share_low']:.0f} to {100 * row['share_high']:.0f} "
                "% for the first)."
            )
        if np.isnan(row["position_effect"]):
            said.append(
                f"{domain}: no pair of models was shown in both orders, so that position bias and "
                "strength cannot be told apart."
            )
    undefined = card.agreement[card.agreement["kappa"].isna() & (card.agreement["n"] > 0)]
    if len(undefined):
        first = undefined.iloc[0]
        said.append(
            f"Kappa of {counted(len(undefined), 'pair')} of judges is undefined, such as "
            f"{first['judge_a']!r} and {first['judge_b']!r}: {first['reason']}."
        )
    return said


def _small_numbers(card: Scorecard) -> list[str]:
    said = []
    anchors = card.domains["n_anchor"].astype("Float64")
    known = card.domains["resistance"].notna()
    few = known & (anchors < FEW_ANCHORS)
    if few.any():
        width = (card.domains["gap_high"] - card.domains["gap_low"])[few].median() / 2
        least, most = int(anchors[known].min()), int(anchors[known].max())
        number = f"{least}" if least == most else f"{least} to {most}"
        said.append(
            f"Resistance rests on {number} anchors: "
            f"the gap is known to ±{100 * width:.0f} points or so, of which P1's rule takes "
            f"{100 * card.settings['gap_limit']:.0f} for the whole way from full credit to none."
        )
    stated = card.domains[card.domains["n_confidence"].astype("Float64").fillna(0) > 0]
    if len(stated) and stated["ece_if_calibrated"].notna().any():
        no_worse = int((stated["ece"] <= stated["ece_if_calibrated"]).sum())
        typical = float(stated["ece_if_calibrated"].median())
        said.append(
            f"With {int(pd.Series(stated['n_confidence']).median())} answers (median) a perfectly "
            f"calibrated model would show an ECE of {typical:.3f}; "
            f"{no_worse} of {counted(len(stated), 'case')} (model and domain) {'shows' if no_worse == 1 else 'show'} no more."
        )
    return said
