"""Names that name nobody, and expressions that name no licence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calaudit.facts.source.licenses import names, read_license
from calaudit.facts.source.people import is_named


@pytest.mark.parametrize(
    "name",
    [
        "A. Smith", "Model team", "张伟", "模型组", "Compiler team, on-call", "O'Neil", "Example model team", "Ünal",
        "Dr. Wang", "Ольга Иванова", "Νίκος Παπαδόπουλος", "Dmitry (Дмитрий) K.", "工程师 王伟", "张无忌", "A. Tbdova",
    ],
)  # fmt: skip
def test_somebody(name: str) -> None:
    assert is_named(name)


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "\u00a0", "\u3000", "\u200b", "-", "…", "42", "x", "TBD", "tbd.", "\uff34\uff22\uff24", "n/a", "N.A.",
        "none", "null", "vendor", "Vendor Support", "vendor-support", "VENDOR_SUPPORT", "the vendor's support team",
        "ven\u200bdor", "vendor\u200bsupport", "vendor\tsupport", "厂商支持", "厂商支持团队", "供应商", "待定",
        "to be decided", "team", "\uff36\uff25\uff2e\uff24\uff2f\uff32\u3000\uff33\uff35\uff30\uff30\uff2f\uff32\uff34",
        "owner", "someone", "Vend\u043er supp\u043ert", "\u0410lice", "to be announced", "no one", "someone else",
        "Dr. TBD", "T_BD", "t.bd", "TBD2", "A. Smith (TBD)", "anybody else", "待确认", "供应商工程师", "王伟 待确认",
    ],
)  # fmt: skip
def test_nobody(name: str) -> None:
    assert not is_named(name)


@settings(deadline=None)  # a loaded machine is no failure
@given(st.text(max_size=40))
def test_any_text_is_somebody_or_nobody(name: str) -> None:
    assert is_named(name) in (True, False)


@settings(deadline=None)  # a loaded machine is no failure
@given(st.text(max_size=60) | st.text("()ANDORWITH MIT-2.0+:", max_size=60))
def test_any_text_is_a_licence_or_has_a_problem(text: str) -> None:
    found = read_license(text)
    assert found.problem is None or found.problem.endswith(".")


def test_deep_parentheses() -> None:
    assert read_license("(" * 120 + "MIT" + ")" * 120).problem is None


@pytest.mark.parametrize("text", ["Apache-2.0+", "GPL-2.0", "mit", "LicenseRef-a AND MIT", "CC0-1.0"])
def test_licences(text: str) -> None:
    assert read_license(text).problem is None


@pytest.mark.parametrize(
    ("text", "word", "same"),
    [
        ("Apache-2.0", "apache-2.0", True),
        ("GPL-3.0-only", "gpl-3.0", True),
        ("LGPL-2.1-or-later", "lgpl", True),
        ("ODC-By-1.0", "odc-by", True),
        ("MIT OR Apache-2.0", "MIT", True),
        ("CC-BY-4.0", "cc-by-nc-4.0", False),
        ("CC-BY-NC-4.0", "cc-by", False),
        ("Apache-2.0", "other", False),
    ],
)
def test_words_of_a_card(text: str, word: str, same: bool) -> None:
    assert names(read_license(text), word) is same
