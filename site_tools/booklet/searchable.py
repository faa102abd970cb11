"""A print whose Chinese can be searched and copied.

Fonts have one drawing for a character and for the radical that looks the same, as 一
(U+4E00) and ⼀ (U+2F00). Chromium notes the first of the two: whoever copied from the
PDF got radicals, and a search for 一 found nothing. The tables that say what letter a
drawing is are put right here. A PDF may be changed by what is appended to it: the new
tables, where each begins, and where the list before that one is.
"""

import re
import unicodedata
import zlib

TABLE_OF_LETTERS = re.compile(rb"/ToUnicode (\d+) 0 R")
TABLE_STREAM = re.compile(
    rb"\n(\d+) 0 obj\n<</Filter /FlateDecode\n/Length (\d+)>> stream\n"
)
ROW = re.compile(rb"(?m)^(<[0-9A-F]+>) <(2[EF][0-9A-F]{2})>$")
TRAILER = re.compile(rb"trailer\n<<(/Size \d+\n/Root \d+ 0 R\n/Info \d+ 0 R)>>\n")
LAST_LIST = re.compile(rb"startxref\n(\d+)\n%%EOF\s*\Z")
# Radicals of Unicode's supplement have no decomposition there.
RADICALS = "⺟⺠⻁⻄⻅⻆⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳"
CHARACTERS = "母民虎西见角贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟"
SUPPLEMENT = dict(zip(RADICALS, CHARACTERS, strict=True))


def searchable(printed: bytes) -> bytes:
    """The same print; one that is not laid out as Chromium does stays as it is."""
    trailer, last = TRAILER.search(printed), LAST_LIST.search(printed)
    if not trailer or not last:
        return printed
    made, starts = printed, {}
    tables = {*TABLE_OF_LETTERS.findall(printed)}
    for stream in TABLE_STREAM.finditer(printed):
        number, length = stream[1], int(stream[2])
        if number not in tables:
            continue
        table = zlib.decompress(printed[stream.end() : stream.end() + length])
        mended = ROW.sub(_character_row, table)
        if mended != table:
            starts[number] = len(made)
            made += _stream(number, zlib.compress(mended))
    if not starts:
        return printed
    rows = [b"%b 1\n%010d 00000 n \n" % row for row in starts.items()]
    end = b"trailer\n<<%b\n/Prev %b>>\nstartxref\n%d\n%%%%EOF\n"
    return made + b"xref\n" + b"".join(rows) + end % (trailer[1], last[1], len(made))


def _stream(number: bytes, content: bytes) -> bytes:
    head = b"%b 0 obj\n<</Filter /FlateDecode\n/Length %d>> stream\n"
    return head % (number, len(content)) + content + b"\nendstream\nendobj\n"


def _character_row(row: re.Match[bytes]) -> bytes:
    """A row of a table with the character in place of the radical."""
    radical = chr(int(row[2], 16))
    character = SUPPLEMENT.get(radical) or unicodedata.normalize("NFKC", radical)
    return b"%b <%04X>" % (row[1], ord(character))
