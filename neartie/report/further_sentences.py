"""The sentences of the further checks: pure functions from numbers to words, each with its rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neartie.audits.attribution import Attribution
from neartie.audits.control_comparison import DISCRIMINATION, MATCHED, PERMUTED, PROFILE
from neartie.audits.further_checks import FurtherChecks
from neartie.audits.replication import Replication
from neartie.audits.replication_families import FamilyReplication
from neartie.audits.robustness import Robustness
from neartie.audits.sign_checks import SignChecks
from neartie.report.formatting import (
    SIGNIFICANT,
    correlation,
    count,
    is_missing,
    p_text,
    percent,
    plural,
    signed,
)
from neartie.report.further_tables import statistic

FLATTER = (
    "Items with little residual DIF are also flatter: they tell less about models, and flatter "
    "items reverse more near ties whatever the families. Random subtests matched on source and "
    "easiness do not share that; anchors chosen under permuted family labels do."
)


def permuted_answer(checks: FurtherChecks) -> str:
    """Return what the excess over permuted family labels says, in a sentence or two; or nothing.

    The rule: with a positive excess and p at most .05 the labels matter beyond flat items; else,
    where the excess over random subtests is significant, that one may be flatness; else neither
    control is exceeded.

    Parameters
    ----------
    checks : FurtherChecks

    Returns
    -------
    str
    """
    row = checks.control(PERMUTED)
    if row is None:
        return ""
    base = (
        f"Anchors chosen under permuted family labels reverse {percent(row['median'])}% in the "
        f"median of {plural(int(row['n']), 'permutation')}; the excess over them is "
        f"{signed(row['excess_pp'])} points ({p_text(row['p_value'])})"
    )
    if _exceeds(row):
        verdict = (
            ", so the true labels lead to more reversals than flat items alone: families make a "
            "difference, by DIF or by ability that K dimensions do not take up."
        )
    elif _exceeds(checks.control(MATCHED)):
        verdict = (
            ", which is not reliably above zero: what exceeds the random subtests may come from "
            "anchors that are flatter than other items, and need not have to do with families."
        )
    else:
        verdict = ": no reliable excess over either control."
    return base + verdict + coarse_p(int(row["n"])) + _profile(checks)


def _profile(checks: FurtherChecks) -> str:
    """Return what the control says that answers to families of different ability; or nothing."""
    row = checks.control(PROFILE)
    if row is None:
        return ""
    found = (
        " Random subtests matched on discrimination and on what the family-blind model expects of "
        f"every family reverse {percent(row['median'])}% (excess {signed(row['excess_pp'])} points, "
        f"{p_text(row['p_value'])}): "
    )
    if _exceeds(row):
        return found + (
            "flat items, or ability that the model left behind, are unlikely to be all of it, though "
            "with families of different profiles this control, too, rejects more often than it says."
        )
    if not any(_exceeds(checks.control(name)) for name in (MATCHED, PERMUTED)):
        return found + "no reliable excess over it either."
    return found + (
        "abilities in which families differ may be behind what exceeds the other controls, "
        "though this control has the least power."
    )


def _exceeds(row: dict[str, Any] | None) -> bool:
    return row is not None and bool(row["excess_pp"] > 0 and row["p_value"] <= SIGNIFICANT)


def coarse_p(n: int) -> str:
    """Return that p cannot be small with so few permutations, where it cannot."""
    if n + 1 >= 1 / SIGNIFICANT:
        return ""
    return f" With {plural(n, 'permutation')} p cannot come below {1 / (n + 1):.2g}: take 99."


def controls_sentences(checks: FurtherChecks) -> tuple[str, ...]:
    """Return why there are further controls, and what each says."""
    found = [FLATTER]
    if answer := permuted_answer(checks):
        found.append(answer)
    row = checks.control(DISCRIMINATION)
    if row is not None:
        found.append(
            f"Random subtests matched on discrimination too reverse {percent(row['median'])}% "
            f"(excess {signed(row['excess_pp'])} points, {p_text(row['p_value'])})."
        )
    return tuple(found)


def robustness_sentences(robustness: Robustness) -> tuple[str, ...]:
    """Return how many perturbations agree with the primary analysis, and how to read that."""
    table = robustness.table.iloc[1:]
    defined = table["excess_pp"].dropna()
    if defined.empty:
        return ("No perturbed population could be audited; the table says why.",)
    lost = len(table) - len(defined)
    undefined = (
        f"; {plural(lost, 'perturbation has', 'perturbations have')} no result" if lost else ""
    )
    return (
        (
            f"Of {plural(len(table), 'perturbation')} of the population, {robustness.n_positive} have an "
            f"excess above zero and {robustness.n_significant} have p at most .05 (excess from "
            f"{signed(defined.min())} to {signed(defined.max())} points){undefined}."
        ),
        (
            "K is that of the primary analysis; halves, directions, residual effects, anchors and "
            f"{count(robustness.settings['controls'])} random subtests were made anew. Perturbed "
            "populations share most of their models: small p values do not add up."
        ),
    )


def replication_sentences(replication: Replication) -> tuple[str, ...]:
    """Return what the three statistics are, and whether the signed one replicates."""
    rows = {row["statistic"]: row for row in replication.table.to_dict("records")}
    rho = rows["median_rho"]
    if is_missing(rho["value"]):
        verdict = "The correlation of signatures is undefined: a half has no variation in them."
    elif is_missing(rho["p_value"]):
        verdict = f"The median correlation of signatures is {correlation(rho['value'])}."
    else:
        returns = rho["value"] > 0 and rho["p_value"] <= SIGNIFICANT
        verdict = (
            f"Signed effects {'return' if returns else 'do not reliably return'} with other owners: "
            f"the median correlation over families is {correlation(rho['value'])} "
            f"({p_text(rho['p_value'])})."
        )
    return (
        verdict,
        (
            f"Of the {count(replication.n_top)} items with the largest range in half 0, "
            f"{count(replication.n_both)} are among those of half 1, and of these "
            f"{count(replication.n_agree)} favour the same family. Replication does not imply that "
            "near ties reverse."
        ),
    )


def family_replication_sentence(found: FamilyReplication) -> str:
    """Return the three statistics beside those under permuted families, and which exceed them."""
    names = {
        "median_rho": "the correlation",
        "overlap": "the overlap",
        "agreement": "the agreement",
    }
    rows = found.table.dropna(subset=["value", "p_value"]).to_dict("records")
    if not rows:
        return "Under permuted families no statistic could be compared."
    parts = []
    for row in rows:
        name, unit = row["statistic"], "" if row["statistic"] == "median_rho" else "%"
        value, chance = statistic(name, row["value"]), statistic(name, row["chance"])
        parts.append(
            f"{names[name]} is {value}{unit} against {chance}{unit} ({p_text(row['p_value'])})"
        )
    above = [names[row["statistic"]] for row in rows if row["p_value"] <= SIGNIFICANT]
    if above:
        verdict = (
            f"What exceeds it ({_joined(above)}) points to families: DIF, or ability that the model "
            "left behind."
        )
    elif coarse := coarse_p(int(found.settings["permutations"])):
        verdict = coarse.strip()
    else:
        verdict = (
            "None reliably exceeds it: what exceeds chance within cells may be noise, which is large "
            "in both halves for items that tell little."
        )
    return f"Beside permuted families {_joined(parts)}. {verdict}"


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def attribution_sentences(attribution: Attribution) -> tuple[str, ...]:
    """Return the sign checks, with the test that needs no independence beside the binomial one."""
    effects = _signs("source effects", attribution.effects)
    if attribution.p_labels is not None and attribution.effects.n:
        effects += (
            f" As many return when source labels are shuffled over items with "
            f"{p_text(attribution.p_labels)}; this p takes no check as independent of another."
        )
    return (
        effects,
        _signs("contributions of sources to score shifts", attribution.shifts),
        "Contributions add up exactly to a family's anchor score minus its full score.",
    )


def _signs(what: str, checks: SignChecks) -> str:
    if not checks.n:
        return f"No sign of {what} could be checked."
    return (
        f"Of {count(checks.n)} extreme {what}, {count(checks.hits)} keep their sign in the other "
        f"half (binomial {p_text(checks.p_value)}, as if checks were independent)."
    )


def shifts_sentence() -> str:
    """Return how to read family shifts."""
    return (
        "A shift is what low-DIF scoring of this benchmark does to a family's mean score, with "
        "owners resampled. It describes the composition of the benchmark, and ranks no family."
    )
