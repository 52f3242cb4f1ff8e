# %% [markdown]
# # Screening items, and where the screen fails
#
# A notebook in the percent format: open it as one in Jupyter (jupytext) or VS Code, or run it with
# `python notebooks/screen.py`. The data are not part of the repository; `NEARTIE_DATA` names their
# folder.

# %%
import os
from pathlib import Path

import numpy as np
import pandas as pd

from neartie.audits.auc import compare_auc
from neartie.audits.screen import ScreenSettings, screen_items
from neartie.audits.screen_statistics import suspicion
from neartie.data.read import read_responses

ROOT = Path(__file__).resolve().parent.parent if "__file__" in globals() else Path.cwd().parent
DATA = Path(os.environ.get("NEARTIE_DATA", ROOT.parent / "shared" / "data"))
FAST = ScreenSettings(statistics="fast")
pd.set_option("display.width", 160, "display.max_colwidth", 80, "display.max_columns", 9)


def load(name):
    folder = DATA / name
    return read_responses(folder / "responses.csv.gz", items=folder / "items.csv")


# %% [markdown]
# ## A real set
#
# GSM8K, 42 chat models. GSM8K-Platinum removed or corrected 120 of its 1,319 items. The review
# list is made without looking at these labels; the labels then say how good it is.

# %%
gsm8k = load("gsm8k_zeroeval")
screen = screen_items(gsm8k, FAST, rng=1)
print(screen.table[["item", "accuracy", "signed_isotonic_r2", "is_bad", "reason"]].head(8))
print(screen.precision.round(3).to_string(index=False))

# %% [markdown]
# The first ten are all bad, and so are most of the first fifty. Over the whole list the
# coefficient puts a bad item above a good one about four times in five. Is it better than a
# plain correlation? The comparison has to be paired, because both see the same items.

# %%
ranked = screen.table[screen.table["kind"] == "ranked"]
turned = suspicion(ranked)
for rival in ("phi", "rho_rest", "acc"):
    found = compare_auc(turned["signed_isotonic_r2"], turned[rival], ranked["is_bad"])
    print(
        f"signed isotonic R² {found.first:.3f}, {rival} {found.second:.3f}: difference "
        f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f}), p = {found.p_value:.2g}"
    )

# %% [markdown]
# Better than correlations, and no better than the item's accuracy among pairs (`acc`): in a
# saturated benchmark hard items are suspicious items, whatever else one measures.
#
# ## After a review
#
# Take out what a reviewer rejected, and screen again. The others move up a little, because bad
# partners no longer drag them down.

# %%
rejected = ranked["item"].head(20).tolist()
again = screen_items(gsm8k, FAST, without=rejected, rng=1)
print(f"mean coefficient before {ranked['signed_isotonic_r2'].mean():.4f}, ", end="")
print(f"after {again.table['signed_isotonic_r2'].mean():.4f}")

# %% [markdown]
# ## Where it fails: items without variance
#
# An item that all models solve, or none, has no coefficient. The screen counts such items and
# ranks none of them. In GSM8K every item that nobody solves is bad: the surest finds of all
# are in no AUC.

# %%
print(screen.labelled.to_string(index=False))
assert (screen.labelled.set_index("kind").loc["solved by nobody"] == 5).all()

# %% [markdown]
# ## Where it fails: weak tests
#
# UTBoost found items of SWE-bench Verified whose tests let wrong patches pass. Such an item is
# easier than it should be and otherwise goes with the rest, so that the screen does not see it:
# the AUC is no better than chance.

# %%
swebench = screen_items(load("swebench_verified"), FAST, rng=1)
row = swebench.auc.set_index("statistic").loc["signed_isotonic_r2"]
print(f"AUC {row['auc']:.3f} ({row['low']:.3f} to {row['high']:.3f})")
assert row["low"] < 0.55

# %% [markdown]
# ## Where it fails: few models
#
# The same GSM8K list with ever fewer models. The list keeps some order, but most items can no
# longer be told from shuffled answers, and more of them lose their variance.

# %%
rng = np.random.default_rng(1)
rows = []
for n_models in (42, 20, 10, 5):
    part = gsm8k.take(models=rng.choice(42, n_models, replace=False))
    small = screen_items(part, FAST, rng=1)
    auc = small.auc.set_index("statistic").loc["signed_isotonic_r2"]
    ranked = small.table[small.table["kind"] == "ranked"]
    flat = ranked["signed_isotonic_r2"].between(ranked["null_low"], ranked["null_high"])
    rows.append((n_models, small.n_ranked, auc["n_bad"], auc["auc"], flat.mean()))
table = pd.DataFrame(rows, columns=["models", "ranked", "bad", "auc", "share flat"])
print(table.round(3).to_string(index=False))
assert table["share flat"].iloc[-1] > table["share flat"].iloc[0]

# %% [markdown]
# ## Where it fails: several directions
#
# The 25 items of a personality inventory belong to five scales. Taken together they do not share
# one direction, and the screen says so. Within each scale the seven items that run against their
# scale come out: all but one of them are among the seven worst.

# %%
inventory = load("bfi_reversed")
quick = ScreenSettings(statistics="fast", n_null=0)
together = screen_items(inventory, quick, rng=1)
within = screen_items(
    inventory, ScreenSettings(within="source", statistics="fast", n_null=0), rng=1
)
for name, result in (("together", together), ("within scales", within)):
    auc = result.auc.set_index("statistic").loc["signed_isotonic_r2", "auc"]
    found = int(result.table["is_bad"].head(7).sum())
    print(f"{name}: AUC {auc:.3f}, {found} of the first 7 are reverse-keyed")
print(together.warnings[0])
