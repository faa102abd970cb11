"""The house stays as small and as plain as its ruler says, folder by folder."""

import pytest

from tests.ruler import CEILINGS, measure, measure_folders

PLAIN = "width = 2\nheight = 3\n"  # six tokens on two lines


@pytest.mark.parametrize("folders", CEILINGS, ids=" ".join)
def test_a_folder_keeps_below_its_ceiling(folders):
    size = measure_folders(folders)
    tokens, density = CEILINGS[folders]
    assert size.tokens <= tokens
    assert size.density <= density


def test_a_dense_line_counts_as_dense():
    size = measure([PLAIN, "x = [a * (b > 0) for a, b in zip(c, d)]\n"])
    assert (size.files, size.lines, size.tokens) == (2, 3, 6 + 22)
    assert measure(["x = [a * (b > 0) for a, b in zip(c, d)]\n"]).density == 22


@pytest.mark.parametrize(
    "said",
    [
        '"""It is two by three,\nwhich is measured in metres."""\n\n',
        "# It is two by three.\n",
        "\n\n",
    ],
)
def test_what_is_written_for_people_costs_nothing(said):
    assert measure([said + PLAIN])[1:] == measure([PLAIN])[1:]


def test_a_text_that_is_filled_in_is_text():
    """Python 3.12 reads what stands in it as code, those before it do not."""
    plain = measure(['x = "wide"\n'])
    for text in ('x = f"{width + 1} wide"\n', 'x = f"{f(a, b)!r:>{n}} {c}"\n'):
        assert measure([text]) == plain
