"""The bundled example: what it holds, and that one command makes it anew."""

import gzip
import zlib
from importlib.resources import files

import numpy as np
import pytest

from neartie.data.example import load_example, main, simulate_example
from neartie.data.labels import family_of

BUNDLED = files("neartie.data") / "examples"
NAMES = ["responses.csv.gz", "items.csv", "models.csv"]


@pytest.fixture(scope="module")
def remade(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example") / "new"
    main([str(folder)])
    return folder


def test_the_command_writes_these_files_and_no_others(remade):
    assert sorted(path.name for path in remade.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_regenerates_the_bundled_files_byte_for_byte(remade, name):
    bundled, new = (BUNDLED / name).read_bytes(), (remade / name).read_bytes()
    if name.endswith(".gz"):
        assert gzip.decompress(bundled) == gzip.decompress(new)
        if "ng" in zlib.ZLIB_RUNTIME_VERSION:
            return  # Another compressor: the same content in other compressed bytes.
    assert bundled == new


def test_the_command_says_what_it_wrote(tmp_path, capsys):
    main([str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in lines] == [str(tmp_path / name) for name in NAMES]


def test_files_hold_no_time_and_are_small():
    packed = (BUNDLED / "responses.csv.gz").read_bytes()
    assert packed[4:8] == bytes(4)
    assert sum(len((BUNDLED / name).read_bytes()) for name in NAMES) < 120_000


def test_what_is_read_is_what_was_simulated():
    read, simulated = load_example(), simulate_example().responses
    np.testing.assert_array_equal(read.values, simulated.values)
    assert read.items.equals(simulated.items)
    assert read.models.equals(simulated.models)
    assert read.notices == ()


def test_it_has_what_an_audit_needs():
    example = load_example()
    assert example.items["source"].nunique() >= 5
    capped = example.models.groupby(["owner", "family"]).head(5)
    sizes = capped[capped["family"] != "unknown"]["family"].value_counts()
    assert len(sizes) == 5
    assert sizes.min() >= 20
    named = [family_of(model) or "unknown" for model in example.models["model"]]
    assert example.models["family"].tolist() == named


def test_reading_twice_gives_separate_tables():
    one, two = load_example(), load_example()
    assert one.models is not two.models
    assert not one.values.flags.writeable
