"""DataFrames of records. Imports pandas only when it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import ConfigurationError

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(rows: Iterable[Mapping[str, Any]], columns: list[str] | None = None) -> DataFrame:
    """One row for each mapping. The index is `timestamp_ms` as UTC time if the rows have it."""
    try:
        import pandas
    except ImportError as error:
        raise ConfigurationError('to_df() needs pandas. Install it with: pip install "twinbook[pandas]"') from error
    table = pandas.DataFrame(list(rows), columns=columns)
    if "timestamp_ms" in table.columns:
        table.index = pandas.DatetimeIndex(pandas.to_datetime(table["timestamp_ms"], unit="ms", utc=True), name="time")
    return table
