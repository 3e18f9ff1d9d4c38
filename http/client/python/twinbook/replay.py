"""Past messages of the stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, get_type_hints

from . import records
from ._decode import Decoder
from ._frames import frame
from ._parquet import write_parquet
from ._transport import Parameter, Transport
from .errors import ProtocolError
from .records import N, ReplayMessage

if TYPE_CHECKING:
    from pandas import DataFrame

_TYPES: dict[str, Any] = {
    "snapshot": records.SnapshotMessage,
    "update": records.UpdateMessage,
    "price": records.PriceMessage,
    "trade": records.TradeMessage,
    "whale": records.WhaleMessage,
    "lifecycle": records.LifecycleMessage,
    "stale": records.StaleMessage,
    "fresh": records.FreshMessage,
    "resync": records.ResyncMessage,
    "gap": records.GapMessage,
    "status": records.StatusMessage,
    "disconnect": records.DisconnectMessage,
}


class Replay(Generic[N]):
    """The messages of a period. Each iteration requests the period again."""

    def __init__(self, transport: Transport, decoder: Decoder, parameters: Mapping[str, Parameter]) -> None:
        self._transport = transport
        self._decoder = decoder
        self._parameters = parameters

    def __iter__(self) -> Iterator[ReplayMessage[N]]:
        for value in self._values():
            yield self._message(value)

    def to_df(self) -> DataFrame:
        """A DataFrame in the order of the messages.

        `snapshot` and `update` have one row for each level (`side`, `price`, `size`); a size of 0 removes the level.
        An empty snapshot has one row without a side. The other messages have one row with the fields of `data`.
        """
        return frame((row for value in self._values() for row in self._rows(value)), _columns())

    def to_parquet(self, path: str | PathLike[str]) -> int:
        """Writes the rows of `to_df` to a Parquet file and returns their number. Needs pyarrow.

        The file has a column for every field of the messages. Lists and objects are JSON texts, Decimals have six
        decimal places. At most 65,536 rows are in memory. If the replay ends early, no file remains.
        """
        rows = (row for value in self._values() for row in self._rows(value))
        return write_parquet(path, rows, _columns(), self._decoder.price_type)

    def _values(self) -> Iterator[dict[str, Any]]:
        for line in self._transport.lines("/v1/replay", self._parameters):
            value = self._decoder.json(line)
            if not isinstance(value, dict):
                raise ProtocolError("a line of the replay is not an object")
            if value.get("type") in _TYPES:
                yield value

    def _message(self, value: dict[str, Any]) -> ReplayMessage[N]:
        message: ReplayMessage[N] = self._decoder.record(_TYPES[value["type"]], value)
        return message

    def _rows(self, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
        message = self._message(value)
        head = {name: one for name, one in value.items() if name != "data"}
        if isinstance(message, (records.SnapshotMessage, records.UpdateMessage)):
            levels = [("bid", one) for one in message.data.bids] + [("ask", one) for one in message.data.asks]
            for side, level in levels:
                yield {**head, "side": side, "price": level.price, "size": level.size}
            if not levels:
                yield head
        else:
            yield {**head, **_numbers(value.get("data"), getattr(message, "data", None))}


def _numbers(data: object, record: object) -> dict[str, Any]:
    """The fields of `data`, with numbers of the price type."""
    if not isinstance(data, dict):
        return {}
    decoded = {name: getattr(record, name, one) for name, one in data.items()}
    return {name: one if isinstance(one, (float, Decimal)) else data[name] for name, one in decoded.items()}


def _columns() -> dict[str, Any]:
    """Type hint of each column of the rows."""
    columns: dict[str, Any] = {}
    for message_type in _TYPES.values():
        for name, hint in get_type_hints(message_type).items():
            if name != "data":
                columns.setdefault(name, hint)
    columns.update(get_type_hints(records.Level))
    for data_type in (records.StreamPrice, records.Trade, records.Whale, records.Lifecycle):
        for name, hint in get_type_hints(data_type).items():
            columns.setdefault(name, hint)
    return columns

