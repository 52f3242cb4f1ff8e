"""Time and memory of reading a table of answers, in every form, each in a process of its own (Linux).

Run `python benchmarks/read.py` for the size of MMLU with 5,000 models, or give a smaller one:
`python benchmarks/read.py --items 1000 --models 500`. `--keep DIR` keeps the files for reuse.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

FORMATS = ("wide.csv", "wide.csv.gz", "wide.parquet", "long.parquet", "long.csv", "graded.csv")

CHILD = """
import json, sys, time
from neartie import read_responses
before, before_cpu = time.perf_counter(), time.process_time()
data = read_responses(sys.argv[1], scores=sys.argv[2])
seconds, cpu = time.perf_counter() - before, time.process_time() - before_cpu
# Not ru_maxrss, which still counts what the parent held before the fork.
status = dict(line.split(":") for line in open("/proc/self/status") if line.count(":") == 1)
peak = int(status["VmHWM"].split()[0]) / 1024
print(json.dumps([seconds, cpu, peak, int(data.values[data.observed].sum()), repr(data)]))
"""


def simulate(n_item: int, n_model: int) -> tuple[np.ndarray, list[str], list[str]]:
    """Answers with 1 % missing, in a fixed order."""
    rng = np.random.default_rng(20)
    codes = (rng.random((n_item, n_model)) < rng.random((n_item, 1))).astype(np.int8)
    codes[rng.random((n_item, n_model)) < 0.01] = -1
    items = [f"mmlu.{i:05d}" for i in range(n_item)]
    models = [f"owner-{i % 701}/model-{i}-7B" for i in range(n_model)]
    return codes, items, models


def write_wide(folder: Path, codes: np.ndarray, items: list[str], models: list[str]) -> None:
    """The wide forms, as text and as Parquet."""
    spellings = {"wide.csv": ["0", "1", ""], "graded.csv": ["0.25", "0.5", ""]}
    for name, cells in spellings.items():
        texts = np.array(cells, dtype=object)
        with open(folder / name, "w", encoding="utf-8", newline="") as stream:
            stream.write("item," + ",".join(models) + "\n")
            rows = zip(items, codes, strict=True)
            stream.writelines(f"{item},{','.join(texts[row])}\n" for item, row in rows)
    with (
        open(folder / "wide.csv", "rb") as plain,
        gzip.open(folder / "wide.csv.gz", "wb", 1) as out,
    ):
        while chunk := plain.read(1 << 20):
            out.write(chunk)
    columns = [pa.array(items)]
    columns += [pa.array(column, mask=column < 0) for column in codes.T]
    table = pa.table(columns, names=["item", *models])
    pyarrow.parquet.write_table(table, folder / "wide.parquet")


def write_long(folder: Path, codes: np.ndarray, items: list[str], models: list[str]) -> None:
    """One answer a row, in an order that is neither by item nor by model."""
    schema = pa.schema([("model", pa.string()), ("item", pa.string()), ("score", pa.int8())])
    rng = np.random.default_rng(21)
    with (
        pyarrow.parquet.ParquetWriter(folder / "long.parquet", schema) as parquet,
        pyarrow.csv.CSVWriter(folder / "long.csv", schema) as text,
    ):
        for rows in np.array_split(rng.permutation(len(items)), max(1, codes.size >> 20)):
            score = codes[rows].ravel()
            batch = pa.record_batch(
                [
                    pa.array(models).take(pa.array(np.tile(np.arange(len(models)), len(rows)))),
                    pa.array(items).take(pa.array(np.repeat(rows, len(models)))),
                    pa.array(score, mask=score < 0),
                ],
                schema=schema,
            )
            parquet.write_batch(batch)
            text.write_batch(batch)


def main() -> None:
    """Write the files, read each in a fresh process, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=14_042)
    parser.add_argument("--models", type=int, default=5_000)
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=FORMATS)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not all((folder / name).exists() for name in FORMATS):
            simulated = simulate(options.items, options.models)
            write_wide(folder, *simulated)
            write_long(folder, *simulated)
        print(
            f"{'file':<14}{'file MB':>9}{'seconds':>9}{'CPU s':>7}{'peak MB':>9}  what came of it"
        )
        for name in options.formats:
            scores = "graded" if name == "graded.csv" else "binary"
            command = [sys.executable, "-c", CHILD, str(folder / name), scores]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds, cpu, peak, total, shown = json.loads(done.stdout)
            size = (folder / name).stat().st_size / 2**20
            print(
                f"{name:<14}{size:>9.0f}{seconds:>9.1f}{cpu:>7.1f}{peak:>9.0f}  {shown}, sum {total}"
            )


if __name__ == "__main__":
    main()
