"""Slice sampling leaves a density as it is, whatever the width."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from neartie.inference.slice_step import slice_step

# Of a Kolmogorov-Smirnov test of independent draws.
FALSE_ALARM = 1e-4
LAWS = {
    "normal": (stats.norm(3, 0.2), lambda x: -0.5 * ((x - 3) / 0.2) ** 2),
    "gamma": (stats.gamma(0.7), lambda x: -0.3 * math.log(x) - x if x > 0 else -math.inf),
}


@pytest.mark.parametrize("width", [0.1, 30.0])
@pytest.mark.parametrize("name", LAWS)
def test_a_step_from_the_density_ends_in_it(name, width):
    (law, log_density), rng = LAWS[name], np.random.default_rng(1)
    starts = law.rvs(size=3000, random_state=rng)
    ends = [slice_step(log_density, start, width=width, rng=rng) for start in starts]
    assert stats.kstest(ends, law.cdf).pvalue > FALSE_ALARM
    assert np.mean(np.asarray(ends) != starts) > 0.99


def test_steps_from_a_point_reach_the_density():
    rng, ends = np.random.default_rng(2), []
    for _ in range(1000):
        value = 0.0
        for _ in range(8):
            value = slice_step(lambda x: -0.5 * x * x, value, width=3.0, rng=rng)
        ends.append(value)
    assert stats.kstest(ends, stats.norm.cdf).pvalue > FALSE_ALARM
