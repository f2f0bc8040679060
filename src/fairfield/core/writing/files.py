"""Files that are written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that a crash or a full disk leaves the old one or the new one, never half.

    The content goes to a temporary file in the same folder, which takes the name once it is on
    the disk. Text is UTF-8; a lone surrogate, as of a file name, is written as ``\\udc80``.
    """
    raw = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    place = Path(path).resolve()  # a link stays a link
    if place.exists() and not place.is_file():  # a terminal, a pipe
        place.write_bytes(raw)
        return
    _check_folder(path, place)
    with _named_after(path):
        handle, name = tempfile.mkstemp(prefix=f".{place.name[:80]}.", dir=place.parent)
        try:
            with open(handle, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, _mode(place))
            os.replace(name, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    _flush_folder(place.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path to which :func:`write_file` could not write, by trying a file beside it."""
    place = Path(path).resolve()
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "it may only be read", str(path))
    if place.exists() and not place.is_file():
        return
    _check_folder(path, place)
    with _named_after(path), tempfile.TemporaryFile(dir=place.parent):
        pass


def no_folder(place: Path) -> str | None:
    """That the folder of a file does not exist, where that is so: none is made, it may be a typo."""
    if place.parent.exists():
        return None
    return f"there is no folder {place.parent}; make it, or correct the path"


def _check_folder(path: str | os.PathLike[str], place: Path) -> None:
    if (missing := no_folder(place)) is not None:
        raise FileNotFoundError(errno.ENOENT, missing, os.fspath(path))


@contextmanager
def _named_after(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the temporary file as those of the file that the user named."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


def _mode(place: Path) -> int:
    """The permissions of the file that is replaced, or of any new file."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)  # which can only be read by setting it
    os.umask(mask)
    return 0o666 & ~mask


def _flush_folder(folder: Path) -> None:
    """Make the new name last, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
