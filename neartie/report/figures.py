"""All figures of the near-tie audit, each with the table behind it."""

from __future__ import annotations

from neartie.report.figure_dif import dif_table, plot_dif
from neartie.report.figure_dimension import dimension_table, plot_dimension
from neartie.report.figure_excess import excess_table, plot_excess
from neartie.report.figure_random import plot_random, random_table
from neartie.report.figure_scores import plot_scores, score_table, segment_table

__all__ = [
    "dif_table",
    "dimension_table",
    "excess_table",
    "plot_dif",
    "plot_dimension",
    "plot_excess",
    "plot_random",
    "plot_scores",
    "random_table",
    "score_table",
    "segment_table",
]
