"""Opening files that may be packed: xz, gzip, bzip2, or the zip that ChatGPT, Claude and WhatsApp send.

What a file is is read from its first bytes; its name plays no part. Unpacking takes little memory whatever the file
says of itself: it is read piece by piece, and one that asks for a large dictionary is refused.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from everwhen.errors import Damaged, NotFound, Refused, UsageError

XZ, GZIP, BZIP2, ZIP = b"\xfd7zXZ\x00", b"\x1f\x8b", b"BZh", b"PK\x03\x04"
EXPORTED = ("conversations.json", "_chat.txt", "memories.json")
"""Files in the zips that ChatGPT, Claude, WhatsApp (iOS) and OpenMemory send."""
PACKED = (XZ, GZIP, BZIP2, ZIP)
XZ_MEMORY = 288 << 20
"""Bytes that unpacking xz may take: `xz -9` needs 65 MB, some data sets 256 MB, and a file can ask for 4 GB."""
_PIECE = 1 << 16
_UNPACKING = (lzma.LZMAError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, EOFError)


@contextmanager
def opened(path: Path, offset: int = 0) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked, from `offset` on; what the system refuses becomes one sentence."""
    try:
        with _open(path) as stream:
            _skip(stream, offset)
            yield stream
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise UsageError(
            f"{path} is a folder; name the file inside it, such as conversations.json"
        ) from error
    except PermissionError as error:
        raise Refused(f"{path} may not be read; change its permissions, or copy it") from error
    except _UNPACKING as error:
        raise Damaged(f"{path} cannot be unpacked ({error}); fetch it again") from error


def is_packed(path: Path) -> bool:
    """Whether a file holds something else than its own bytes."""
    with path.open("rb") as stream:
        return stream.read(len(XZ)).startswith(PACKED)


def check_unpacked_size(path: Path, most: int) -> None:
    """Refuse a file that unpacks to more than `most` bytes. Reads it once where it is packed, and keeps nothing."""
    size = 0
    with opened(path) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > most:
                raise UsageError(f"{path} unpacks to more than {most / 1e9:g} GB; use `everwhen import`")


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as plain:
        start = plain.read(len(XZ))
    if start.startswith(XZ):
        return io.BufferedReader(_Xz(path), _PIECE)
    if start.startswith(GZIP):
        return gzip.open(path)  # type: ignore[return-value]
    if start.startswith(BZIP2):
        return bz2.open(path)
    if start.startswith(ZIP):
        return _in_zip(path)
    return path.open("rb")


def _skip(stream: IO[bytes], offset: int) -> None:
    if stream.seekable():
        stream.seek(offset)
        return
    while offset and (piece := stream.read(min(offset, _PIECE))):
        offset -= len(piece)


class _Xz(io.RawIOBase):
    """The bytes of an xz file. `lzma.open` does the same and gives a file all the memory that it asks for."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("rb")
        self._unpack = _decompressor()
        self._rest = b""
        """Packed bytes behind the end of a stream: another one may follow."""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        while True:
            if self._unpack.eof and not self._next_stream():
                return 0
            packed = b""
            if self._unpack.needs_input:
                packed = self._rest or self._stream.read(_PIECE)
                self._rest = b""
                if not packed:
                    raise EOFError("the file ends early")
            try:
                piece = self._unpack.decompress(packed, len(into))
            except lzma.LZMAError as error:
                if "limit" not in str(error):
                    raise
                raise UsageError(
                    f"{self._stream.name} needs more than {XZ_MEMORY / 1e6:.0f} MB of memory to unpack; "
                    "pack it with xz -9 or less"
                ) from error
            if piece:
                into[: len(piece)] = piece
                return len(piece)

    def _next_stream(self) -> bool:
        """Whether another stream follows; zeros between two of them are padding."""
        rest = self._unpack.unused_data.lstrip(b"\0")
        while not rest and (more := self._stream.read(_PIECE)):
            rest = more.lstrip(b"\0")
        if rest:
            self._rest, self._unpack = rest, _decompressor()
        return bool(rest)


def _decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


def name_inside(path: Path) -> str | None:
    """The name of the file that is read out of a zip; None where the file is none."""
    with path.open("rb") as stream:
        if not stream.read(len(ZIP)).startswith(ZIP):
            return None
    try:
        with zipfile.ZipFile(path) as archive:
            found = _chosen(archive)
    except (OSError, ValueError, NotImplementedError, struct.error, zipfile.BadZipFile):
        return None  # opening it says what is wrong
    return None if found is None else Path(found.filename).name


def _chosen(archive: zipfile.ZipFile) -> zipfile.ZipInfo | None:
    """The file to read: by the name that an export gives it, else the only text (WhatsApp names it after the chat)."""
    for name in EXPORTED:
        for one in archive.infolist():
            if Path(one.filename).name == name:
                return one
    texts = [one for one in archive.infolist() if one.filename.endswith(".txt")]
    return texts[0] if len(texts) == 1 else None


def _in_zip(path: Path) -> IO[bytes]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, ValueError, NotImplementedError, struct.error) as error:  # a changed byte in its list
        raise zipfile.BadZipFile(str(error)) from error
    found = _chosen(archive)
    if found is None:
        archive.close()
        raise UsageError(f"{path} holds no conversations.json; unpack it and name the file to import")
    try:
        # The other ways take as much memory as the file asks for, and nobody's export uses them.
        if found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotImplementedError("it is neither stored nor deflated")
        return archive.open(found)
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or packed in a way of its own
        raise UsageError(f"{path} cannot be unpacked here ({error}); unpack it and name the file") from error
    except (OSError, ValueError, struct.error) as error:  # its list of files leads out of the file
        raise zipfile.BadZipFile(str(error)) from error
    finally:
        archive.close()  # the open member keeps the file until it is closed itself
