"""Which programs fit which data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import simulated
from simulated import Sample


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """A way to fit, by its name in `with_PROGRAM.py`.

    `limit` is for methods that are known not to end; `fresh` compiles anew what is kept compiled.
    """

    program: str
    name: str
    note: str = ""
    limit: float | None = None
    fresh: bool = False

    @property
    def label(self) -> str:
        """What the table calls it."""
        return f"{self.program}: {self.name}{self.note}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Data sets of one kind, and who fits them; `together` of them in one process."""

    name: str
    title: str
    kind: str
    simulate: Callable[[int], Sample]
    methods: tuple[Method, ...]
    sets: int
    together: int = 1

    @property
    def judge(self) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, float]]:
        """What a fit is judged by."""
        return {
            "answers": simulated.judge_answers,
            "several": simulated.judge_predictor,
            "battles": simulated.judge_strengths,
            "intervals": simulated.judge_strengths,
        }[self.kind]


def methods(**names: tuple[str, ...]) -> tuple[Method, ...]:
    """Return methods by program, in whose names `_` stands for a hyphen."""
    spelled = {"py_irt": "py-irt", "scikit_learn": "scikit-learn", "arena_rank": "arena-rank"}
    return tuple(
        Method(program=spelled.get(program, program), name=name)
        for program, several in names.items()
        for name in several
    )


FRESH = ", first run ever"
ANSWERS = methods(
    neartie=("map", "map, as printed (Adam)"),
    mirt=("EM", "EM, with errors of items", "EM, 121 nodes"),
    girth=("joint ML",),
    torch_measure=("joint ML, ridge", "SVI, 1,000 steps"),
    py_irt=("SVI, 500 epochs",),
)
SEVERAL = (
    *methods(
        neartie=("map, with errors", "map, errors with items known"),
        mirt=("GVEM",),
        torch_measure=("factor model, joint ML",),
        py_irt=("several, 1,200 epochs, rate .05", "several, 500 epochs, rate .1"),
    ),
    Method(program="mirt", name="MHRM", limit=60),
    Method(program="mirt", name="EM, 7 nodes a dimension", limit=60),
    Method(program="girth", name="marginal ML, several", limit=60),
)
BATTLES = methods(
    neartie=(
        "newton",
        "newton, .1 phantom wins",
        "mm, printed errors",
        "newton, with sets of ranks",
    ),
    evalica=("bradley_terry", "newman"),
    choix=("I-LSR, counts", "I-LSR, battles", "MM, battles"),
    arenakit=("fit_bt",),
    arena_rank=("sandwich",),
    scikit_learn=("logistic regression",),
)
ROUNDS = methods(
    neartie=("bootstrap",),
    evalica=("bootstrap",),
    arenakit=("bootstrap",),
    scikit_learn=("bootstrap",),
)
INTERVALS = methods(neartie=("newton", "mm, printed errors"), arena_rank=("sandwich",)) + ROUNDS


def first_run(program: str, name: str) -> Method:
    """Return a method that compiles first."""
    return Method(program=program, name=name, note=FRESH, fresh=True)


TASKS = (
    Task(
        name="2pl-150",
        title="2PL, 150 models, 500 items",
        kind="answers",
        simulate=partial(simulated.two_pl, 150, 500),
        methods=(*ANSWERS, Method(program="girth", name="marginal ML", limit=60)),
        sets=3,
    ),
    Task(
        name="2pl-500",
        title="2PL, 500 models, 1,000 items",
        kind="answers",
        simulate=partial(simulated.two_pl, 500, 1000),
        methods=(*ANSWERS, first_run("neartie", "map")),
        sets=2,
    ),
    Task(
        name="mirt",
        title="2PL of four dimensions, 500 models, 1,000 items",
        kind="several",
        simulate=partial(simulated.several, 500, 1000, 4),
        methods=SEVERAL,
        sets=2,
    ),
    Task(
        name="bt-1000",
        title="Bradley–Terry, 1,000 models, 1 million battles",
        kind="battles",
        simulate=partial(simulated.uniform, 1000, 1_000_000),
        methods=(*BATTLES, first_run("neartie", "newton")),
        sets=2,
    ),
    Task(
        name="bt-bootstrap",
        title="Bradley–Terry with 100 bootstrap rounds, 100 models, 100,000 battles",
        kind="battles",
        simulate=partial(simulated.uniform, 100, 100_000, rounds=100),
        methods=ROUNDS,
        sets=3,
    ),
    Task(
        name="bt-uniform",
        title="Intervals, uniform design: 100 models, 39,400 battles, 100 rounds where drawn",
        kind="intervals",
        simulate=partial(simulated.uniform, 100, 39_400, rounds=100),
        methods=INTERVALS,
        sets=10,
        together=10,
    ),
    Task(
        name="bt-ladder",
        title="Intervals, ladder design: each of 100 models meets its 4 nearest, 200 battles a pair",
        kind="intervals",
        simulate=partial(simulated.ladder, 100, 200, rounds=100),
        methods=INTERVALS,
        sets=10,
        together=10,
    ),
)
#: The same at sizes that take seconds.
SMALL: dict[str, Callable[[int], Sample]] = {
    "2pl-150": partial(simulated.two_pl, 40, 60),
    "2pl-500": partial(simulated.two_pl, 60, 100),
    "mirt": partial(simulated.several, 60, 80, 2),
    "bt-1000": partial(simulated.uniform, 30, 5000),
    "bt-bootstrap": partial(simulated.uniform, 20, 2000, rounds=10),
    "bt-uniform": partial(simulated.uniform, 20, 2000, rounds=10),
    "bt-ladder": partial(simulated.ladder, 20, 50, rounds=10),
}


def shortened(task: Task) -> Task:
    """Return the task with one method a program, at a size that takes seconds."""
    first: dict[str, Method] = {}
    for method in task.methods:
        if method.program not in (SLOW if task.name in ("mirt", "bt-ladder") else ()):
            first.setdefault(method.program, method)
    kept = [replace(m, name=BRIEF.get(m.name, m.name)) for m in first.values()]
    return replace(
        task,
        title=f"{task.title}: small, to see that it works",
        simulate=SMALL[task.name],
        methods=tuple(kept),
        sets=1,
        together=1,
    )


#: Programs that start slowly: one small task for them is enough.
SLOW = ("torch_measure", "py-irt", "arena-rank")
BRIEF = {"SVI, 500 epochs": "SVI, 50 epochs"}
QUICK = tuple(shortened(task) for task in TASKS if task.name not in ("2pl-500", "bt-uniform"))
