"""The further checks as paragraphs for a terminal."""

from __future__ import annotations

from neartie.audits.further_checks import FurtherChecks
from neartie.report import further_sentences
from neartie.report.text import printable, wrapped


def checks_text(checks: FurtherChecks) -> list[str]:
    """Return a paragraph of at most 80 columns a check that was made.

    Parameters
    ----------
    checks : FurtherChecks

    Returns
    -------
    list of str
    """
    found: list[str] = []
    if answer := further_sentences.permuted_answer(checks):
        found.append(answer)
    if checks.robustness is not None:
        found.append(further_sentences.robustness_sentences(checks.robustness)[0])
    if checks.replication is not None:
        found.append(" ".join(further_sentences.replication_sentences(checks.replication)))
    if checks.family_replication is not None:
        found.append(further_sentences.family_replication_sentence(checks.family_replication))
    if checks.attribution is not None:
        found.append(" ".join(further_sentences.attribution_sentences(checks.attribution)[:2]))
    if checks.shifts is not None:
        found.append(f"Family shifts: {checks.shifts}.")
    return [wrapped(printable(text)) for text in found]
