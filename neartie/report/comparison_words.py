"""What rungs, anchors, scores and verdicts of a comparison mean, in plain words."""

from __future__ import annotations

from typing import Final

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_rows import SURE, UNLIKELY
from neartie.audits.comparison_settings import (
    ADVI,
    BOOTSTRAP,
    FULL,
    LAPLACE,
    PATHFINDER,
    PLUG_IN,
    RESIDUAL,
)
from neartie.audits.draw_anchors import DRAWS, INCLUSION, MEAN
from neartie.audits.draw_reversals import LATENT, OBSERVED, PREDICTIVE

RUNG_WORDS: Final = {
    PLUG_IN: "the audit itself: a spectral offset, penalised family effects, no uncertainty",
    RESIDUAL: "the posterior of easiness and family effects beside the audit's offset, of which the "
    "plug-in is the mode: adds the uncertainty of effects",
    BOOTSTRAP: "the same beside offsets estimated anew over bootstrap owners: adds the uncertainty "
    "of the offset",
    LAPLACE: "the normal density at the joint mode of the full model, its scales held",
    PATHFINDER: "a normal density on the way to the mode of the full model, which ignores most "
    "dependence",
    ADVI: "the normal density without dependence that variational inference finds for the full model",
    FULL: "draws of the posterior of the multidimensional model with family effects: abilities, "
    "loadings, easiness, effects and scales together",
}
ANCHOR_WORDS: Final = {
    PLUG_IN: "the audit's anchors, whatever the rung says",
    DRAWS: "anchors by the D of every draw, one set a draw",
    MEAN: "anchors by the D of the mean effects, one set",
    INCLUSION: "the items that are anchors in most draws, one set",
}
SCORE_WORDS: Final = {
    OBSERVED: "the answers that were given",
    LATENT: "the expected scores of every draw, on all items and on the anchors: what is left if "
    "the noise of answers is taken away",
    PREDICTIVE: "scores of answers drawn anew: what a rerun would show",
}
BIASES: Final = (
    (
        "One draw is noisier than the mean of many.",
        (
            "Anchors that are chosen draw by draw come closer to random subtests, and their reversal "
            "rate drifts towards the random one, even if the posterior is right. The anchors of the "
            "mean effects drift less; where the two differ, that is what noise costs."
        ),
    ),
    (
        "D grows with noise.",
        (
            "It is a largest less a smallest effect, so that the D of a draw, or of the penalised "
            "estimate, lies above that of the truth. Compare orders of items, not sizes."
        ),
    ),
    (
        "The pairs were selected on noise.",
        (
            "They are the near ties of the observed scores, in every cell. Their expected scores differ "
            "by other amounts, mostly more, so that fewer of them reverse once noise is taken away: "
            "compare latent and replicated rates with those of random subtests scored in the same way "
            "(the excess), before comparing them with the plug-in."
        ),
    ),
    (
        "A posterior is right under its model.",
        (
            "Too few dimensions leave ability in the residuals, where family effects may take it up: "
            "an excess without any DIF. Effects that are few, large and of one direction are shrunk, "
            "so that latent rates come out too low."
        ),
    ),
)


def verdict_rule(margin: float) -> str:
    """Return the rule of the verdicts.

    Parameters
    ----------
    margin : float, proportion

    Returns
    -------
    str

    Examples
    --------
    >>> print(verdict_rule(0.02)[:66])
    A cell matches the plug-in if the difference is below 2 points wit
    """
    return (
        f"A cell matches the plug-in if the difference is below {margin_words(margin)} with a "
        f"probability of at least {SURE:.2f}; it differs if the 95% interval of the difference "
        f"leaves out 0 and that probability is at most {UNLIKELY:.2f}; otherwise it cannot say. "
        "Anchors that are fixed leave nothing uncertain on observed answers, so that these cells "
        "have no interval."
    )


def margin_words(margin: float) -> str:
    """Return a margin with its unit.

    Examples
    --------
    >>> margin_words(0.02), margin_words(0.01)
    ('2 points', '1 point')
    """
    number = f"{100 * margin:.10g}"
    return f"{number} point{'' if number == '1' else 's'}"


def top_rung(compared: Comparison) -> str | None:
    """Return the highest rung beside the plug-in, None without one."""
    others = [name for name in compared.settings.ladder if name != PLUG_IN]
    return others[-1] if others else None


def headline_words(compared: Comparison) -> str:
    """Return how the headline cell is called.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> settings = SimpleNamespace(headline=("draws", "latent"))
    >>> headline_words(SimpleNamespace(settings=settings))
    'draws × latent'
    """
    return " × ".join(compared.settings.headline)
