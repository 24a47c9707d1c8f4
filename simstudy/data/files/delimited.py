"""Tables in text with a separator: CSV files and the like."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path

from simstudy.data.files.columns import Column, RawTable
from simstudy.errors import SimstudyError
from simstudy.texts import counted

_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SEPARATORS = ",;\t|"
_BLANK = [""]  # the record of a line of spaces
_LOOKED_AT = 2**16  # characters from which a separator is found
_LONGEST = 131_072  # characters of a value
_TROUBLES = {  # by words of the csv module
    "field larger": f"a value is longer than {_LONGEST:,} characters",
    "end of data": "a quotation mark is opened and not closed",
}
HEADER = -1  # the row of the names


def decode(data: bytes, encoding: str | None, source: str) -> str:
    """The text of a file: in this encoding, or that of its byte order mark, or UTF-8."""
    if encoding is None:
        encoding = next((name for bom, name in _BOMS.items() if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeDecodeError):
            raise SimstudyError(f"{source}: there is no text encoding '{encoding}'") from error
        line = data.count(b"\n", 0, error.start) + 1
        why = f"the byte 0x{data[error.start]:02x} is not {encoding}"
        hint = "name the encoding of the file, for example latin-1, or convert it to UTF-8"
        raise SimstudyError(f"{source}, line {line}: {why}; {hint}") from error
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SimstudyError(f"{source}, line {line}: a null character; it is not a text file")
    return text


def read_delimited(text: str, separator: str | None, source: str) -> RawTable:
    """The columns of a CSV file, whose first line has their names."""
    if separator is None:
        separator = "\t" if Path(source.removesuffix(".gz")).suffix == ".tsv" else _likely(text)
    elif len(separator) != 1 or separator in '"\r\n':
        allowed = "one character other than a quotation mark or the end of a line"
        raise SimstudyError(f"{source}: the separator must be {allowed}, not {separator!r}")
    limit = csv.field_size_limit(_LONGEST)  # other packages change it, for the whole process
    lines, skip = io.StringIO(text, newline=""), separator != " "
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=skip)
    records, starts, last = list[list[str]](), list[int](), 0
    try:
        for record in reader:
            if record and record != _BLANK:
                records.append(record)
                starts.append(last + 1)
            last = reader.line_num
    except csv.Error as error:
        usual = "there is text after a closing quotation mark"
        why = next((why for sign, why in _TROUBLES.items() if sign in str(error)), usual)
        raise SimstudyError(f"{source}, line {last + 1}: {why}") from error
    finally:
        csv.field_size_limit(limit)
    if not records:
        raise SimstudyError(f"{source}: the file is empty; its first line must name the columns")
    names = [name.strip() for name in records[0]]
    table = RawTable(source, [], len(records) - 1, lambda row: f"line {starts[row + 1]}")
    table.remark = f" (separator {separator!r})"
    if "" in names:
        raise table.error(f"column {names.index('') + 1} has no name", HEADER)
    if {*map(len, records)} != {len(names)}:
        row = next(row for row, record in enumerate(records) if len(record) != len(names))
        cells, columns = counted(len(records[row]), "value"), counted(len(names), "column")
        wrong = f"it has {cells}, and {table.place(HEADER)} names {columns}{table.remark}"
        raise table.error(wrong, row - 1)
    values = zip(*records[1:], strict=True) if len(records) > 1 else [()] * len(names)
    table.columns = [*map(Column, names, values)]
    return table


def _likely(text: str) -> str:
    """The separator that gives all of the first records the same number of values, the most."""
    head, best = text[:_LOOKED_AT], (False, 1, ",")
    if len(head) < len(text):
        head = head[: head.rfind("\n") + 1] or head
    for separator in _SEPARATORS:
        records = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        try:
            widths = [len(record) for record in records if record]
        except csv.Error:
            continue
        rank = (len({*widths}) == 1 and widths[0] > 1, widths[0] if widths else 0, separator)
        best = max(best, rank, key=lambda each: each[:2])  # the first of equals
    return best[2]
