"""`neartie describe`, as its user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neartie.cli.app import main

ANSWERS = "model,q1,q2\na/qwen-1,1,0\nb/llama-1,1,1\n"


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(ANSWERS)
    return path


def test_one_screen(answers: Path, capsys) -> None:
    assert main(["describe", str(answers)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out == (
        "answers     2 items x 2 models, right/wrong\n"
        "missing     none\n"
        "accuracy    0.500 to 1.000 over models; quartiles 0.625, 0.750, 0.875\n"
        "constant    1 item all right: q1\n"
        "no answers  no item, no model\n"
        "identical   no models, no items (constant ones apart)\n"
        "families    2 from the model ids: Llama 1, Qwen 1\n"
        "owners      2 from the model ids: a 1, b 1\n"
        "sources     not given (column 'source' of an item table)\n"
    )


def test_json(answers: Path, capsys) -> None:
    assert main(["describe", str(answers), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_items"], found["n_models"], found["share_missing"]) == (2, 2, 0)
    assert found["constant_items"] == [{"item": "q1", "score": 1.0, "n": 2}]


def test_every_option(tmp_path: Path, capsys) -> None:
    answers, items, models = (tmp_path / n for n in ("a.csv", "i.csv", "m.csv"))
    answers.write_text("task,x,y,z\nq2,0.5,0.2,7\nq1,0.9,0.9,7\n")
    items.write_text("item,source\nq1,law\nq2,art\n")
    models.write_text("model,owner,family\nx,o,F\ny,o,unknown\n")
    tables = ["--items", str(items), "--models", str(models), "--rows", "items"]
    assert main(["describe", str(answers), *tables, "--threshold", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert "2 items x 2 models, right/wrong" in shown
    assert "1 from the model table; 1 model without: F 1" in shown
    assert "sources     2: law 1, art 1" in shown
    assert main(["describe", str(answers), *tables, "--scores", "graded"]) == 0
    assert "2 items x 2 models, graded" in capsys.readouterr().out


def test_repeats(tmp_path: Path, capsys) -> None:
    path = tmp_path / "long.csv"
    path.write_text("item,model,score\nq,a,1\nq,a,0\n")
    assert main(["describe", str(path), "--repeats", "last"]) == 0
    assert "1 item all wrong: q" in capsys.readouterr().out


def test_ids_cannot_command_the_terminal(tmp_path: Path, capsys) -> None:
    path = tmp_path / "answers.csv"
    path.write_text('model,q1\n"\x1b[2J[bold]a\n",1\n')
    assert main(["describe", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert r"\x1b[2J[bold]a\n 1" in shown
