"""Whether a name names a person or a team, or only says that somebody will be found."""

import re
import unicodedata

_WORDS = """
a admin administrator an and anon anonymous anybody anyone assigned be by confirmed decided decide determined determine
fixme helpdesk n na nil no nobody none not null of or our owner pending person placeholder required somebody someone
staff supplier suppliers support tba tbc tbd team teams test the their to todo unassigned unknown user vendor vendors
vendorsupport xxx yet your
厂商 供应商 供货商 支持 厂家 原厂 技术 团队 小组 部门 待定 未定 无 暂无 负责人 某人 相关
"""
_NOBODY = frozenset(_WORDS.split())
_CHINESE = sorted((word for word in _NOBODY if not word.isascii()), key=len, reverse=True)


def is_named(name: str) -> bool:
    """Whether a name says who.

    "Vendor support", "厂商支持", TBD, n/a and blanks of any kind (no-break, zero-width, full-width) do not.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    # Invisible characters neither make a name nor hide one, whether they join words or part them.
    return all(_tells("".join(filler if unicodedata.category(c) == "Cf" else c for c in plain)) for filler in ("", " "))


def _tells(plain: str) -> bool:
    for word in _CHINESE:
        plain = plain.replace(word, f" {word} ")
    words = [word for word in re.split(r"[\W_]+", plain) if word and word not in _NOBODY]
    return any(not word.isdecimal() and (len(word) > 1 or not word.isascii()) for word in words)
