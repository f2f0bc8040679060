"""Files of baskets in every layout mean the same."""

import gzip

import pytest

from fairfield.learning import read_baskets

NAMES = ("bread", "milk", "tea")


def as_dict(seen):
    rows = [tuple(row) for row in seen.coalitions.astype(int).tolist()]
    return dict(zip(rows, seen.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "tea,bread\nmilk\nbread,tea\n",
        "tea; bread\nmilk\nbread;tea\n\n\n",
        "tea bread\r\nmilk\r\nbread  tea",
        "tea\tbread\nmilk\nbread\ttea\n",
        '"tea","bread","bread"\nmilk\nbread,tea,\n',
        "bread,milk,tea\n1,0,1\n0,1,0\n1,0,1\n",
        "\ufeffbread;milk;tea\n1;0;1\n0;1;0\n1;0;1\n",
        "bread,milk,tea\nTrue,False,True\n\nfalse,true,false\n1.0,0.0,1.0\n",
        "basket,item\n7,tea\n8,milk\n7,bread\n9,bread\n9,tea\n9,tea\n",
        "Order_ID\tProduct Name\na\ttea\na\tbread\nb\tmilk\nc\ttea\nc\tbread\n",
    ],
)
def test_files_of_baskets(tmp_path, text):
    file = tmp_path / "baskets.csv"
    file.write_text(text, encoding="utf-8")
    seen = read_baskets(file)
    assert seen.players == NAMES
    assert as_dict(seen) == {(1, 0, 1): 2, (0, 1, 0): 1}


def test_files_packed_or_with_a_given_layout(tmp_path):
    packed = tmp_path / "baskets.csv.gz"
    packed.write_bytes(gzip.compress(b"tea,bread\nmilk\nbread,tea\n"))
    assert as_dict(read_baskets(packed)) == {(1, 0, 1): 2, (0, 1, 0): 1}
    file = tmp_path / "baskets.csv"
    file.write_text("x7,8\n8,9\n")
    with pytest.raises(ValueError, match=r"line 2 of .* has '8' for 'x7'.*the layout is lines"):
        read_baskets(file)
    assert read_baskets(file, layout="lines").players == ("8", "9", "x7")
    file.write_text("who,what,more\n1,tea,0\n1,milk,1\n")
    assert read_baskets(file, layout="long").players == ("milk", "tea")
    assert read_baskets(file, columns=["more", "what"]).total == 2
    for columns in (["who", "who"], ["who", "what", "more"], ["who", "whom"]):
        with pytest.raises(ValueError, match="two columns, of baskets and of items, each once"):
            read_baskets(file, columns=columns)
    file.write_text("who,who,what\n1,2,tea\n")
    with pytest.raises(ValueError, match="each once"):
        read_baskets(file, columns=["who", "what"])
    file.write_text("customer,article\n1,50\n")
    with pytest.raises(ValueError, match="and long if it names a basket and one item"):
        read_baskets(file)


def test_files_of_numbers_are_no_matrix(tmp_path):
    file = tmp_path / "baskets.csv"
    file.write_text("1\n0 1\n1\n")
    assert as_dict(read_baskets(file)) == {(0, 1): 2, (1, 1): 1}
    file.write_text("")
    with pytest.raises(ValueError, match="is empty"):
        read_baskets(file)
