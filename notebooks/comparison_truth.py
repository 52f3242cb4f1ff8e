# %% [markdown]
# # Which approximations can be trusted, on simulated truth
#
# A comparison on real answers says where the plug-in and posteriors part, not which of them is right.
# Here leaderboards are drawn whose abilities, family effects and probabilities are known, so that every
# rung can be held against the truth. A notebook in the percent format: open it as one in Jupyter
# (jupytext) or VS Code, or run `python notebooks/comparison_truth.py`.
#
# The settings are small, and so few leaderboards say little: read the limits. For numbers to be
# believed set `NEARTIE_LONG=1`; that takes some hours of one core. The same from the command line:
# `neartie compare --simulate 8 --world model --design ... --out DIR`.

# %%
import os
from dataclasses import replace

import numpy as np
import pandas as pd

from neartie import (
    AuditSettings,
    ComparisonSettings,
    DesignBoards,
    ModelBoards,
    boards_like,
    simulate_comparison,
)
from neartie.audits.recovery_claim import mean_limits, share_limits
from neartie.report.recovery_text import recovery_text

LONG = os.environ.get("NEARTIE_LONG") == "1"
SEED = 1
N = 100 if LONG else 5
AUDIT = AuditSettings(dimension=1, controls=100, bootstraps=0, min_family_size=5, alpha=0.5)
SETTINGS = ComparisonSettings(
    rungs=("residual", "residual-bootstrap", "laplace", "full"),
    draws=400 if LONG else 40,
    offsets=40 if LONG else 8,
    chains=1,
    tune=500 if LONG else 60,
    thin=5 if LONG else 1,
    subtests=100 if LONG else 30,
)
pd.set_option("display.width", 160, "display.max_columns", 12)

# %% [markdown]
# ## Leaderboards that the full model draws
#
# Nothing is misspecified here: effects, loadings and abilities come from the distributions that the
# full posterior believes in. With `folder=` finished leaderboards are kept, and a stopped run goes on.

# %%
boards = ModelBoards(
    n_items=120, n_models=60, n_owners=30, n_families=3, dimension=1, dif_scale=0.6
)
known = simulate_comparison(boards, SETTINGS, audit=AUDIT, replicates=N, rng=SEED)
print(recovery_text(known))

# %% [markdown]
# ## Bias, with what so few leaderboards leave open
#
# Each cell has a truth of its own. With observed scores it is the rate under the anchors that the true
# D selects. Estimated anchors are not these, so that rates fall towards those of random subtests,
# and those of anchors that are chosen draw by draw fall furthest.


# %%
def with_limits(found, scores):
    """Bias in points and coverage in per cent, each with 95 % limits."""
    rows = []
    for row in found.table[found.table["scores"] == scores].to_dict("records"):
        low, high = (100 * x for x in mean_limits(row["bias"], row["bias_se"], row["n_replicates"]))
        held = ""
        if pd.notna(row["coverage"]):
            limits = (100 * x for x in share_limits(row["coverage"], row["n_replicates"]))
            held = "{:.0f} ({:.0f} to {:.0f})".format(100 * row["coverage"], *limits)
        rows.append(
            {
                "rung": row["rung"],
                "anchors": row["anchors"],
                "bias": f"{100 * row['bias']:+.1f} ({low:+.1f} to {high:+.1f})",
                "held": held,
            }
        )
    return pd.DataFrame(rows)


for kind in ("observed", "latent"):
    print(f"\n{kind} scores")
    print(with_limits(known, kind).to_string(index=False))

# %% [markdown]
# ## Which anchors come closest
#
# `gain` is the share of the avoidable true D that a choice of anchors avoids: 1 for the anchors of the
# true D, 0 for random ones. `spearman` is the correlation of D over items with the true D.

# %%
print(known.anchors.round(2).to_string(index=False))

# %% [markdown]
# ## Without family effects
#
# Where there is no DIF, the true anchors are random ones, and every excess that is claimed is claimed
# wrongly. An audit with the right K should claim hardly any; one with too small a K takes ability for
# family effects.

# %%
quick = replace(SETTINGS, rungs=("residual", "laplace"))
none = simulate_comparison(
    replace(boards, dif_scale=0.0), quick, audit=AUDIT, replicates=N, rng=SEED
)
columns = ["rung", "anchors", "scores", "excess_pp", "excess_target_pp", "claims"]
print(none.table[columns].round(2).to_string(index=False))

# %% [markdown]
# ## Leaderboards that the model does not draw
#
# `simulate_leaderboard` has owners whose models resemble each other, and large effects on a quarter
# of the items that lean one way.

# %%
design = {"n_items": 120, "n_models": 60, "n_owners": 30, "families": 3, "n_unclassified": 0}
other = DesignBoards(design={**design, "n_dimensions": 1, "n_sources": 3, "dif_effect": 3.0})
leaning = simulate_comparison(other, quick, audit=AUDIT, replicates=N, rng=SEED)
print(recovery_text(leaning))

# %% [markdown]
# ## Like one's own data
#
# A parametric bootstrap: the joint mode of the full model at the data is the truth, and answers are
# drawn anew. With `dif_factor=0` its family effects are left out. Here the data are a simulated
# leaderboard; `read_responses` reads your own.

# %%
data = other.draw(np.random.default_rng(SEED)).responses
like = boards_like(data, dimension=1, audit=AUDIT, rng=SEED)
copies = simulate_comparison(like, quick, audit=AUDIT, replicates=N, rng=SEED)
print(recovery_text(copies))

# %% [markdown]
# ## In short
#
# One sentence a run, for the highest rung in it. `found.table`, `anchors` and `replicates` have the
# rest, and `write_recovery(found, "folder")` writes files and a report.

# %%
for label, found in (("model", known), ("no DIF", none), ("leaning", leaning), ("copies", copies)):
    print(f"- {label}: {found}")
