"""Tables of a scorecard: what is read, what is refused, and in which words."""

import math

import pandas as pd
import pytest

from neartie.data.errors import DataError
from neartie.data.read_score_inputs import read_score_inputs
from neartie.data.read_verdicts import read_verdicts
from neartie.data.score_inputs import ScoreInputs


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


LONG = "item,model,domain,score,confidence,anchor\n"


def test_long_answers(write):
    path = write("a.csv", LONG + "007,owl,code,1,90,1\n7,owl,code,,,0\n7,ant,math,False,0,0\n")
    found = read_score_inputs(path)
    table = found.answers
    assert table["item"].tolist() == ["007", "7", "7"]
    assert table["score"].fillna(-1).tolist() == [1, -1, 0]
    assert table["confidence"].fillna(-1).tolist() == [0.9, -1, 0]
    assert "taken as per cent" in found.notices[0]


@pytest.mark.parametrize(
    ("cells", "scale", "expected"),
    [
        (("0.5", "1"), "auto", [0.5, 1]),
        (("0.5", "2"), "auto", [0.005, 0.02]),
        (("0.5", "1"), "percent", [0.005, 0.01]),
        (("0.5", "1"), "proportion", [0.5, 1]),
    ],
)
def test_the_scale_of_confidence_is_settled_for_the_whole_column(write, cells, scale, expected):
    rows = "".join(f"q{i},owl,code,1,{cell},0\n" for i, cell in enumerate(cells))
    found = read_score_inputs(write("a.csv", LONG + rows), confidence_scale=scale)
    assert found.answers["confidence"].tolist() == pytest.approx(expected)


def test_wide_answers_take_domain_and_anchor_from_the_item_table(write):
    path = write("a.csv", "item,owl,ant\nq1,1,0\nq2,,1\n")
    items = write("i.csv", "item,domain,anchor\nq2,math,1\nq1,code,0\nq3,code,0\n")
    table = read_score_inputs(path, items=items).answers.set_index(["model", "item"])
    assert table.loc[("owl", "q1"), "domain"] == "code"
    assert table.loc[("ant", "q2"), "anchor"] == 1
    assert math.isnan(table.loc[("owl", "q2"), "score"])


def test_sources_of_items_serve_as_domains(write):
    path = write("a.csv", "item,owl,ant\nq1,1,0\nq2,0,1\n")
    items = write("i.csv", "item,source\nq1,code\nq2,math\n")
    table = read_score_inputs(path, items=items).answers
    assert table.set_index(["model", "item"]).loc[("owl", "q2"), "domain"] == "math"


def test_a_table_with_confidences_may_be_of_one_model(case_dir):
    found = read_score_inputs(case_dir / "C46" / "conf.csv")
    assert found.answers["model"].unique().tolist() == ["model"]
    assert any("of one model" in notice for notice in found.notices)


def test_samples_take_the_domain_of_their_item(write):
    answers = write("a.csv", LONG + "q1,owl,code,1,,\nq2,owl,math,1,,\n")
    samples = write("s.csv", "item,model,answer\nq2,owl,7\nq1,owl,\n")
    found = read_score_inputs(answers, samples=samples).samples
    assert found[["domain", "answer"]].to_numpy().tolist() == [["math", "7"], ["code", ""]]


def test_exact_repeats_are_dropped_with_a_count(write):
    found = read_score_inputs(write("a.csv", "item,model,score\nq,owl,1\nq,owl,1\nq,ant,0\n"))
    assert len(found.answers) == 2
    assert "dropped 1 row" in found.notices[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,model,score\n", "has a header but no rows"),
        ("item,model,right\nq,a,1\n", "no column 'score'"),
        ("item,model,score\nq,a,0.5\n", r"row 2, column 'score': '0.5' is not 1 \(right\), 0"),
        ("item,model,score\nq,,1\n", "row 2.*blank"),
        (LONG + "q,a,x,1,101,0\n", "row 2, column 'confidence': '101' is not a confidence"),
        (LONG + "q,a,x,1,-1,0\n", "row 2, column 'confidence': '-1' is not a confidence"),
        (LONG + "q,a,x,1,high,0\n", "row 2, column 'confidence': 'high' is not a confidence"),
        (LONG + "q,a,x,1,5,2\n", "row 2, column 'anchor': '2' is not 0 or 1"),
        (LONG + "q,a,,1,5,0\n", "row 2, column 'domain': the cell is blank"),
        (LONG + "q,a,x,1,5,0\nq,a,x,0,5,0\n", "row 3: domain 'x', model 'a', item 'q' stands in row 2"),
        (LONG + "q,a,x,1,5,0\nq,b,x,0,5,1\n", "item 'q' of domain 'x' is an anchor in one row"),
    ],
)  # fmt: skip
def test_answers_that_are_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        read_score_inputs(write("a.csv", text))


GOOD = "item,model,score\nq,owl,1\nq,ant,0\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("samples", "item,model\nq,owl\n", "no column 'answer'"),
        ("samples", "item,model,answer\nz,owl,7\n", "1 row of items that no model answered, first 'z'"),
        ("abilities", "model,ability\nowl,1\n", "no column 'se'"),
        ("abilities", "model,ability,se\nowl,1,-1\n", "row 2, column 'se': '-1' is not a finite"),
        ("abilities", "model,theta,sd\nowl,1,1\nowl,2,1\n", "row 3: model 'owl' stands in row 2"),
        ("economics", "model,price\nowl,1\n", "neither a column 'cost' nor 'latency'"),
        ("economics", "model,cost\nowl,-1\n", "row 2, column 'cost': '-1' is not"),
        ("economics", "model,cost\nowl,1\nowl,2\n", "already, with another cost"),
        ("tasks", "model,t1\nowl,high\n", "row 2, column 't1': 'high' is not a finite number"),
        ("tasks", "model,t1\nowl,1\nowl,0\n", "'owl' stands in row 2 already"),
        ("labels", "item,judge1\nq,pass\n", "has 1 judge; agreement needs two"),
        ("items", "item,topic\nq,x\n", "neither a column 'domain' .or 'source'. nor 'anchor'"),
        ("items", "item,domain\nz,x\n", "does not list 'q'"),
    ],
)  # fmt: skip
def test_other_tables_that_are_refused(write, name, text, message):
    answers = write("a.csv", GOOD)
    with pytest.raises(DataError, match=message):
        read_score_inputs(answers, **{name: write("other.csv", text)})


def test_abilities_of_other_programs(write):
    text = "model,strength,se,se_diagonal\nowl,1.5,0.2,0.1\nant,-1.5,0.2,0.1\n"
    found = read_score_inputs(write("a.csv", GOOD), abilities=write("b.csv", text)).abilities
    assert found["domain"].tolist() == ["all", "all"]
    assert found["se_printed"].tolist() == [0.1, 0.1]


def test_abilities_need_a_domain_where_there_are_several(write):
    answers = write("a.csv", LONG + "q1,owl,code,1,,\nq2,owl,math,1,,\n")
    with pytest.raises(DataError, match="a column 'domain' is needed"):
        read_score_inputs(answers, abilities=write("b.csv", "model,ability,se\nowl,1,1\n"))


def test_tasks_whose_names_differ_in_case_stay_apart(write):
    found = read_score_inputs(tasks=write("t.csv", "model,T1,t1\nowl,0.1,0.9\n")).tasks
    assert found.set_index("domain")["value"].to_dict() == {"T1": 0.1, "t1": 0.9}


def test_nothing_to_score_is_refused():
    with pytest.raises(DataError, match="there is nothing to score"):
        read_score_inputs()
    with pytest.raises(DataError, match="there is nothing to score"):
        ScoreInputs.build(economics=pd.DataFrame({"model": ["a"], "cost": [1.0]}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [1, 2]}, "answers, row 2: score is 2, which is not one of 0, 1"),
        ({"confidence": [0.5, 90]}, "answers, row 2: confidence is 90, which is not between 0 and 1"),
        ({"model": ["a", ""]}, "answers, row 2: model is blank"),
        ({"model": ["a", 7]}, "answers, row 2: model is 7, which is no text"),
        ({"score": ["x", "y"]}, "column 'score' does not hold numbers"),
        ({"model": ["a", "a"]}, "has more than one row"),
    ],
)  # fmt: skip
def test_frames_are_checked_too(change, message):
    table = pd.DataFrame({"model": ["a", "b"], "item": "q", "score": [1, 0]})
    with pytest.raises(DataError, match=message):
        ScoreInputs.build(answers=table.assign(**change))


def test_a_frame_without_a_column_is_refused():
    with pytest.raises(DataError, match="no column 'item'"):
        ScoreInputs.build(answers=pd.DataFrame({"model": ["a"], "score": [1]}))
    with pytest.raises(DataError, match="the table of answers has no rows"):
        ScoreInputs.build(answers=pd.DataFrame(columns=["model", "item", "score"]))


# verdicts


@pytest.mark.parametrize(
    ("columns", "rows", "outcome", "shown"),
    [
        ("winner", ["model_a", "b", "tie (bothbad)"], [1, -1, 0], [1, 1, 1]),
        ("winner,swapped", ["a,1", "b,0", "tie,"], [1, -1, 0], [-1, 1, 0]),
        ("winner,first_shown", ["a,b", "b,owl", "b,ant"], [1, -1, -1], [-1, 1, -1]),
        ("winner,position", ["a,first", "b,2"], [1, -1], [1, -1]),
        ("verdict,swapped", ["first,1", "second,1", "first,0"], [-1, 1, 1], [-1, -1, 1]),
        ("verdict,position", ["1,second", "tie,1"], [-1, 0], [-1, 1]),
    ],
)
def test_verdicts_are_unswapped(write, columns, rows, outcome, shown):
    text = f"model_a,model_b,{columns}\n" + "".join(f"owl,ant,{row}\n" for row in rows)
    found = read_verdicts(write("d.csv", text))
    assert found.table["outcome"].tolist() == outcome
    assert found.table["shown"].tolist() == shown
    assert found.shown_is_given == ("," in columns)


@pytest.mark.parametrize("word", ["", "unparsed", "N/A"])
def test_verdicts_that_cannot_be_read_are_ties_and_counted(write, word):
    text = f"model_a,model_b,verdict\nowl,ant,{word}\nowl,ant,first\n"
    found = read_verdicts(write("d.csv", text)).table
    assert found["outcome"].tolist() == [0, 1]
    assert found["unparsed"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model_a,model_b,winner\nowl,ant,c\n", "row 2, column 'winner': 'c' is not one of model_a"),
        ("model_a,model_b,verdict\nowl,ant,a\n", "row 2, column 'verdict': 'a' is not one of first"),
        ("model_a,model_b\nowl,ant\n", r"needs a column 'winner' \(which model won"),
        ("model_a,model_b,winner,verdict\nowl,ant,a,first\n", "and not both"),
        ("model_a,model_b,verdict,swapped\nowl,ant,first,\n", "nothing says which model was shown"),
        ("model_a,model_b,winner,first_shown\nowl,ant,a,bee\n", "'bee' is not one of model_a"),
        ("model_a,model_b,winner,judge\nowl,ant,a,\n", "column 'judge': the cell is blank"),
        ("model_a,model_b,winner,swapped,position\nowl,ant,a,0,1\n", "which say the same; keep one"),
        ("model_a,winner\nowl,a\n", "no column 'model_b'"),
    ],
)  # fmt: skip
def test_verdicts_that_are_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        read_verdicts(write("d.csv", text))


def test_judges_that_are_not_listed_are_refused(write):
    duels = write("d.csv", "model_a,model_b,winner,judge\nowl,ant,a,j1\nowl,ant,a,J-2\n")
    with pytest.raises(DataError, match=r"row 3, column 'judge': judge 'J-2' is not.*spelled 'j2'"):
        read_verdicts(duels, judges=write("j.csv", "judge\nj1\nj2\n"))
    found = read_verdicts(duels, judges=write("k.csv", "judge,provider\nj1,acme\nJ-2,\n"))
    assert found.providers == {"j1": "acme", "J-2": ""}


def test_judges_without_duels_are_refused(write):
    with pytest.raises(DataError, match="needs duels to go with"):
        read_score_inputs(write("a.csv", GOOD), judges=write("j.csv", "judge\nj1\n"))
