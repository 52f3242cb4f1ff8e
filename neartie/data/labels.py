"""Owner and family of a model, and the natural order of ids, from the text of the id alone."""

from __future__ import annotations

import re
from types import MappingProxyType

# Tokens are maximal runs of ASCII letters and digits, so that `dolphin` and `Sphinx` hold no
# token that begins with phi, whereas `_`, `-`, `.` and `/` begin a new one.
FAMILY_PATTERNS = MappingProxyType(
    {
        "Qwen": re.compile("qwen", re.IGNORECASE | re.ASCII),
        "Llama": re.compile("llama", re.IGNORECASE | re.ASCII),
        "Gemma": re.compile("gemma", re.IGNORECASE | re.ASCII),
        "Mistral/Mixtral": re.compile("mistral|mixtral", re.IGNORECASE | re.ASCII),
        "Phi": re.compile("(?<![a-z0-9])phi", re.IGNORECASE | re.ASCII),
    }
)


def families_named_in(text: str) -> tuple[str, ...]:
    """Return every family whose pattern matches the text.

    Parameters
    ----------
    text : str
        A model id, or a part of one.

    Returns
    -------
    tuple of str
        In the order of `FAMILY_PATTERNS`; empty when no pattern matches.

    References
    ----------
    P0, appendix C.1.

    Examples
    --------
    >>> families_named_in("acme/phi-3-llama-merge")
    ('Llama', 'Phi')
    >>> families_named_in("cognitive/dolphin-2.6")
    ()
    """
    return tuple(name for name, pattern in FAMILY_PATTERNS.items() if pattern.search(text))


def family_of(model: str) -> str | None:
    """Return the one family that the whole model id names, or None for zero or several.

    Parameters
    ----------
    model : str
        The model id, owner included.

    Returns
    -------
    str or None

    References
    ----------
    P0, appendix C.1: models that match zero or multiple patterns are excluded.

    Examples
    --------
    >>> family_of("mistralai/Mixtral-8x7B-v0.1")
    'Mistral/Mixtral'
    >>> family_of("acme/llama-qwen-merge") is None
    True
    """
    names = families_named_in(model)
    return names[0] if len(names) == 1 else None


def owner_of(model: str) -> str:
    """Return the uploader: the part of the id before the first slash.

    Parameters
    ----------
    model : str
        The model id. One without a slash is its own owner, so that such models are never pooled.

    Returns
    -------
    str

    Examples
    --------
    >>> owner_of("meta-llama/Llama-3-8B"), owner_of("gpt-x")
    ('meta-llama', 'gpt-x')
    """
    return model.split("/", 1)[0] if "/" in model else model


def name_part(model: str) -> str:
    """Return the id without its owner: what stands after the first slash, or the whole id."""
    return model.split("/", 1)[1] if "/" in model else model


def natural_key(text: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """Return a sort key under which `q2` comes before `q10`.

    Parameters
    ----------
    text : str
        An id. Runs of ASCII digits compare as whole numbers, everything else as text;
        ids that agree so far (`q2`, `q02`) compare as plain text.

    Returns
    -------
    tuple

    Examples
    --------
    >>> sorted(["q10", "q2", "q1"], key=natural_key)
    ['q1', 'q2', 'q10']
    """
    parts = re.split("([0-9]+)", text)
    return tuple(_number_key(part) if i % 2 else part for i, part in enumerate(parts)), text


def _number_key(digits: str) -> tuple[int, str]:
    # Orders like the number itself, which Python refuses to make of more than 4,300 digits.
    significant = digits.lstrip("0")
    return len(significant), significant
