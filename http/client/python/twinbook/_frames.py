"""DataFrames of records. Imports pandas only when it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._kinds import kind_of
from .errors import ConfigurationError

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(rows: Iterable[Mapping[str, Any]], hints: Mapping[str, Any], columns: list[str] | None = None) -> DataFrame:
    """One row for each mapping. The index is `timestamp_ms` as UTC time if the rows have it.

    `hints`: type hint of each column. An integer column with missing values has the type `Int64`.
    """
    try:
        import pandas
    except ImportError as error:
        raise ConfigurationError('to_df() needs pandas. Install it with: pip install "twinbook[pandas]"') from error
    table = pandas.DataFrame(list(rows), columns=columns)
    for name in table.columns:
        if kind_of(hints.get(name)) is int and table[name].dtype != "int64":
            table[name] = table[name].astype("Int64")
    if "timestamp_ms" in table.columns:
        present = table["timestamp_ms"].dropna().astype("int64")
        times = pandas.to_datetime(present, unit="ms", utc=True).reindex(table.index)
        table.index = pandas.DatetimeIndex(times, name="time")
    return table
