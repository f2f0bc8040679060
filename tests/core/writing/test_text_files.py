"""Text files are read as UTF-8, packed or not, and refused with the reason."""

import gzip

import pytest

from fairfield.core.writing.text_files import existing, read_text


def test_text_is_read_packed_or_not(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_bytes("\ufeffthé\n".encode())
    packed.write_bytes(gzip.compress("thé\n".encode()))
    assert existing(plain, "a table") == plain
    assert read_text(plain, "a table") == read_text(packed, "a table") == "thé\n"


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        existing(tmp_path / "none.csv", "a table")
    with pytest.raises(ValueError, match="is a folder; a table is needed"):
        existing(tmp_path, "a table")
    file = tmp_path / "a.csv"
    file.write_bytes("tea\nthé\n".encode("latin-1"))
    with pytest.raises(ValueError, match="byte 0xe9 in line 2; save it as UTF-8"):
        read_text(file, "a table")
    file.write_bytes(b"tea\0")
    with pytest.raises(ValueError, match="is no text file; a table is needed"):
        read_text(file, "a table")
