"""Simulated comparisons as plain text for a terminal: one row a rung, and a sentence."""

from __future__ import annotations

from neartie.audits.recovery import Recovery
from neartie.data.wording import printable
from neartie.report.recovery_tables import all_held_words, key_table
from neartie.report.recovery_words import board_words
from neartie.report.text import WARNINGS_SHOWN, grid, wrapped


def recovery_text(found: Recovery) -> str:
    """Return a short plain text: caveats, what was drawn, a row a rung, the highest rung in words.

    Parameters
    ----------
    found : Recovery

    Returns
    -------
    str
        Ends without a line break.
    """
    parts = [wrapped(f"Warning: {printable(w)}") for w in found.warnings[:WARNINGS_SHOWN]]
    words = board_words(found.boards)
    parts.append(wrapped(printable(f"{words[0].upper()}{words[1:]}.")))
    table = key_table(found)
    parts.append(f"{table.caption}\n{grid(table)}")
    parts.append(
        wrapped(
            f"{found.settings.headline[1].capitalize()} scores; points and per cent; ± is the Monte "
            "Carlo error. held: 95% intervals that hold the truth; claims: leaderboards of which an "
            f"excess is claimed. {all_held_words(found.to_dict()['n_replicates'])}."
        )
    )
    parts.append(wrapped(found.claim()))
    return "\n\n".join(parts)
