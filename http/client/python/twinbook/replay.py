"""Past messages of the stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic

from . import records
from ._decode import Decoder
from ._frames import frame
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
        return frame(row for value in self._values() for row in self._rows(value))

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
        # Checks the message.
        message = self._message(value)
        head = {name: one for name, one in value.items() if name != "data"}
        if isinstance(message, (records.SnapshotMessage, records.UpdateMessage)):
            levels = [("bid", one) for one in message.data.bids] + [("ask", one) for one in message.data.asks]
            for side, level in levels:
                yield {**head, "side": side, "price": level.price, "size": level.size}
            if not levels:
                yield head
        else:
            data = value.get("data")
            yield {**head, **data} if isinstance(data, dict) else head

