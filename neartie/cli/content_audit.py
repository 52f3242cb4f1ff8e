"""`neartie content-audit`: blinded sheets for annotators, and what their labels say (P0, 4.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neartie.cli.benchmarks import find_benchmarks
from neartie.cli.options import (
    ItemsOption,
    JsonOption,
    Missing,
    MissingOption,
    ModelsOption,
    NameOption,
    OutOption,
    Repeats,
    RepeatsOption,
    RowsOption,
    SeedOption,
    ThresholdOption,
    load_responses,
)
from neartie.cli.progress import show_progress

SHEETS = Path("neartie-sheets")
ANALYSIS = Path("neartie-content")

content_audit = typer.Typer(
    name="content-audit",
    no_args_is_help=True,
    help="Do items with large family effects have something in common that a reader can see?",
)


@content_audit.command()
def sample(
    responses: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESPONSES...",
            help="Tables of answers, or folders with responses, items and models. The item tables "
            "have a column 'text'.",
        ),
    ],
    key: Annotated[
        Path, typer.Option("--key", help="File for the key, which annotators must not see.")
    ],
    items: ItemsOption = None,
    models: ModelsOption = None,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Matched pairs a benchmark.")] = 50,
    k: Annotated[
        str | None, typer.Option("--k", help="Dimension, as in neartie audit; of every benchmark.")
    ] = None,
    min_family_size: Annotated[
        int, typer.Option("--min-family-size", min=1, help="Drop families with fewer models.")
    ] = 20,
    owner_cap: Annotated[
        int, typer.Option("--owner-cap", min=1, help="Most models of one owner and family.")
    ] = 5,
    missing: MissingOption = Missing.stop,
    rows: RowsOption = None,
    threshold: ThresholdOption = None,
    repeats: RepeatsOption = Repeats.stop,
    seed: SeedOption = 0,
    out: OutOption = SHEETS,
) -> None:
    """Sample stable high-DIF items and matched controls; write blinded sheets, and the key apart."""
    from neartie.audits.content_sample import sample_content
    from neartie.audits.content_sheets import write_content_sheets
    from neartie.audits.near_tie import audit_near_ties
    from neartie.cli.audit_options import audit_settings
    from neartie.data.errors import DataError

    settings = audit_settings(
        k,
        alpha="0.5",
        controls=0,
        bootstraps=0,
        min_family_size=min_family_size,
        owner_cap=owner_cap,
        missing=missing.value,
    )
    benchmarks = find_benchmarks(responses)
    if len(benchmarks) > 1 and items is not None:
        raise DataError(
            "--items describes one benchmark; for several, give folders that hold "
            "responses.csv and items.csv"
        )
    audits = {}
    with show_progress() as say:
        for one in benchmarks:
            data = load_responses(
                one.responses,
                items=items or one.items,
                models=models or one.models,
                rows=rows,
                threshold=threshold,
                repeats=repeats,
                binary_only=True,
            )
            say(one.name, 0)
            try:
                audits[one.name] = (audit_near_ties(data, settings, rng=seed), data)
            except DataError as error:
                raise DataError(f"{one.name}: {error}") from error
        found = sample_content(audits, pairs=pairs, rng=seed)
    sheet, rubric, key_file = write_content_sheets(found, out, key)
    for warning in found.warnings:
        print(f"Warning: {warning}")
    print(f"{str(found).capitalize()}.")
    print(f"For annotators: {sheet} and {rubric}. Keep to yourself: {key_file}")


@content_audit.command()
def analyse(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="The key of the sample.")],
    sheets: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHEETS...",
            help="One filled-in sheet an annotator; the file's name names them.",
        ),
    ],
    permutations: Annotated[
        int, typer.Option("--permutations", min=1, help="Of families, in the exploratory part.")
    ] = 10_000,
    level: Annotated[float, typer.Option("--level", help="Largest q.")] = 0.05,
    name: NameOption = None,
    seed: SeedOption = 0,
    out: OutOption = ANALYSIS,
    json: JsonOption = False,
) -> None:
    """Analyse annotators' labels: agreement, paired tests, the four-part rule, families."""
    from neartie.audits.content_analysis import analyse_content
    from neartie.audits.content_families import associate_families
    from neartie.audits.content_sheets import read_content_key, read_content_sheets
    from neartie.data.errors import DataError
    from neartie.data.files import output_folder, to_json
    from neartie.report.content_files import content_summary, write_content
    from neartie.report.content_html import binary_table, content_answer
    from neartie.report.text import grid, printable, selected, wrapped

    if not 0 < level < 1:
        raise DataError(f"--level must lie between 0 and 1, got {level}")
    paths = {path.name.split(".")[0]: path for path in sheets}
    if len(paths) < len(sheets):
        raise DataError(
            "annotators are called after their files, and two sheets have the same name: rename one"
        )
    with output_folder(out) as temporary:
        read = read_content_key(key)
        labels = read_content_sheets(paths, read)
        audit = analyse_content(read, labels, level=level)
        favoured = (read["group"] == "high") & (read["advantaged"] != "")
        families = (
            associate_families(read, labels, permutations=permutations, level=level, rng=seed)
            if favoured.any()
            else None
        )
        write_content(audit, families, temporary, name=name or "items")
    if json:
        print(to_json(content_summary(audit, families)))
        return
    for warning in audit.warnings:
        print(wrapped(printable(f"Warning: {warning}")) + "\n")
    print(
        grid(selected(binary_table(audit), ("Axis", "Annotator", "Pairs", "Difference (pp)", "q")))
    )
    print("\n" + wrapped(printable(content_answer(audit))))
    print(f"\nReport: {out / 'report.html'} (numbers in {out / 'summary.json'} and CSV beside it)")
