"""The further checks as sections of the audit's report."""

from __future__ import annotations

from functools import partial

from neartie.audits.further_checks import FurtherChecks
from neartie.audits.result import NearTieAudit
from neartie.report import further_figures, further_sentences, further_tables
from neartie.report.page import panel
from neartie.report.section import Drawing, Section


def further_sections(audit: NearTieAudit, checks: FurtherChecks) -> tuple[Section, ...]:
    """Return one section a check that was made.

    Parameters
    ----------
    audit : NearTieAudit
    checks : FurtherChecks

    Returns
    -------
    tuple of Section
    """
    makers = (_controls, _robustness, _replication, _sources, _shifts)
    made = (make(audit, checks) for make in makers)
    return tuple(section for section in made if section is not None)


def _controls(audit: NearTieAudit, checks: FurtherChecks) -> Section | None:
    if checks.controls is None:
        return None
    drawing = Drawing(
        panels=(
            panel(
                partial(further_figures.plot_controls, audit, checks),
                size=(6.2, 2.3),
                label="Reversal rates of the controls, with the observed rate",
                salt="controls",
            ),
        ),
        title="Reversal rates of the controls",
        caption=(
            "Light: where 95% of the replicates lie; dark: the middle half; white: the median. The "
            "line is the rate under the anchors."
        ),
    )
    return Section(
        key="controls",
        title="Is it the families?",
        sentences=further_sentences.controls_sentences(checks),
        drawings=(drawing,),
        tables=(further_tables.controls_table(checks.controls),),
    )


def _robustness(_: NearTieAudit, checks: FurtherChecks) -> Section | None:
    found = checks.robustness
    if found is None:
        return None
    drawing = Drawing(
        panels=(
            panel(
                partial(further_figures.plot_robustness, {"": found}),
                size=(6.2, 0.9 + 0.32 * len(found.table)),
                label="Excess reversals by population",
                salt="robustness",
            ),
        ),
        title="Excess reversals under other populations",
        caption="Filled: one-sided p at most .05. The diamond is the primary analysis.",
    )
    return Section(
        key="robustness",
        title="Does it survive other populations?",
        sentences=further_sentences.robustness_sentences(found),
        drawings=(drawing,),
        tables=(further_tables.robustness_table(found),),
    )


def _replication(_: NearTieAudit, checks: FurtherChecks) -> Section | None:
    found = checks.replication
    if found is None:
        return None
    said = further_sentences.replication_sentences(found)
    tables = [further_tables.replication_table(found), further_tables.rho_table(found)]
    beside = checks.family_replication
    if beside is not None:
        said = (*said, further_sentences.family_replication_sentence(beside))
        tables.insert(1, further_tables.family_replication_table(beside))
    return Section(
        key="replication",
        title="Do item signatures return with other owners?",
        sentences=said,
        tables=tuple(tables),
    )


def _sources(_: NearTieAudit, checks: FurtherChecks) -> Section | None:
    found = checks.attribution
    if found is None:
        return None
    tables = (
        (further_tables.source_effects_table(found), found.effects.n),
        (further_tables.source_shifts_table(found), found.shifts.n),
    )
    return Section(
        key="sources",
        title="Which sources carry it?",
        sentences=further_sentences.attribution_sentences(found),
        tables=tuple(table for table, n in tables if n),
    )


def _shifts(_: NearTieAudit, checks: FurtherChecks) -> Section | None:
    found = checks.shifts
    if found is None:
        return None
    drawing = Drawing(
        panels=(
            panel(
                partial(further_figures.plot_shifts, found),
                size=(5.6, 0.9 + 0.3 * len(found.table)),
                label="Family shifts with intervals over owners",
                salt="shifts",
            ),
        ),
        title="Family shifts",
        caption="Anchor minus full score, with 95% intervals over resampled owners.",
    )
    return Section(
        key="shifts",
        title="Which families move?",
        sentences=(further_sentences.shifts_sentence(),),
        drawings=(drawing,),
        tables=(further_tables.shifts_table(found),),
    )
