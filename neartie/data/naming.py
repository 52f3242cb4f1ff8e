"""Invented ids of items, owners and models, in the manner of public leaderboards."""

from __future__ import annotations

from itertools import product

import numpy as np

SOURCES = (
    "algebra",
    "biology",
    "chemistry",
    "code",
    "commonsense",
    "economics",
    "geography",
    "geometry",
    "history",
    "law",
    "logic",
    "medicine",
    "music",
    "physics",
    "reading",
    "statistics",
)

# No word of an owner names a family (`family_of` sees the owner too).
_ADJECTIVES = (
    "amber",
    "brisk",
    "calm",
    "dusty",
    "early",
    "fuzzy",
    "golden",
    "hidden",
    "icy",
    "jolly",
    "keen",
    "lunar",
    "mellow",
    "noble",
    "olive",
    "plain",
    "quiet",
    "rapid",
    "silver",
    "tidal",
)
_NOUNS = (
    "acorn",
    "badger",
    "canyon",
    "delta",
    "ember",
    "forge",
    "garden",
    "harbor",
    "island",
    "juniper",
    "kettle",
    "lantern",
    "meadow",
    "nebula",
    "orchard",
    "pioneer",
    "quarry",
    "river",
    "summit",
    "thicket",
)

# Base models, `{}` being the size. Some hold a second word that a careless pattern would take for
# a family (`dolphin` holds `phi`), or the token in an unusual place.
_BASES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "Qwen": (
        ("Qwen2-{}", ("1.5B", "7B")),
        ("Qwen2.5-{}", ("3B", "7B", "14B")),
        ("CodeQwen1.5-{}", ("7B",)),
        ("dolphin-2.9-qwen2-{}", ("7b",)),
    ),
    "Llama": (
        ("Llama-2-{}", ("7b", "13b")),
        ("Meta-Llama-3-{}", ("8B",)),
        ("TinyLlama-{}", ("1.1B",)),
        ("dolphin-2.9-llama3-{}", ("8b",)),
    ),
    "Gemma": (
        ("gemma-{}", ("2b", "7b")),
        ("gemma-2-{}", ("2b", "9b")),
        ("codegemma-{}", ("7b",)),
    ),
    "Mistral/Mixtral": (
        ("Mistral-{}-v0.1", ("7B",)),
        ("Mixtral-{}-v0.1", ("8x7B",)),
        ("OpenHermes-Mistral-{}", ("7B",)),
        ("dolphin-2.6-mistral-{}", ("7b",)),
    ),
    "Phi": (
        ("phi-2-{}", ("3b",)),
        ("Phi-3-mini-{}", ("4k", "128k")),
        ("tiny.phi-1.5-{}", ("1b",)),
        ("my_phi_2-{}", ("3B",)),
    ),
}
_TUNINGS = (
    "Instruct",
    "chat",
    "DPO",
    "ORPO",
    "SFT",
    "KTO",
    "LoRA",
    "merge",
    "slerp",
    "code",
    "math",
    "uncensored",
)
_VERSIONS = ("", "-v0.2", "-v0.3", "-v2")
_NO_FAMILY = ("dolphin-2.6-3b", "Sphinx-13B", "falcon-7b", "deciphi-7B", "Yi-9B", "SOLAR-10.7B")
_SEVERAL_FAMILIES = (
    "Llama-3-Qwen-merge",
    "phi-2-mistral-slerp",
    "gemma-Llama-ties",
    "Mixtral-Qwen2-MoE",
)


def source_names(n: int) -> list[str]:
    """Return names of sources: subjects, then the same with a number.

    Examples
    --------
    >>> source_names(2), source_names(18)[-1]
    (['algebra', 'biology'], 'biology-2')
    """
    rounds = [f"-{r}" if r > 1 else "" for r in range(1, n // len(SOURCES) + 2)]
    return [subject + end for end, subject in product(rounds, SOURCES)][:n]


def item_names(source_of_item: list[str]) -> list[str]:
    """Return an id for every item: its source, and its number there.

    Parameters
    ----------
    source_of_item : list of str
        Source of every item.

    Returns
    -------
    list of str
        Numbers are padded with zeros, so that ids sort as text as they do as numbers.

    Examples
    --------
    >>> item_names(["law", "logic", "law"])
    ['law-1', 'logic-1', 'law-2']
    """
    counts = {source: source_of_item.count(source) for source in set(source_of_item)}
    digits = len(str(max(counts.values(), default=0)))
    seen = dict.fromkeys(counts, 0)
    names = []
    for source in source_of_item:
        seen[source] += 1
        names.append(f"{source}-{seen[source]:0{digits}d}")
    return names


def owner_names(n: int, *, rng: np.random.Generator) -> list[str]:
    """Return distinct names of uploaders, none of which names a family.

    Examples
    --------
    >>> owner_names(2, rng=np.random.default_rng(1))
    ['silver-thicket', 'calm-forge']
    """
    rounds = [f"-{r}" if r > 1 else "" for r in range(1, n // 400 + 2)]
    pool = [f"{a}-{noun}{end}" for end, a, noun in product(rounds, _ADJECTIVES, _NOUNS)]
    return [pool[i] for i in rng.permutation(len(pool))[:n]]


def checkpoint_names(family: str, n: int, *, rng: np.random.Generator) -> list[str]:
    """Return the names that one owner gives to checkpoints of one base model of a family.

    Parameters
    ----------
    family : str
        A key of `neartie.data.labels.FAMILY_PATTERNS`.
    n : int
        How many.
    rng : Generator
        Chooses the base model and what was done to it.

    Returns
    -------
    list of str
        Distinct, in every spelling of case; each names this family and no other.

    Examples
    --------
    >>> checkpoint_names("Qwen", 2, rng=np.random.default_rng(1))
    ['Qwen2.5-7B-ORPO-v0.2', 'Qwen2.5-7B-chat-v0.3']
    """
    bases = _BASES[family]
    template, sizes = bases[rng.integers(len(bases))]
    base = template.format(sizes[rng.integers(len(sizes))])
    return [f"{base}-{ending}" for ending in _endings(n, rng=rng)]


def _endings(n: int, *, rng: np.random.Generator) -> list[str]:
    """Return distinct endings, such as `DPO-v0.2`."""
    endings = [tuning + version for version, tuning in product(_VERSIONS, _TUNINGS)]
    endings += [f"{_TUNINGS[0]}-v{number}" for number in range(3, 3 + n - len(endings))]
    return [endings[i] for i in rng.permutation(len(endings))[:n]]


def unclassified_names(n: int, *, rng: np.random.Generator) -> list[str]:
    """Return distinct names of models that name no family, or several.

    Examples
    --------
    >>> unclassified_names(2, rng=np.random.default_rng(1))
    ['falcon-7b', 'gemma-Llama-ties']
    """
    names = []
    for number in range(n):
        pool = _SEVERAL_FAMILIES if number % 2 else _NO_FAMILY
        name = pool[rng.integers(len(pool))]
        names.append(name)
    return _numbered(names)


def _numbered(names: list[str]) -> list[str]:
    """Append a version to every repetition of a name."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}-v{seen[name]}")
    return result
