# %% [markdown]
# # Rankings with credible intervals
#
# A notebook in the percent format: open it as one in Jupyter (jupytext) or VS Code, or run it with
# `python notebooks/ranking.py`. It takes about a minute. The bundled example is part of neartie;
# the battles are not, and `NEARTIE_DATA` names the folder that holds them.
#
# A leaderboard prints one number a model and sorts by it. Which of its orderings would survive,
# had chance dealt other answers? The way to an answer has six steps, and every one can fail:
# say what you believe (a model and its priors), look whether that is sensible (prior check), fit,
# look whether the fit reproduces the data (posterior check), ask whether another model predicts
# better (leave-one-out), and only then rank.

# %%
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from neartie import (
    build_bradley_terry,
    build_mirt_dif,
    build_two_pl,
    check_posterior,
    check_prior,
    compare_models,
    fit,
    load_example,
    rank_models,
    read_battles,
)
from neartie.audits.preparation import with_families
from neartie.data.errors import CaveatWarning

ROOT = Path(__file__).resolve().parent.parent if "__file__" in globals() else Path.cwd().parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))
pd.set_option("display.width", 140, "display.max_colwidth", 60, "display.max_columns", 12)
# Verdicts and caveats are printed below where they belong.
warnings.simplefilter("ignore", CaveatWarning)
SAMPLING = {"draws": 1000, "tune": 500, "chains": 4, "target_accept": 0.8, "rng": 1}
LOO = {"log_likelihood": True, "log_likelihood_thin": 4}

# %% [markdown]
# ## The bundled example, a small part of it
#
# An invented leaderboard, in which family-dependent items were planted. We take 30 models and 50
# items, so that the fits take seconds; few items also mean that little is certain, which is the
# lesson. The first table is what a leaderboard would print.

# %%
rng = np.random.default_rng(1)
example = with_families(load_example())
part = example.take(
    items=np.sort(rng.choice(example.n_item, 50, replace=False)),
    models=np.sort(rng.choice(example.n_model, 30, replace=False)),
)
print(part.accuracy().sort_values("accuracy", ascending=False).head(6).to_string(index=False))

# %% [markdown]
# ## Step 1 and 2: a model, and what it believes beforehand
#
# The two-parameter logistic model (2PL) gives every model an ability, and every item a difficulty
# and a discrimination. Before it sees the answers, would it find data such as ours possible? Draw
# parameters from the prior, draw answers from them, and compare. `p` is the share of such
# replicates above the observed value: near 0 or 1, the prior all but excludes the data (*).

# %%
model = build_two_pl(part)
print(check_prior(model, models=part.models, draws=400, rng=1))

# %% [markdown]
# One thing stands out: accuracies of items are spread wider than the prior expects, since some items
# are solved by all and some by none. The prior is overruled by 1,500 answers, as step 4 will show;
# had it not been, `TwoPLPriors(difficulty_sd=...)` or `hierarchical=True` would be the way to go on.
#
# ## Step 3: fit
#
# NUTS draws from the posterior. Its verdict comes first: draws that did not converge say nothing.
# The 1PL (all items discriminate equally) is fitted beside it, and the model with family effects,
# in which an item can favour a family beyond what ability explains. It has four times as many
# unknowns, and misses the limits sooner: then sample longer before you publish.

# %%
fits = {
    "1PL": fit(build_two_pl(part, discrimination="one"), **SAMPLING, **LOO),
    "2PL": fit(model, **SAMPLING, **LOO),
    "MIRT-DIF": fit(build_mirt_dif(part, dimension=1), **SAMPLING, **LOO),
}
for name, posterior in fits.items():
    print(f"{name}: {posterior.attrs['verdict']}")

# %% [markdown]
# ## Step 4: does the fit reproduce the data?
#
# Replicates again, now from the posterior. Totals of items and models are what the parameters were
# fitted to, and hardly ever stand out. The statistics below can: `item_correlation_sd`, whether
# items differ in discrimination as they should; `family_range`, how far families differ on single
# items; `near_ties`, the number of pairs of different families and owners within one point.

# %%
checks = {name: check_posterior(f, models=part.models, rng=1) for name, f in fits.items()}
columns = ["statistic", "observed", "predicted", "low", "high", "p"]
for name, found in checks.items():
    print(f"\n{name}")
    print(found.statistics[columns].round(3).to_string(index=False))

# %% [markdown]
# 1PL and 2PL reproduce all of it. The model with family effects does not, although it is the one that
# the example was made with: with so few models a family it spreads over family effects what ability
# explains better, so that models differ too little in their totals (`model_sd`) and items hang
# together too little. More parameters are no guarantee of a better description.

# %%
assert not checks["2PL"].statistics["outside"].any()
assert checks["MIRT-DIF"].statistic("model_sd")["p"] < 0.05

# %% [markdown]
# ## Step 5: which model predicts better?
#
# Leave-one-out asks every fit to predict each answer from all others; `elpd` adds up how well it
# does. A difference below 4, or below two of its standard errors, is no reason to prefer a model.
# Above `k_limit`, `max_pareto_k` says that the estimate leans on single answers: here the three can be
# told apart only roughly, and nothing speaks against the simpler ones.

# %%
comparison = compare_models(fits)
print(comparison.round(2).to_string(index=False))

# %% [markdown]
# ## Step 6: rank
#
# `set` are the ranks that hold for all models at once with 95 % probability. A tier begins where a
# model is resolved below the best of the tier above.

# %%
ranking = rank_models(fits["2PL"], rng=1)
print(ranking)
print(f"\nresolved: {ranking.pairs['resolved_jointly'].mean():.1%} of the pairs, all at once")
other = rank_models(fits["MIRT-DIF"], rng=1)
first = ranking.ranks["model"][0]
place = other.ranks.set_index("model")["rank"][first]
print(f"first by the 2PL: {first}; its rank under MIRT-DIF: {place}")
assert ranking.pairs["resolved_jointly"].mean() < 0.5

# %% [markdown]
# **What may be claimed.** With 50 items: which models are not among the best, and next to nothing
# of the order at the top. The printed first place is a first place among near ties. All of this
# holds for these items under this model; whether the order depends on the families of the items is
# what `neartie audit` asks.

# %% [markdown]
# ## A real set: battles
#
# LLMFAO: 8,931 human judgements between 59 models, 39 % of them ties. The Bradley-Terry model
# gives every model a strength; with Davidson's extension ties are an outcome of their own, so that
# replicates have ties too.

# %%
battles = read_battles(DATA / "llmfao_crowd" / "battles.csv.gz")
print(battles)
arena = build_bradley_terry(battles, ties="davidson")
print(check_prior(arena, draws=300, rng=1))

# %%
posterior = fit(arena, **SAMPLING)
print(posterior.attrs["verdict"])
duel = check_posterior(posterior, rng=1)
print(duel)

# %% [markdown]
# Wins, ties and near ties come out as they should. `surprise` does not: pairs differ from what two
# strengths explain by more than chance (a model beats one rival and loses to another that this rival
# beats). Prompts and judges differ, and one strength a model is a summary of them, whose intervals
# are somewhat too narrow.

# %%
assert duel.statistic("surprise")["p"] < 0.05
assert duel.models["outside"].mean() < 0.05

# %%
standing = rank_models(posterior, rng=1)
print(standing)
best = standing.ranks.iloc[0]
print(f"\n{best['model']} is first with probability {best['p_best']:.2f}")
print(f"resolved: {standing.pairs['resolved_jointly'].mean():.1%} of the pairs, all at once")

# %% [markdown]
# **What may be claimed.** Who leads, with the probability above; that the models of the last tiers
# are below those of the first; not the order within a tier. The same from the command line:
#
#     neartie fit bradley-terry battles.csv --ties davidson --out fitted
#     neartie check fitted --out checked
#     neartie rank fitted --out ranked
