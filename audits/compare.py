"""Does the posterior say what the cross-fitted plug-in says? The ladder, rung by rung."""

from __future__ import annotations

import platform
import warnings
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neartie.audits.audit_tables import LIBRARIES
from neartie.audits.comparison import Comparison
from neartie.audits.comparison_base import ComparisonBase, comparison_base
from neartie.audits.comparison_caveats import comparison_caveats, crowding
from neartie.audits.comparison_rows import calibration_rows, ladder_row, pair_rows
from neartie.audits.comparison_settings import (
    BOOTSTRAP,
    PLUG_IN,
    RESIDUAL,
    ComparisonSettings,
)
from neartie.audits.comparison_store import FOLDER, RungStore, fingerprint
from neartie.audits.draw_anchors import DRAWS
from neartie.audits.near_tie import audit_near_ties
from neartie.audits.result import NearTieAudit
from neartie.audits.rung_result import RungResult
from neartie.audits.rung_run import checkpoint_of, run_rung
from neartie.audits.rungs import finished_half
from neartie.audits.settings import AuditSettings
from neartie.audits.steps import HALVES, Progress, seed_of, silent
from neartie.data.errors import CaveatWarning
from neartie.data.responses import Responses

_LIBRARIES = (*LIBRARIES, "pymc", "arviz")
_FACTS = ("converged", "verdict", "max_rhat", "min_ess_bulk", "min_ess_tail", "pareto_k")


def compare(
    responses: Responses,
    settings: ComparisonSettings | None = None,
    *,
    audit: NearTieAudit | AuditSettings | None = None,
    folder: str | PathLike[str] | None = None,
    cores: int | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator | int | None = None,
) -> Comparison:
    r"""Return the plug-in's reversal rate held against posteriors, rung by rung.

    Parameters
    ----------
    responses : Responses
        Complete right/wrong answers, as for `audit_near_ties`.
    settings : ComparisonSettings, optional
    audit : NearTieAudit or AuditSettings, optional
        The audit of these responses, or how to make it; the paper's settings when left out.
    folder : path, optional
        Where finished rungs are kept, so that a stopped comparison goes on; none when left out.
    cores : int, optional
        Chains at a time. It changes no number.
    progress : callable, optional
        Called with the name of a step and the share of it that is done.
    rng : Generator, int or None
        One whole number is drawn as the seed (an int is the seed itself), also of the audit if it
        is made here. Every rung has a stream of its own: leaving one out changes no other.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        If the data do not allow the audit, the audit is of other data, or the folder holds another
        comparison.
    ConvergenceError
        If a fit fails.

    Warns
    -----
    CaveatWarning
        If K is more than a quarter of the models of a half.

    Notes
    -----
    Let h be the half that chooses anchors, h' the other, whose representatives are scored. The
    plug-in is the reversal rate of h' with weights from the D of h, pooled over the swap. Every
    rung repeats it with draws of its own, made in both halves apart (a cut posterior: anchors and
    scores share no data).

    Anchors: `plug-in`; `draws`, by D of every draw; `mean`, by D of the mean effects; `inclusion`,
    the items that are most often anchors. All use the cells of the audit. Scores: `observed`;
    `latent`, the expected score of every draw on all items and on the anchors; `predictive`, scores
    of replicated answers. The pairs are the near ties of the observed scores throughout; they were
    selected on noise, so that their latent gaps are not the observed ones.

    A single draw of D is noisier than its mean, so that `draws` comes closer to random subtests,
    and D, a largest less a smallest value, grows with noise: compare with `mean`, and with
    simulated truth.

    Rungs: `plug-in`; `residual`, the posterior of item effects beside the audit's fixed offset, of
    which the plug-in is the mode; `residual-bootstrap`, the same with the offset estimated anew over
    bootstrap owners; `laplace`, `pathfinder`, `advi`, approximations of the full model; `full`.

    References
    ----------
    P0, 3.2-3.4, appendices C and D.1.

    Examples
    --------
    >>> from neartie.data.example import load_example
    >>> quick = AuditSettings(dimension=2, controls=200, bootstraps=0)
    >>> settings = ComparisonSettings(rungs=("residual",), draws=20, subtests=50)
    >>> compared = compare(load_example(), settings, audit=quick, rng=1)
    >>> float(compared.row("plug-in", "plug-in", "observed")["difference"])
    0.0
    """
    settings = settings or ComparisonSettings()
    say = progress or silent
    seed = seed_of(rng)
    if not isinstance(audit, NearTieAudit):
        audit = audit_near_ties(responses, audit, rng=seed, progress=progress)
    base = comparison_base(responses, audit)
    # to be heard before the work, and once more with its result
    for caveat in crowding(base, settings):
        warnings.warn(caveat, CaveatWarning, stacklevel=2)
    store = RungStore(folder, _signature(responses, audit, settings, seed))
    # all of them first: a rung that cannot be taken is to be heard of before others are made
    stored = {name: store.load(name) for name in settings.ladder}
    rungs = []
    for name in settings.ladder:
        rung = stored[name]
        if rung is None:
            rung = run_rung(
                base,
                name,
                settings,
                seed=seed,
                folder=_checkpoints(folder),
                cores=cores,
                progress=say,
            )
            store.add(rung)
            _remove_halves(folder, name)
        rungs.append(rung)
        say(name, 1.0)
    return assemble_comparison(base, rungs, settings, seed=seed)


def assemble_comparison(
    base: ComparisonBase, rungs: list[RungResult], settings: ComparisonSettings, *, seed: int
) -> Comparison:
    """Return the tables of a comparison from its rungs.

    Parameters
    ----------
    base : ComparisonBase
    rungs : list of RungResult
        The plug-in first.
    settings : ComparisonSettings
    seed : int

    Returns
    -------
    Comparison
    """
    audit = base.audit
    pairs = _near_pairs(base, rungs[0])
    verdicts = pairs["plugin_reversed"].to_numpy(dtype=float)
    cells = [(rung, cell) for rung in rungs for cell in rung.cells]
    headline = settings.headline
    for rung in rungs:
        cell = rung.cell(*headline) or rung.cell(PLUG_IN, headline[1])
        if rung.name != PLUG_IN and cell is not None:
            pairs[rung.name] = cell.reversal
    ladder = pd.DataFrame(
        [ladder_row(rung, cell, audit, settings, verdicts) for rung, cell in cells]
    )
    return Comparison(
        audit=audit,
        ladder=ladder,
        rungs=_rung_table(base, rungs, settings),
        pairs=pairs,
        pair_probabilities=pd.concat(
            [pair_rows(pairs, rung, cell) for rung, cell in cells], ignore_index=True
        ),
        calibration=pd.DataFrame(
            [row for rung, cell in cells for row in calibration_rows(rung, cell, verdicts)]
        ),
        anchors=_anchor_table(base, rungs),
        settings=settings,
        seed=seed,
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        warnings=comparison_caveats(base, rungs, settings),
    )


def _near_pairs(base: ComparisonBase, plug_in: RungResult) -> pd.DataFrame:
    """Return the frozen near ties with the plug-in's verdicts, half 0 first."""
    parts = []
    for half in base.halves:
        models = np.array(half.responses.model_ids, dtype=object)[half.representatives]
        parts.append(
            pd.DataFrame(
                {
                    "model_a": models[half.near.first],
                    "model_b": models[half.near.second],
                    "half": half.number,
                    "gap_full": half.near.gap / half.near.n_items,
                }
            )
        )
    cell = plug_in.cell("plug-in", "observed")
    pairs = pd.concat(parts, ignore_index=True)
    return pairs.assign(plugin_reversed=np.nan if cell is None else cell.reversal)


def _rung_table(
    base: ComparisonBase, rungs: list[RungResult], settings: ComparisonSettings
) -> pd.DataFrame:
    own = settings.dimensions(*base.audit.k)
    rows = []
    for rung in rungs:
        spectral = rung.name in (PLUG_IN, RESIDUAL, BOOTSTRAP)
        for half, facts in enumerate(rung.facts):
            row: dict[str, Any] = {
                "rung": rung.name,
                "half": half,
                "k": (base.audit.k if spectral else own)[half],
            }
            row |= {name: facts.get(name) for name in _FACTS}
            rows.append(row | {"seconds": rung.seconds})
    return pd.DataFrame(rows)


def _anchor_table(base: ComparisonBase, rungs: list[RungResult]) -> pd.DataFrame:
    table = base.audit.items[["item", "source", "half", "cell", "dif_range", "anchor"]].copy()
    for rung in rungs[1:]:
        table[f"dif_range_{rung.name}"] = rung.mean_range.ravel()
        table[f"inclusion_{rung.name}"] = rung.chosen[DRAWS].ravel()
    return table


def _signature(
    responses: Responses, audit: NearTieAudit, settings: ComparisonSettings, seed: int
) -> dict[str, Any]:
    """Return what stored rungs must share with a comparison; of its settings, those of each rung."""
    return {
        "data": fingerprint(responses),
        "audit": [audit.settings, audit.seed, list(audit.k)],
        "comparison": {name: settings.of_rung(name) for name in settings.ladder},
        "seed": seed,
    }


def _checkpoints(folder: str | PathLike[str] | None) -> Path | None:
    if folder is None:
        return None
    path = Path(folder) / FOLDER
    path.mkdir(parents=True, exist_ok=True)
    return path


def _remove_halves(folder: str | PathLike[str] | None, name: str) -> None:
    """Remove the draws of single halves, which the whole rung has made superfluous."""
    place = _checkpoints(folder)
    if place is not None:
        for half in HALVES:
            finished_half(checkpoint_of(place, name, half)).unlink(missing_ok=True)
