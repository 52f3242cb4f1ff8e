# %% [markdown]
# # Does the posterior say what the audit says?
#
# The near-tie audit estimates family effects once and takes them as they are. Here that plug-in is
# held against posteriors of the bundled example, rung by rung. The example is simulated, with
# effects planted in a quarter of its items, so that there is something to find. A notebook in the
# percent format: open it as one in Jupyter (jupytext) or VS Code, or run
# `python notebooks/comparison.py`.
#
# The settings are small, and the full posterior will say that it has not converged. For numbers to
# be believed set `NEARTIE_LONG=1`: that takes half an hour or so.

# %%
import os

import pandas as pd

from neartie import AuditSettings, ComparisonSettings, compare, load_example
from neartie.audits.comparison_pairs import read_pairs
from neartie.report.comparison_methods import methods_text
from neartie.report.comparison_text import comparison_text

LONG = os.environ.get("NEARTIE_LONG") == "1"
SEED = 1
AUDIT = AuditSettings(bootstraps=0)
QUICK = ComparisonSettings(
    rungs=("residual", "residual-bootstrap", "laplace", "full"),
    draws=60,
    offsets=10,
    chains=2,
    tune=100,
    subtests=50,
)
THOROUGH = ComparisonSettings(draws=1000, offsets=100, chains=4, tune=2000, thin=20)
pd.set_option("display.width", 160, "display.max_columns", 12)

# %% [markdown]
# ## The ladder
#
# Plug-in; the posterior of effects beside the audit's offset; offsets over bootstrap owners; the
# normal density at the mode of the full model; the full posterior. With `folder=` finished rungs are
# kept, and a stopped run goes on.

# %%
compared = compare(load_example(), THOROUGH if LONG else QUICK, audit=AUDIT, rng=SEED)
print(comparison_text(compared, name="example"))

# %% [markdown]
# The last paragraph is what may be claimed, with what stands against it. The table above it has the
# cells that matter: the rung's own anchors on the answers that were given, draw by draw and by their
# mean; the audit's anchors on expected scores; and the headline.
#
# ## Why rates are lower in expected scores
#
# Near ties are close because chance made them so. On expected scores the same pairs are further
# apart, and fewer reverse, under *any* subtest. What counts is the excess over random subtests that
# are scored in the same way:

# %%
columns = ["rung", "scores", "reversal_rate", "random_median", "excess_pp", "excess_low"]
own = compared.ladder[compared.ladder["anchors"] == "plug-in"]
print(own[[*columns, "excess_high"]].round(3).to_string(index=False))

# %% [markdown]
# ## Single draws drift towards random
#
# The D of one draw is noisier than that of the mean effects. So anchors that are chosen draw by draw
# are closer to a random subtest, and reverse less, although they come from the same posterior:

# %%
latent = compared.ladder[compared.ladder["scores"] == "latent"]
print(
    latent.pivot(index="rung", columns="anchors", values="excess_pp")
    .reindex(compared.settings.ladder)[["plug-in", "draws", "mean", "inclusion"]]
    .round(1)
    .to_string(na_rep="–")
)
print(
    compared.ladder[compared.ladder["scores"] == "observed"]
    .pivot(index="rung", columns="anchors", values="jaccard")
    .reindex(compared.settings.ladder)[["draws", "mean", "inclusion"]]
    .round(2)
    .to_string(na_rep="–")
)

# %% [markdown]
# ## Pairs
#
# Which orders does the highest rung contradict, and of which is it sure? `reversal` is the
# probability that the pair reverses; the last two columns are P(a above b) on all items and on the
# anchors.

# %%
pairs = read_pairs(compared)
print(pairs["reading"].value_counts().to_string())
shown = ["model_a", "model_b", "plugin_reversed", "reversal", "a_above_b_full", "a_above_b_anchor"]
print(pairs[[*shown, "reading"]].head(8).round(2).to_string(index=False))

# %% [markdown]
# Most pairs stay open. A reversal rate can be known well while hardly any single reversal is.
#
# ## For a methods section

# %%
print(methods_text(compared, name="the bundled example"))
