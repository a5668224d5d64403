"""Whether a name names a person or a team, or only says that somebody will be found."""

import re
import unicodedata

_EMPTY = """
a admin administrator an and announced any approval approved assigned be by company confirmed contact customer decided
decide department determine determined dr else engineer engineers engineering every expert fixme group helpdesk lead
manager me mr mrs ms myself n na nil no none not null of one or our owner owners people pending person persons prof
required responsible self some staff supplier suppliers support team teams test the their to todo us user various vendor
vendors vendorsupport we whoever xxx yet your
厂商 供应商 供货商 支持 厂家 原厂 技术 团队 小组 部门 无 负责人 相关 工程师 人员 经理 主管 专家 客服 售后 客户 公司 同事
"""
"""Words that say no name: a name of nothing else is nobody's."""
_PLACEHOLDERS = """
anon anonymous anybody anyone everybody everyone nobody noone placeholder somebody someone tba tbc tbd unassigned
undecided unknown unnamed
待定 未定 暂无 某人 待确认 待确定 待指定 待分配 待补充 待填 未知 未指定 未确定 不详 匿名
"""
"""Words that say that nobody is named, whatever stands beside them."""
_NOBODY = frozenset(_EMPTY.split())
_PLACEHOLDER = frozenset(_PLACEHOLDERS.split())
_CHINESE = sorted((word for word in _NOBODY | _PLACEHOLDER if not word.isascii()), key=len, reverse=True)
_LATIN, _ALIKE = "LATIN", ("CYRILLIC", "GREEK")
"""Scripts whose letters look alike: a word of both is a word in disguise."""


def is_named(name: str) -> bool:
    """Whether a name says who.

    "Vendor support", "厂商支持", "Dr. TBD", n/a, words of Latin and Cyrillic letters, and blanks of any kind (no-break,
    zero-width, full-width) do not.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    # Invisible characters neither make a name nor hide one, whether they join words or part them.
    return all(_tells("".join(filler if unicodedata.category(c) == "Cf" else c for c in plain)) for filler in ("", " "))


def _tells(plain: str) -> bool:
    for word in _CHINESE:
        plain = plain.replace(word, f" {word} ")
    # What signs inside a word part ("T_BD", "T.B.D.") is read both ways: together, and part by part.
    together = [re.sub(r"[\W_]+", "", word) for word in plain.split()]
    parts = [word for word in re.split(r"[\W_]+", plain) if word]
    if any(word.strip("0123456789") in _PLACEHOLDER or _is_disguised(word) for word in (*together, *parts)):
        return False
    words = [word for word in parts if word not in _NOBODY]
    return any(not word.isdecimal() and (len(word) > 1 or not word.isascii()) for word in words)


def _is_disguised(word: str) -> bool:
    scripts = {unicodedata.name(c, "").partition(" ")[0] for c in word if not c.isascii()}
    scripts |= {_LATIN} if re.search("[a-z]", word) else set()
    return _LATIN in scripts and not scripts.isdisjoint(_ALIKE)
