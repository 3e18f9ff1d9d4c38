"""Results of several pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from ._decode import Decoder
from ._frames import frame
from ._transport import Parameter, Transport
from .errors import ConfigurationError, ProtocolError

if TYPE_CHECKING:
    from pandas import DataFrame

R = TypeVar("R")


class Rows(Generic[R]):
    """The rows of a request. Iteration fetches one page after the other; each iteration starts again."""

    def __init__(
        self,
        transport: Transport,
        decoder: Decoder,
        record_type: type[R],
        *,
        path: str,
        key: str,
        page_rows: int,
        parameters: Mapping[str, Parameter],
        limit: int | None,
        is_page_reversed: bool = False,
    ) -> None:
        if limit is not None and limit < 1:
            raise ConfigurationError(f"limit is {limit}. Use a number from 1, or None for all rows.")
        self._transport = transport
        self._decoder = decoder
        self._record_type = record_type
        self._path = path
        self._key = key
        self._page_rows = page_rows
        self._parameters = parameters
        self._limit = limit
        # The pages of candles lead back in time, but each page begins with its oldest row.
        self._is_page_reversed = is_page_reversed

    def __iter__(self) -> Iterator[R]:
        left = self._limit
        cursor: str | None = None
        while left is None or left > 0:
            size = self._page_rows if left is None else min(left, self._page_rows)
            parameters: dict[str, Parameter] = dict(self._parameters)
            parameters.update(limit=size, cursor=cursor)
            page = self._transport.get(self._path, parameters)
            if not isinstance(page, dict) or not isinstance(page.get(self._key), list):
                raise ProtocolError(f"{self._path}: the answer has no list {self._key}")
            rows: list[object] = page[self._key][:size]
            for row in reversed(rows) if self._is_page_reversed else rows:
                yield self._decoder.record(self._record_type, row)
            if left is not None:
                left -= len(rows)
            following = page.get("cursor")
            if following is None:
                return
            if not isinstance(following, str) or following == cursor:
                raise ProtocolError(f"{self._path}: the cursor of the next page is invalid")
            cursor = following

    def to_df(self) -> DataFrame:
        """A DataFrame with the columns of the record. The index is the UTC time of `timestamp_ms`, if any."""
        record_type: Any = self._record_type
        names = [field.name for field in fields(record_type)]
        rows: Iterator[dict[str, Any]] = ({name: getattr(row, name) for name in names} for row in self)
        return frame(rows, get_type_hints(record_type), names)
