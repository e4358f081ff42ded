"""Members of ZIP archives, also those compressed with Zstandard, which Python 3.11 cannot read.

They are unpacked as they are read, so that memory does not grow with what an archive claims to
hold, and no member may become larger than ``LARGEST``.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join
from typing import Any, BinaryIO, cast

import zstandard

from benchmarks.core.problems import Unquoted
from benchmarks.formats.source import File, FileSource, refused

LARGEST = 256 << 20
MOST_MEMBERS = 200_000
ZSTD = 93
METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflate", ZSTD: "Zstandard"}
_HEADER = struct.Struct("<4s22xHH")
_BLOCK = 1 << 16
_WINDOW = 1 << 26


class Archive(File):
    """A ZIP archive; its members are known without unpacking anything."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            with zipfile.ZipFile(path) as archive:
                infos = archive.infolist()
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
            raise refused(self.name, "a sound ZIP archive", Unquoted(str(error)[:120])) from None
        if len(infos) > MOST_MEMBERS:
            raise refused(self.name, f"at most {MOST_MEMBERS} members", Unquoted("more"))
        self.members = {info.filename: Member(self, info) for info in infos if not info.is_dir()}

    def checksum(self) -> str:
        return File(self.path).checksum()


class Member(FileSource):
    """One file of an archive."""

    def __init__(self, archive: Archive, info: zipfile.ZipInfo) -> None:
        super().__init__(f"{archive.name}, {info.filename}")
        self.archive, self.info = archive, info

    def beside(self, path: str) -> FileSource | None:
        return self.archive.members.get(join(dirname(self.info.filename), path))

    def raw(self) -> io.BufferedReader:
        if self.info.compress_type not in METHODS:
            expected = "a member compressed with " + " or ".join(METHODS.values())
            raise refused(self.name, expected, Unquoted(f"method {self.info.compress_type}"))
        if self.info.flag_bits & 1:
            raise refused(self.name, "a member without a password", Unquoted("an encrypted one"))
        return io.BufferedReader(_Unpacked(self._checked()))

    def _checked(self) -> Iterator[bytes]:
        """Yield the content, refused as soon as it is too large, and at its end if it is
        damaged.
        """
        size = crc = 0
        try:
            for data in self._blocks():
                size += len(data)
                crc = zlib.crc32(data, crc)
                if size > LARGEST:
                    raise refused(self.name, f"at most {LARGEST >> 20} MB", Unquoted("more"))
                yield data
        except (OSError, EOFError, zlib.error, zstandard.ZstdError, struct.error) as error:
            raise refused(self.name, "a sound member", Unquoted(str(error)[:120])) from None
        if crc != self.info.CRC or size != self.info.file_size:
            raise refused(self.name, "a sound member", Unquoted("a damaged one"))

    def _blocks(self) -> Iterator[bytes]:
        with self.archive.raw() as raw:
            raw.seek(self.info.header_offset)
            magic, name, extra = _HEADER.unpack(raw.read(_HEADER.size))
            if magic != b"PK\x03\x04":
                raise EOFError("no member where the archive says")
            raw.seek(name + extra, io.SEEK_CUR)
            packed = _Part(raw, self.info.compress_size)
            if self.info.compress_type == ZSTD:
                unpack = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
                with unpack.stream_reader(
                    cast(BinaryIO, packed), read_across_frames=True
                ) as reader:
                    while data := reader.read(_BLOCK):
                        yield data
            elif self.info.compress_type == zipfile.ZIP_DEFLATED:
                yield from _inflated(packed)
            else:
                while data := packed.read(_BLOCK):
                    yield data


def _inflated(packed: "_Part") -> Iterator[bytes]:
    unpack = zlib.decompressobj(-15)
    while not unpack.eof:
        piece = unpack.unconsumed_tail or packed.read(_BLOCK)
        data = unpack.decompress(piece, _BLOCK)
        if not piece and not data:
            raise EOFError("the member ends too early")
        if data:
            yield data


class _Part:
    """The next bytes of an open file, up to a given number, as a file."""

    def __init__(self, raw: BinaryIO, left: int) -> None:
        self.raw, self.left = raw, left

    def read(self, size: int = -1) -> bytes:
        data = self.raw.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        return data


class _Unpacked(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self.block = blocks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.block:
            self.block = next(self.blocks, b"")
        size = min(len(buffer), len(self.block))
        buffer[:size], self.block = self.block[:size], self.block[size:]
        return size
