"""A ranking in sentences, and as plain text for a terminal."""

from __future__ import annotations

import textwrap
from typing import Final

from neartie.audits.rank_result import ModelRanking
from neartie.data.wording import listed, printable, visible
from neartie.report.formatting import count, decimal, percent, plural
from neartie.report.rank_tables import probability, span_of

WIDTH: Final = 80
FIRST: Final = 25
_NAME: Final = 34


def rank_answer(ranking: ModelRanking) -> str:
    """Return what the ranking says, in a few sentences.

    Parameters
    ----------
    ranking : ModelRanking

    Returns
    -------
    str
        Names stand in it as they are.
    """
    if ranking.n_models == 1:
        return "There is one model, and nothing to rank."
    level = f"{percent(ranking.level, digits=0)}%"
    parts = [] if ranking.n_components > 1 else [_best(ranking, level)]
    known = ranking.pairs[ranking.pairs["identified"] == 1]
    if len(known):
        single, joint = int(known["resolved"].sum()), int(known["resolved_jointly"].sum())
        if len(known) == 1:
            verb = "is" if single else "is not"
            parts.append(f"The order of the pair {verb} resolved at {level}.")
        else:
            parts.append(
                f"Of {count(len(known))} pairs, {count(single)} ({percent(single / len(known))}%) "
                f"are resolved at {level} each for itself, and {count(joint)} "
                f"({percent(joint / len(known))}%) all at once."
            )
    sets = plural(ranking.n_components, "connected set")
    inside = f" in {sets}" if ranking.n_components > 1 else ""
    verb = "falls" if ranking.n_models == 1 else "fall"
    parts.append(
        f"The {plural(ranking.n_models, 'model')} {verb} into {plural(ranking.n_tiers, 'tier')}"
        f"{inside}."
    )
    return " ".join(parts)


def kind_sentence(ranking: ModelRanking) -> str:
    """Return what the probabilities and intervals rest on."""
    what = ranking.label.replace("_", " ")
    if ranking.has_draws:
        return (
            f"Ranked by {what}, over {count(ranking.n_draws)} draws ({ranking.kind}). Probabilities "
            "are shares of draws: they hold as far as the model and its prior do."
        )
    return (
        f"Ranked by {what}, from estimates with their covariance ({ranking.kind}). Probabilities "
        "are those of the normal approximation around them, with whatever prior or phantom wins they "
        f"were made with; ranks rest on {count(ranking.n_draws)} draws from it."
    )


def rank_text(ranking: ModelRanking) -> str:
    """Return a short plain text: warnings, answer, head of the list.

    Parameters
    ----------
    ranking : ModelRanking

    Returns
    -------
    str
        Ends without a line break.
    """
    parts = [_wrapped(f"Warning: {printable(warning)}") for warning in ranking.warnings]
    parts.append(_wrapped(printable(rank_answer(ranking))))
    head = ranking.ranks.head(FIRST)
    lines = [f"{'tier':>4} {'rank':>5}  {'all at once':>11}  {'P(best)':>7} {'score':>8}  model"]
    tier: tuple[int, int] | None = None
    for row in head.to_dict("records"):
        here = (row["component"], row["tier"])
        mark = str(row["tier"]) if here != tier else ""
        if tier is not None and here[0] != tier[0]:
            lines.append("      (not comparable with those above)")
        tier = here
        lines.append(
            f"{mark:>4} {count(row['rank']):>5}  "
            f"{span_of(row['rank_set_low'], row['rank_set_high']):>11}  "
            f"{probability(row['p_best']):>7} {decimal(row['estimate'], digits=3):>8}  "
            f"{visible(row['model'], _NAME)}"
        )
    if ranking.n_models > FIRST:
        lines.append(f"... and {plural(ranking.n_models - FIRST, 'more model', 'more models')}.")
    parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _best(ranking: ModelRanking, level: str) -> str:
    table = ranking.ranks
    heads = table.loc[table["rank"] == 1, "model"].tolist()
    first = table[table["rank_set_low"] == 1]["model"].tolist()
    if len(heads) > 1:
        lead = f"{listed(heads, limit=3)} share the first rank."
    else:
        chance = probability(table["p_best"].iloc[0])
        how = f"probability {chance}" if chance[0] == "." else f"a probability of {chance}"
        how = how.replace("of >", "above ").replace("of <", "below ")
        lead = f"{heads[0]} is ahead, and the best with {how}."
    if len(first) == 1:
        return f"{lead} At {level}, no other model can be first."
    return f"{lead} At {level}, {plural(len(first), 'model')} may be first."


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False))
