"""Reading files of strangers."""

from __future__ import annotations

from pathlib import Path

import pytest

from obviate.kb.errors import DataError
from obviate.kb.files import MAX_BYTES, read_text


def refusal(file: Path | str) -> DataError:
    with pytest.raises(DataError) as refused:
        read_text(file)
    return refused.value


def test_a_file_is_read_as_utf8(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("é皿\n".encode())
    assert read_text(tmp_path / "f") == "é皿\n"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path / "none.lp")
    assert (error.code, error.where) == ("file-missing", str(tmp_path / "none.lp"))
    assert "no such file" in error.message


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert refusal(tmp_path).code == "file-missing"


def test_a_path_with_nul_is_refused() -> None:
    assert refusal("a\0b").code == "file-missing"


@pytest.mark.parametrize(("size", "fits"), [(MAX_BYTES, True), (MAX_BYTES + 1, False)])
def test_a_file_over_the_limit_is_refused(tmp_path: Path, size: int, fits: bool) -> None:
    file = tmp_path / "big"
    with file.open("wb") as stream:
        stream.truncate(size)
    if fits:
        assert len(read_text(file)) == size
    else:
        assert refusal(file).code == "file-too-large"


def test_a_file_that_is_not_utf8_is_refused_at_its_byte(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"ab\xff")
    error = refusal(tmp_path / "f")
    assert (error.code, error.message) == ("file-encoding", "byte 2 is not UTF-8")
