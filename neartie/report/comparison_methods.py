"""A paragraph for a methods section, made from what was run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from neartie.audits.comparison import Comparison
from neartie.audits.comparison_settings import (
    ADVI,
    BOOTSTRAP,
    FULL,
    LAPLACE,
    PATHFINDER,
    RESIDUAL,
)
from neartie.inference.diagnostics import MAX_RHAT, MIN_ESS_PER_CHAIN
from neartie.models.priors import MirtDifPriors
from neartie.report.comparison_words import verdict_rule
from neartie.report.formatting import count, decimal, is_missing, plural, point_word
from neartie.report.latex import escape_latex

_SPELLED: Final = {
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "numba": "Numba",
    "pymc": "PyMC",
    "arviz": "ArviZ",
}
_FITTED: Final = (LAPLACE, PATHFINDER, ADVI, FULL)


def methods_text(compared: Comparison, *, name: str) -> str:
    """Return a paragraph for a methods section; every number is that of the run.

    Parameters
    ----------
    compared : Comparison
    name : str
        Of the benchmark.

    Returns
    -------
    str
        One line.
    """
    said = [
        _data(compared, name),
        _plug_in(compared),
        *_residual(compared),
        *_full(compared),
        _scoring(compared),
        verdict_rule(compared.settings.margin),
        _made_with(compared),
    ]
    return " ".join(said)


def methods_latex(compared: Comparison, *, name: str) -> str:
    """Return the paragraph as LaTeX, to be read by a manuscript."""
    return escape_latex(methods_text(compared, name=name)) + "\n"


def _data(compared: Comparison, name: str) -> str:
    audit = compared.audit
    people = audit.population
    sizes = people.groupby("half").size()
    return (
        f"We held the cross-fitted near-tie audit of Zheng and Yang (2026) of {name} "
        f"({plural(audit.n_items, 'item')} of {plural(audit.items['source'].nunique(), 'source')}, "
        f"{plural(len(people), 'model')} of {plural(people['owner'].nunique(), 'owner')} in "
        f"{plural(people['family'].nunique(), 'family', 'families')}, "
        f"{count(sizes.get(0, 0))} and {count(sizes.get(1, 0))} of them in the two owner halves, "
        f"{plural(int(people['representative'].sum()), 'representative')}) against posteriors of "
        "family effects."
    )


def _plug_in(compared: Comparison) -> str:
    audit, chosen = compared.audit, compared.audit.settings
    k = _both(*audit.k)
    how = (
        f"chosen on held-out owners and items by the rule '{chosen['rule']}'"
        if chosen["dimension"] is None
        else "given"
    )
    rounds = plural(chosen["rounds"], "purification round")
    said = (
        f"The plug-in has spectral dimension {k} (halves 0 and 1; {how}) and keeps the "
        f"{100 * chosen['alpha'][0]:g} per cent of items with the smallest range D of penalised "
        f"residual family effects within cells of source and easiness, after {rounds}; near ties "
        f"are the {plural(audit.n_eligible, 'pair')} of other family and owner at most "
        f"{point_word(audit.primary_epsilon)} apart"
    )
    if chosen["controls"]:
        said += f", controls {plural(chosen['controls'], 'matched random subtest')}"
    return f"{said}."


def _residual(compared: Comparison) -> list[str]:
    rungs, settings = compared.settings.ladder, compared.settings
    sd = compared.audit.settings["penalty"] ** -0.5
    said = []
    if RESIDUAL in rungs or BOOTSTRAP in rungs:
        named = " and ".join(name for name in (RESIDUAL, BOOTSTRAP) if name in rungs)
        said.append(
            f"The rung{'s' if ' and ' in named else ''} {named} drew, item by item, from the "
            "posterior of easiness (flat prior) and family effects (zero-sum normal prior, standard "
            f"deviation {sd:.3g} logit) beside the audit's offset"
        )
        if BOOTSTRAP in rungs:
            said[-1] += (
                f", the latter beside {plural(settings.offsets, 'offset')} that were each estimated "
                "from a bootstrap sample of owners"
            )
        said[-1] += "."
    return said


def _full(compared: Comparison) -> list[str]:
    settings = compared.settings
    rungs = [name for name in _FITTED if name in settings.ladder]
    if not rungs:
        return []
    k = compared.rungs[compared.rungs["rung"] == rungs[-1]].sort_values("half")["k"].tolist()
    said = [
        (
            f"The model behind {_listed(rungs)} is a multidimensional logistic one with {_both(*k)} "
            f"dimensions and family effects on every item; {_priors(compared)}."
        )
    ]
    if LAPLACE in rungs:
        said.append(
            "Laplace draws come from the normal density at the joint mode, with the scales of priors "
            "held at values found from the answers"
            + (
                "; it is fitted without the options of the other rungs (sparse effects, family means)."
                if settings.options.get("sparse") or settings.options.get("family_means")
                else "."
            )
        )
    for rung in (PATHFINDER, ADVI):
        if rung in rungs:
            said.append(
                f"The draws of {rung} are those of its normal density; Pareto k of importance "
                f"weights was {_facts(compared, rung, 'pareto_k', 2)}."
            )
    if FULL in rungs:
        said += _sampling(compared)
    return said


def _priors(compared: Comparison) -> str:
    options = compared.settings.options
    priors = options.get("priors") or MirtDifPriors()
    over = (
        "families and over items" if options.get("zero_sum") == "families_and_items" else "families"
    )
    effects = f"effects sum to zero over {over} and have "
    if options.get("sparse"):
        effects += (
            "a regularised horseshoe over items (global scale half-Cauchy "
            f"{priors.dif_global_scale:g}, local scales half-t with {priors.dif_local_df:g} degrees "
            f"of freedom, slab {priors.dif_slab_scale:g} with {priors.dif_slab_df:g})"
        )
    else:
        effects += f"a scale with a half-normal ({priors.dif_scale_sd:g}) prior"
    means = (
        f"family means zero-sum normal ({priors.family_mean_sd:g})"
        if options.get("family_means")
        else "no family means"
    )
    return (
        f"abilities are standard normal ({means}), loadings normal with a log-normal scale of "
        f"median {priors.loading_spread:g} over the root of the number of dimensions, easiness "
        f"normal around a mean with a normal (0, {priors.easiness_mean_sd:g}) prior and with a "
        f"log-normal scale of median {priors.easiness_scale:g} (both log scales with standard "
        f"deviation {priors.log_scale_sd:g}), {effects}, all in logits"
    )


def _sampling(compared: Comparison) -> list[str]:
    settings = compared.settings
    engine = (
        "by blocked Gibbs sampling with Pólya–Gamma augmentation"
        if settings.engine == "gibbs"
        else "by the no-U-turn sampler"
    )
    each = settings.draws // settings.chains
    length = f"{count(each)} kept draws"
    if settings.min_ess is not None:
        length = (
            f"as many draws as bring the smallest effective sample size to {settings.min_ess:g}, at "
            f"most {count(each)} of them kept"
        )
    said = (
        f"The full posterior was sampled {engine}: in each half "
        f"{plural(settings.chains, 'chain')} of {count(settings.tune)} tuning draws and {length}, "
        f"every {_ordinal(settings.thin)} of the draws."
    )
    return [
        said,
        (
            f"In halves 0 and 1 the largest R-hat was {_facts(compared, FULL, 'max_rhat', 3)}, and the "
            f"smallest effective sample sizes {_facts(compared, FULL, 'min_ess_bulk', 0)} in the bulk "
            f"and {_facts(compared, FULL, 'min_ess_tail', 0)} in the tails (limits {MAX_RHAT:g} and "
            f"{MIN_ESS_PER_CHAIN} a chain): {_converged(compared)}."
        ),
    ]


def _scoring(compared: Comparison) -> str:
    settings = compared.settings
    said = "Anchors and scores come from different halves, so that they share no data"
    if len(settings.ladder) > 1:
        said += (
            f"; every rung was compared by {plural(settings.draws, 'draw')}, with anchors by the "
            "audit's rule and cells from each draw, from the mean effects and by inclusion, on "
            "observed, expected and replicated scores of the same near ties, the latter two beside "
            f"{plural(settings.subtests, 'matched random subtest')}"
        )
    return f"{said}."


def _made_with(compared: Comparison) -> str:
    versions = dict(compared.versions)
    own = versions.pop("neartie", "")
    others = ", ".join(f"{_SPELLED.get(name, name)} {number}" for name, number in versions.items())
    return f"Computed with neartie {own} ({others}), seed {compared.seed}."


def _facts(compared: Comparison, rung: str, name: str, digits: int) -> str:
    own = compared.rungs[compared.rungs["rung"] == rung].sort_values("half")
    values = [
        "not available" if is_missing(value) else decimal(value, digits=digits)
        for value in own[name]
    ]
    return _both(*values)


def _converged(compared: Comparison) -> str:
    own = compared.rungs[compared.rungs["rung"] == FULL].sort_values("half")
    words = {"yes": "converged", "no": "not converged", "not assessed": "not assessed"}
    return _both(*(words[str(value)] for value in own["converged"]))


def _both(first: Any, second: Any) -> str:
    return str(first) if first == second else f"{first} and {second}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ordinal(n: int) -> str:
    """Return the place of what is kept.

    Examples
    --------
    >>> [_ordinal(n) for n in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
