"""Moments, as statements write them and no other way."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.errors import Malformed
from calaudit.trust.moment import parse_time


@given(moment=st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 31)))  # noqa: DTZ001 - naive on purpose
def test_a_moment_is_read_as_it_is_written(moment: datetime) -> None:
    whole = moment.replace(microsecond=0, tzinfo=UTC)
    assert parse_time(f"{whole:%Y-%m-%dT%H:%M:%SZ}") == whole


@pytest.mark.parametrize(
    "text",
    [
        "", "never", "9999-99-99", "2027-01-31", "2027-01-31T00:00:00", "2027-01-31T00:00:00+00:00",
        "2027-01-31T00:00:00-12:00", "2027-01-31 00:00:00Z", "2027-01-31T00:00:00z", "2027-01-31T24:00:00Z",
        "2027-02-29T00:00:00Z", "2027-00-01T00:00:00Z", "2027-1-1T1:1:1Z", "27-01-31T00:00:00Z",
        "02027-01-31T00:00:00Z",
        "2027-01-31T00:00:60Z", "2027-01-31T00:00:00.5Z", " 2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z\n",
        "\u0662\u0660\u0662\u0667-01-31T00:00:00Z", "2027-W05-1T00:00:00Z",
    ],
)  # fmt: skip
def test_every_other_text_is_an_error_and_never_for_good(text: str) -> None:
    with pytest.raises(Malformed, match="no moment in UTC"):
        parse_time(text)


@given(text=st.text(max_size=24))
def test_whatever_text_is_a_moment_or_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        parse_time(text)
