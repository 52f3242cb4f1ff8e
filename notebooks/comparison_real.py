# %% [markdown]
# # The comparison on a real leaderboard
#
# Open LLM Leaderboard v1: 1,075 items from five benchmarks, and the models that carry the name of one
# family. A notebook in the percent format: open it as one in Jupyter (jupytext) or VS Code, or run it
# with `python notebooks/comparison_real.py`. The data are not part of the repository; `NEARTIE_DATA`
# names their folder.
#
# The settings are small: few draws, and models of two dimensions where the audit has more. With
# `NEARTIE_LONG=1` all rungs are run at the audit's dimension, up to a chain length at which the full
# posterior may converge. That takes hours; finished rungs are kept in `comparison-open-llm`, so that
# a stopped run goes on. The command is
#
# ```sh
# neartie compare responses.csv.gz --items items.csv --draws 1000 --offsets 100 --chains 2 \
#   --tune 2000 --thin 20 --seed 1 --out comparison-open-llm
# ```

# %%
import os
from pathlib import Path

import pandas as pd

from neartie import AuditSettings, ComparisonSettings, compare, read_responses
from neartie.audits.comparison_pairs import read_pairs
from neartie.report.comparison_text import comparison_text

ROOT = Path(__file__).resolve().parent.parent if "__file__" in globals() else Path.cwd().parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))
LONG = os.environ.get("NEARTIE_LONG") == "1"
SEED = 1
QUICK = ComparisonSettings(
    rungs=("residual", "residual-bootstrap", "laplace"),
    draws=60,
    offsets=10,
    dimension=2,
    subtests=50,
)
THOROUGH = ComparisonSettings(draws=1000, offsets=100, chains=2, tune=2000, thin=20)
AUDIT = AuditSettings(bootstraps=0, controls=1000 if LONG else 200, alpha=0.5)
pd.set_option("display.width", 160, "display.max_columns", 12)

# %% [markdown]
# Families are read from the names of the models, as the audit does: the unknown, and families below
# twenty models, are left out.

# %%
folder = DATA / "open_llm_v1"
data = read_responses(folder / "responses.csv.gz", items=folder / "items.csv")
compared = compare(
    data,
    THOROUGH if LONG else QUICK,
    audit=AUDIT,
    folder="comparison-open-llm" if LONG else None,
    rng=SEED,
)
print(comparison_text(compared, name="Open LLM Leaderboard v1"))

# %% [markdown]
# ## At which step does the answer change?
#
# Excess over random subtests that are scored in the same way, in points. On observed answers the
# anchors of a rung's mean effects; in expected scores the audit's anchors, which ask whether *these*
# items keep the order, and the rung's own.

# %%
cells = {("mean", "observed"), ("plug-in", "latent"), ("mean", "latent"), ("draws", "latent")}
ladder = compared.ladder.set_index(["anchors", "scores"])
chosen = ladder.loc[[cell in cells for cell in ladder.index]].reset_index()
print(
    chosen.assign(cell=chosen["anchors"] + " x " + chosen["scores"])
    .pivot(index="rung", columns="cell", values="excess_pp")
    .reindex(compared.settings.ladder)
    .round(1)
    .to_string(na_rep="–")
)

# %% [markdown]
# Where the excess falls between the rungs that keep the audit's offset and those that fit abilities
# and effects together, the answer hangs on the offset: on what the model calls ability and what it
# calls a family effect. Compare more than one dimension before anything is said of families.
#
# ## Does D agree?

# %%
agreement = compared.ladder[compared.ladder["scores"] == "observed"]
print(
    agreement.pivot(index="rung", columns="anchors", values="spearman_d")
    .reindex(compared.settings.ladder)[["draws", "mean"]]
    .round(2)
    .to_string(na_rep="–")
)

# %% [markdown]
# ## Which pairs?

# %%
pairs = read_pairs(compared)
print(pairs["reading"].value_counts().to_string())
shown = ["model_a", "model_b", "gap_full", "plugin_reversed", "reversal", "reading"]
print(pairs[shown].head(10).round(3).to_string(index=False))
