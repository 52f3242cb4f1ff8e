"""`neartie describe`: what was read, in one screen."""

from __future__ import annotations

from neartie.cli.options import (
    ItemsOption,
    JsonOption,
    ModelsOption,
    Repeats,
    RepeatsOption,
    ResponsesPath,
    RowsOption,
    Scores,
    ScoresOption,
    ThresholdOption,
    load_responses,
)


def describe(
    responses: ResponsesPath,
    items: ItemsOption = None,
    models: ModelsOption = None,
    rows: RowsOption = None,
    scores: ScoresOption = Scores.binary,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    json: JsonOption = False,
) -> None:
    """Say what a table of answers holds: sizes, gaps, constant items, families, accuracies."""
    from neartie.data.files import to_json
    from neartie.data.summary import describe as summarise

    data = load_responses(
        responses,
        items=items,
        models=models,
        rows=rows,
        scores=scores,
        threshold=threshold,
        repeats=repeats,
    )
    summary = summarise(data)
    print(to_json(summary.to_dict()) if json else summary)
