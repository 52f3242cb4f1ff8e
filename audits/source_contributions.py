"""Mean family effects of sources, and their exact contributions to score shifts (P0, D.3)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from neartie.audits.result import NearTieAudit
from neartie.audits.signatures import Signatures, anchor_subtest, audited_answers
from neartie.data.responses import Responses

type Floats = NDArray[np.float64]


def source_effects(signatures: Signatures) -> Floats:
    """Return the mean centred effect of every source, family and half (P0, eqs 54 and 55).

    Parameters
    ----------
    signatures : Signatures

    Returns
    -------
    (2, n_source, n_family) float, logit
        Sources in plain order of their names.
    """
    _, code = np.unique(np.array(signatures.source).astype(str), return_inverse=True)
    centred = signatures.effects - signatures.effects.mean(axis=1, keepdims=True)
    size = np.bincount(code)
    return np.array(
        [[np.bincount(code, weights=column) / size for column in half.T] for half in centred]
    ).transpose(0, 2, 1)


def source_contributions(audit: NearTieAudit, responses: Responses) -> NDArray[np.object_]:
    """Return what every source adds to every family's score shift (P0, eq 56).

    Parameters
    ----------
    audit : NearTieAudit
    responses : Responses
        What was audited.

    Returns
    -------
    (2, n_source, n_family) Fraction, percentage points
        Row h: anchors of half h on the representatives of the other half. The sum over sources
        is 100 times the family's mean anchor score minus its mean full score, exactly.
    """
    _, values = audited_answers(audit, responses)
    families = sorted(set(audit.dif["family"]))
    source = audit.items.loc[audit.items["half"] == 0, "source"].to_numpy(dtype=object).astype(str)
    sources, code = np.unique(source, return_inverse=True)
    table = audit.population
    out = np.full((2, len(sources), len(families)), Fraction(0), dtype=object)
    for half in (0, 1):
        subtest = anchor_subtest(audit, half)
        cell = subtest.cells
        of_cell = np.array([code[cell.code == c][0] for c in range(len(cell.size))])
        for f, family in enumerate(families):
            mask = (table["half"] == 1 - half) & (table["representative"] == 1)
            members = values[:, (mask & (table["family"] == family)).to_numpy()]
            right = members.sum(axis=1, dtype=np.int64)
            n = len(values) * members.shape[1]
            if not n:
                continue
            anchors = np.bincount(cell.code, weights=right * subtest.selected)
            everything = np.bincount(cell.code, weights=right)
            for c in range(len(cell.size)):
                weight = Fraction(int(cell.size[c]), int(subtest.kept[c]))
                gain = weight * int(anchors[c]) - int(everything[c])
                out[half, of_cell[c], f] += 100 * gain / n
    return out
