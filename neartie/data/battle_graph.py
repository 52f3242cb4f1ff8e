"""What battles can say at all: connected sets of models, and groups that only win or only lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from neartie.data.pair_counts import Codes, PairCounts
from neartie.data.wording import counted, listed


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Separation:
    """Groups of models within which maximum likelihood compares, and how battles order them.

    Two models are in one group if each has beaten the other, directly or by way of others; a
    tie is half a win for either side. Between two groups that battles connect, one side won
    everything, so that by maximum likelihood the difference is infinite.

    Attributes
    ----------
    models : tuple of str
    component : (n_model,) int
        Connected set of each model; 0 is the largest.
    group : (n_model,) int
        Group of each model; numbered by component, then the largest first.
    above, below : (n_edge,) int
        Pairs of groups of which the first won every battle against the second.
    """

    models: tuple[str, ...]
    component: Codes
    group: Codes
    above: Codes
    below: Codes

    @property
    def is_separated(self) -> bool:
        """Whether some group won all its battles against another."""
        return len(self.above) > 0

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Members of each group, by name."""
        return _members(self.group, self.models)

    @property
    def never_winning(self) -> tuple[str, ...]:
        """Models that lost every battle."""
        return self._alone(self.below, self.above)

    @property
    def never_losing(self) -> tuple[str, ...]:
        """Models that won every battle."""
        return self._alone(self.above, self.below)

    def order(self, one: int, other: int) -> int:
        """Return 1 if one group stands infinitely above another, -1 if below, 0 if neither.

        Parameters
        ----------
        one, other : int
            Two different groups.

        Returns
        -------
        int
            0 where battles order the two in no way.
        """
        if other in self.beneath(one):
            return 1
        return -1 if one in self.beneath(other) else 0

    def beneath(self, group: int) -> frozenset[int]:
        """Return the groups that a group stands infinitely above."""
        return frozenset(_reached(self.above, self.below, group, self._n_group))

    def atop(self, group: int) -> frozenset[int]:
        """Return the groups that stand infinitely above a group."""
        return frozenset(_reached(self.below, self.above, group, self._n_group))

    def sentences(self) -> list[str]:
        """Return what a user should know before any fit.

        Returns
        -------
        list of str
            Empty if all models are connected and nobody is separated.

        Examples
        --------
        >>> from neartie.data.battles import Battles
        >>> Battles.build(["owl", "owl"], ["ant", "bee"], ["a", "a"]).separation().sentences()
        ["1 model never loses: 'owl'", "2 models never win: 'ant', 'bee'"]
        """
        found = []
        components = _members(self.component, self.models)
        if len(components) > 1:
            sets = "; ".join(listed(members) for members in components[:5])
            more = f"; and {len(components) - 5:,} more" if len(components) > 5 else ""
            found.append(
                f"no battle connects the {len(components):,} sets {sets}{more}: models of "
                "different sets cannot be compared"
            )
        for names, verb in ((self.never_losing, "lose"), (self.never_winning, "win")):
            if names:
                verb += "s" if len(names) == 1 else ""
                found.append(f"{counted(len(names), 'model')} never {verb}: {listed(names)}")
        for group, members in enumerate(self.groups):
            if len(members) > 1:
                found += self._sides(group, members)
        return found

    def _sides(self, group: int, members: Sequence[str]) -> list[str]:
        """Say of a group of several whether it won or lost everything against all others."""
        below, above = group in self.below, group in self.above
        if above and not below:
            verb = "win"
        elif below and not above:
            verb = "lose"
        else:
            return []
        names = listed(members)
        return [f"a group of {len(members):,} models ({names}) {verb}s every battle against others"]

    def _alone(self, side: Codes, other: Codes) -> tuple[str, ...]:
        groups = set(side.tolist()) - set(other.tolist())
        return tuple(m[0] for g, m in enumerate(self.groups) if len(m) == 1 and g in groups)

    @property
    def _n_group(self) -> int:
        return int(self.group.max()) + 1


def connected_sets(counts: PairCounts) -> list[list[int]]:
    """Return the sets of models that battles connect, the largest first, then by position."""
    code = _connected(counts)
    return [np.flatnonzero(code == c).tolist() for c in range(int(code.max()) + 1)]


def separate(counts: PairCounts, models: tuple[str, ...]) -> Separation:
    """Return connected sets, groups and their order.

    Parameters
    ----------
    counts : PairCounts
        The battles.
    models : tuple of str
        Names, for whoever reads the answer.

    Returns
    -------
    Separation

    Notes
    -----
    Groups are the strongly connected components of the graph that leads from winners to losers:
    within one, and only there, the likelihood of strengths has a finite maximum (Ford 1957,
    American Mathematical Monthly 64, 28-33).
    """
    component = _connected(counts)
    winner, loser = win_edges(counts)
    graph = _graph(winner, loser, counts.n_model)
    _, strong = connected_components(graph, directed=True, connection="strong")
    group = _renumbered(strong, component)
    crossing = group[winner] != group[loser]
    edges = np.unique(
        np.stack([group[winner[crossing]], group[loser[crossing]]], axis=1).reshape(-1, 2), axis=0
    )
    return Separation(
        models=models, component=component, group=group, above=edges[:, 0], below=edges[:, 1]
    )


def win_edges(counts: PairCounts) -> tuple[Codes, Codes]:
    """Return (winner, loser) of every direction in which there is a win or half of one."""
    forth, back = counts.wins + counts.ties > 0, counts.losses + counts.ties > 0
    return (
        np.concatenate([counts.first[forth], counts.second[back]]),
        np.concatenate([counts.second[forth], counts.first[back]]),
    )


def same_groups(counts: PairCounts, group: Codes) -> bool:
    """Return whether other counts of the same models have these groups as theirs."""
    winner, loser = win_edges(counts)
    graph = _graph(winner, loser, counts.n_model)
    n, strong = connected_components(graph, directed=True, connection="strong")
    n_expected = int(group.max()) + 1
    return n == n_expected and len(np.unique(strong * np.int64(n_expected) + group)) == n


def _connected(counts: PairCounts) -> Codes:
    graph = _graph(counts.first, counts.second, counts.n_model)
    _, code = connected_components(graph, directed=False)
    return _renumbered(code, np.zeros(counts.n_model, dtype=np.int64))


def _graph(source: Codes, target: Codes, n: int) -> csr_array:
    ones = np.ones(len(source), dtype=np.int32)
    return coo_array((ones, (source, target)), shape=(n, n)).tocsr()


def _renumbered(code: NDArray[np.integer], within: Codes) -> Codes:
    """Number sets by the set that they lie within, then the largest first, then by position."""
    names, first, inverse, size = np.unique(
        code, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -size, within[first]))
    number = np.empty(len(names), dtype=np.int64)
    number[order] = np.arange(len(names))
    return np.asarray(number[inverse])


def _reached(source: Codes, target: Codes, start: int, n: int) -> list[int]:
    nodes = breadth_first_order(_graph(source, target, n), start, return_predecessors=False)
    return [int(node) for node in nodes if node != start]


def _members(code: Codes, models: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    order = np.argsort(code, kind="stable")
    bounds = np.cumsum(np.bincount(code))[:-1]
    return tuple(tuple(models[m] for m in part) for part in np.split(order, bounds))
