"""Reading battles: every format gives the same; every fault names its place (C22, C82)."""

import json

import numpy as np
import pandas as pd
import pytest

from neartie.data.errors import DataError
from neartie.data.read_battles import read_battles

TABLE = """model_a,model_b,winner,judge,prompt,first_shown,weight
007,1e5,model_a,j1,p2,model_b,1
1e5,x/y,B,j2,p10,1e5,2.5
x/y,007,Tie (BothBad),,p2,,1
"""
ROWS = [
    dict(zip(TABLE.splitlines()[0].split(","), line.split(","), strict=True))
    for line in TABLE.splitlines()[1:]
]


def seen(battles):
    return (
        battles.models,
        battles.model_a.tolist(),
        battles.model_b.tolist(),
        battles.outcome.tolist(),
        battles.weight.tolist(),
        battles.shown.tolist(),
        battles.judges,
        battles.judge.tolist(),
        battles.prompts,
        battles.prompt.tolist(),
    )


EXPECTED = (
    ("007", "1e5", "x/y"),
    [0, 1, 2],
    [1, 2, 0],
    [1, -1, 0],
    [1, 2.5, 1],
    [-1, 1, 0],
    ("j1", "j2"),
    [0, 1, -1],
    ("p10", "p2"),
    [1, 0, 1],
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.csv", TABLE),
        ("b.csv.gz", TABLE),
        ("b.tsv", TABLE.replace(",", "\t")),
        ("b.csv", "\ufeff" + TABLE.replace("\n", "\r\n")),
        ("b.csv", TABLE.replace("model_a,model_b,winner", "Model_A, MODEL_B ,Winner")),
        ("b.json", json.dumps(ROWS)),
        ("b.json", json.dumps(ROWS, indent=1)),
        ("b.json.gz", json.dumps(ROWS)),
        ("b.jsonl", "\n".join(map(json.dumps, ROWS)) + "\n"),
        ("b.txt", "\ufeff\n" + "\n\n".join(map(json.dumps, ROWS))),
    ],
)
def test_every_text_format_gives_the_same(table, name, content):
    battles = read_battles(table(content, name))
    assert seen(battles) == EXPECTED
    assert battles.shown_is_given


@pytest.mark.parametrize("categorical", [False, True])
def test_parquet_gives_the_same(tmp_path, categorical):
    frame = pd.DataFrame(ROWS).astype({"weight": float})
    if categorical:
        frame = frame.astype({name: "category" for name in frame.columns if name != "weight"})
    frame.to_parquet(tmp_path / "b.parquet")
    assert seen(read_battles(tmp_path / "b.parquet")) == EXPECTED


def test_numbers_as_ids_become_their_digits(tmp_path):
    rows = [{"model_a": "x", "model_b": "y", "winner": "a", "prompt_id": 7, "worker": None}]
    (tmp_path / "b.json").write_text(json.dumps(rows))
    battles = read_battles(tmp_path / "b.json")
    assert battles.prompts == ("7",)
    assert battles.judges == ()


def test_what_is_not_used_is_said_and_may_be_nested(tmp_path):
    rows = [{"model_a": "x", "model_b": "y", "winner": "a", "conversation": [{"role": "user"}]}]
    (tmp_path / "b.jsonl").write_text(json.dumps(rows[0]))
    assert "columns not used: 'conversation'" in read_battles(tmp_path / "b.jsonl").notices[0]


@pytest.mark.parametrize(
    ("column", "values", "shown"),
    [
        ("position", ["1", "2", "first", "second", ""], [1, -1, 1, -1, 0]),
        ("first_shown", ["x", "y", "A", "model_b", ""], [1, -1, 1, -1, 0]),
    ],
)
def test_positions_are_read_in_their_spellings(table, column, values, shown):
    lines = [f"model_a,model_b,winner,{column}", *(f"x,y,tie,{value}" for value in values)]
    assert read_battles(table("\n".join(lines))).shown.tolist() == shown


def test_without_positions_model_a_was_shown_first(table):
    battles = read_battles(table("model_a,model_b,winner\nx,y,a\n"))
    assert battles.shown.tolist() == [1]
    assert not battles.shown_is_given


def test_blocks_do_not_matter(tmp_path, monkeypatch):
    monkeypatch.setattr("neartie.data.json_records._BATCH_ROWS", 2)
    (tmp_path / "b.json").write_text(json.dumps(ROWS))
    assert seen(read_battles(tmp_path / "b.json")) == EXPECTED


def test_row_order_changes_codes_in_no_way(table):
    lines = TABLE.splitlines()
    other = read_battles(table("\n".join([lines[0], *reversed(lines[1:])])))
    assert other.models == EXPECTED[0]
    assert other.model_a.tolist() == EXPECTED[1][::-1]


def test_near_duplicate_names_are_said(table):
    (notice,) = read_battles(table("model_a,model_b,winner\nGPT-4,gpt 4,a\n")).notices
    assert "'GPT-4', 'gpt 4'" in notice


HEAD = "model_a,model_b,winner"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model_a,winner\nx,a\n", r"has no column 'model_b'.*Its columns: 'model_a', 'winner'"),
        (HEAD + "\n", r"has a header but no rows"),
        (HEAD + "\nx,y,a\nx,y,both\n", r"row 3, column 'winner': 'both' is none of model_a, a"),
        (HEAD + "\nx,y,\n", r"row 2, column 'winner': a blank cell is none of"),
        (HEAD + "\nx,,a\n", r"row 2: the id in column 'model_b' is blank"),
        (HEAD + "\nx,x,a\n", r"no battle between two different models"),
        (HEAD + ",weight\nx,y,a,1\nx,y,a,-2\n", r"row 3, column 'weight': '-2' is not a finite"),
        (HEAD + ",weight\nx,y,a,\n", r"row 2, column 'weight': a blank cell is not a finite"),
        (HEAD + ",weight\nx,y,a,many\n", r"row 2, column 'weight': 'many' is not a finite"),
        (HEAD + ",position\nx,y,a,3\n", r"row 2: '3' does not say which of 'x' and 'y' was shown"),
        (HEAD + "\nb,a,a\n", r"row 2, column 'winner': 'a' may mean model_a or the model of that"),
        (HEAD + ",first_shown\nb,a,tie,a\n", r"row 2, column 'first_shown': 'a' may mean model_a"),
        ("[1, 2]", r"row 1: an object such as .* is expected, got 1"),
        ('{"model_a": 1}\n{"model_a"\n', r"line 2: not JSON"),
        ('[{"model_a": 1},\n{]', r"line 2: not JSON"),
        ('{\n "model_a": {}}', r"line 1: not JSON.*an array of objects is expected, or one"),
        ("[]", r"holds no record"),
        ('[{"model_a": ["x"], "model_b": "y", "winner": "a"}]', r"row 1, key 'model_a': a plain"),
        ('[{"model_a": "x", "winner": "a"}]', r"has no column 'model_b'"),
        (
            '[{"model_a": "x", "model_b": "y", "winner": "a"}, {"model_a": "x", "winner": "a"}]',
            r"row 2: the id in column 'model_b' is blank",
        ),
        (b'[{"model_a": "\xff"}]', r"line 1: byte 14 .* is not UTF-8"),
        (b"PK\x03\x04", r"is a zip archive"),
    ],
)
def test_faults_name_file_row_and_value(table, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_battles(table(content))
    assert "answers.csv" in str(caught.value)


def test_models_named_a_and_b_are_no_problem_in_their_own_columns(table):
    assert read_battles(table(HEAD + "\na,b,a\na,b,b\n")).outcome.tolist() == [1, -1]


def test_case_c22_the_listing_of_winners_first_changes_nothing(case_dir):
    first = read_battles(case_dir / "C22" / "battles_first.json")
    mixed = read_battles(case_dir / "C22" / "battles_mixed.json")
    assert (first.outcome == 1).all()
    assert not (mixed.outcome == 1).all()
    one, other = first.counts(), mixed.counts()
    for name in ("first", "second", "wins", "losses", "ties"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_case_c82_is_read(case_dir):
    counts = read_battles(case_dir / "C82" / "battles.csv").counts()
    assert (counts.wins.tolist(), counts.losses.tolist()) == ([7], [3])


def test_llmfao_is_read_whole(data_dir):
    battles = read_battles(data_dir / "llmfao_crowd" / "battles.csv.gz")
    assert (battles.n_battle, battles.n_model, len(battles.prompts)) == (8931, 59, 13)
    models = pd.read_csv(data_dir / "llmfao_crowd" / "models.csv").set_index("model")
    table = battles.win_rates().set_index("model")
    assert table["n"].astype(int).to_dict() == models["n_battles"].to_dict()


COUNTS = "model_a,model_b,win_a,win_b,tie\nowl,ant,3,1,2\nant,fly,0,2,0\n"
COUNT_ROWS = [
    {"model_a": "owl", "model_b": "ant", "win_a": 3, "win_b": 1, "tie": 2},
    {"model_a": "ant", "model_b": "fly", "win_a": 0, "win_b": 2, "tie": 0},
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.csv", COUNTS),
        ("c.csv", COUNTS.replace(",", ";")),
        ("c.csv", COUNTS.replace("win_a,win_b,tie", "Wins_A, wins_b ,DRAWS")),
        ("c.csv", COUNTS.replace(",3,", ",3.0,")),
        ("c.json", json.dumps(COUNT_ROWS)),
        ("c.jsonl", "\n".join(json.dumps(row) for row in COUNT_ROWS)),
        ("c.parquet", None),
    ],
)
def test_counts_are_read_as_single_battles(tmp_path, name, content):
    place = tmp_path / name
    if content is None:
        pd.DataFrame(COUNT_ROWS).to_parquet(place)
    else:
        place.write_text(content)
    battles = read_battles(place)
    assert battles.models == ("ant", "fly", "owl")
    assert battles.n_battle == 8
    assert (battles.weight == 1).all()
    assert not battles.notices
    counts = battles.counts()
    assert counts.first.tolist() == [0, 0]
    assert counts.second.tolist() == [1, 2]
    assert counts.wins.tolist() == [0, 1]
    assert counts.losses.tolist() == [2, 3]
    assert counts.ties.tolist() == [0, 2]


def test_counts_keep_what_a_row_says_of_its_battles(table):
    head = "model_a,model_b,win_a,win_b,judge,first_shown"
    battles = read_battles(table(f"{head}\nx,y,2,1,j1,x\nx,y,0,1,j2,y\n"))
    assert battles.judge.tolist() == [0, 0, 0, 1]
    assert battles.shown.tolist() == [1, 1, 1, -1]
    assert battles.outcome.tolist() == [1, 1, -1, -1]


def test_counts_of_nothing_and_of_a_model_against_itself_are_left_out(table):
    content = "model_a,model_b,win_a,win_b\nx,y,1,1\nx,z,0,0\nx,x,2,0\n"
    battles = read_battles(table(content))
    assert (battles.models, battles.n_battle, battles.n_self) == (("x", "y"), 2, 2)
    assert "left out 2 battles of a model with itself" in battles.notices
    assert "left out 1 battle of weight 0" in battles.notices
    assert "left out 1 model without any other battle: 'z'" in battles.notices


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model_a,model_b,win_a\nx,y,1\n", r"has no column 'win_b'; .* counts win_a, win_b"),
        (
            "model_a,model_b\nx,y\n",
            r"has no column 'winner'; .* or model_a, model_b and the counts",
        ),
        ("model_a,model_b,win_a,win_b\nx,y,1,-1\n", r"row 2, column 'win_b': '-1' is not a whole"),
        ("model_a,model_b,win_a,win_b\nx,y,1,\n", r"row 2, column 'win_b': a blank cell is not"),
        ("model_a,model_b,win_a,win_b\nx,y,2.5,1\n", r"'2.5' is no whole number of battles; ties"),
        ("model_a,model_b,win_a,win_b\nx,y,1e15,1\n", r"as 1,000,000,000,000,001 battles needs"),
        ("model_a,model_b,win_a,win_b,weight\nx,y,1,1,1\n", r"and a column 'weight'; take one"),
        ("model_a,model_b,winner,win_a,win_b\nx,y,a,1,1\n", r"a column 'winner' and counts"),
        ("model_a,model_b,win_a,win_b\nx,y,0,0\n", r"no battle between two different models"),
    ],
)
def test_faults_in_counts_name_row_and_value(table, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_battles(table(content))
    assert "answers.csv" in str(caught.value)


@pytest.mark.parametrize("name", ["baseball", "citations", "springall"])
def test_classic_tables_of_counts_are_read_whole(data_dir, name):
    battles = read_battles(data_dir / "bt_classic" / f"{name}.csv")
    table = pd.read_csv(data_dir / "bt_classic" / f"{name}.csv")
    assert battles.n_battle == table.drop(columns=["model_a", "model_b"]).to_numpy().sum()
    assert battles.n_tie == (table["tie"].sum() if "tie" in table else 0)
