"""Tables as CSV, and text without what cannot be seen."""

import unicodedata

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from simstudy.texts import as_csv, csv_value, printable

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
COLUMNS = {
    "numbers": st.floats(),
    "wholes": st.integers(-(2**63), 2**63 - 1),
    "flags": st.booleans(),
    "texts": st.one_of(TEXTS, st.sampled_from(["=1", "-x", "a,b", 'say "x"', "\n", "", "-1"])),
    "mixed": st.one_of(st.none(), TEXTS, st.integers(), st.floats(), st.booleans()),
    "gaps": st.one_of(st.none(), st.integers(-(2**31), 2**31)),
}


@given(st.data(), st.integers(0, 5))
def test_csv_is_what_pandas_writes_of_the_escaped_table(data, rows):
    parts = {name: [data.draw(one) for _ in range(rows)] for name, one in COLUMNS.items()}
    table = pd.DataFrame(
        {
            **{name: pd.Series(parts[name], dtype=object) for name in ("texts", "mixed")},
            "numbers": np.array(parts["numbers"], dtype=np.float64),
            "wholes": np.array(parts["wholes"], dtype=np.int64),
            "flags": np.array(parts["flags"], dtype=bool),
            "gaps": pd.array(parts["gaps"], dtype="Int64"),
            "=sum": np.array(parts["numbers"], dtype=np.float64),
        }
    )
    safe = table.rename(columns=csv_value)
    for name in ("texts", "mixed"):
        safe[name] = pd.Series([csv_value(value) for value in table[name]], dtype=object)
    assert as_csv(table) == safe.to_csv(index=False, lineterminator="\n")


def test_what_cannot_be_seen_is_written_out():
    assert printable("N\u200eB\u2066\u200b\u200d\ufeff\U000e0041") == (
        "N\\u200eB\\u2066\\u200b\\u200d\\ufeff\\U000e0041"
    )
    visible = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    visible |= {*range(0x13430, 0x13440)}  # signs of Arabic, Syriac, Kaithi and Egyptian
    for code in {*range(0x20, 0x110000)} - visible:
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            assert printable(chr(code)).isascii(), hex(code)
    for text in ("é β₁ → 研究\tTAN\n", "می\u200cخواهم", "क्\u200dष", "👍"):
        assert printable(text) == text
