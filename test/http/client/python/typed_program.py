"""A program that mypy checks: the type of numbers follows from `price_type`."""

from decimal import Decimal

import twinbook as tb
from twinbook.records import Trade
from typing_extensions import assert_type

floats = tb.Client("http://127.0.0.1:8080", "key")
assert_type(floats.orderbook("id").bids[0].price, float)
decimals = tb.Client("http://127.0.0.1:8080", "key", price_type=Decimal)
assert_type(decimals.orderbook("id").bids[0].price, Decimal)
assert_type(decimals.trades("id"), tb.Rows[Trade[Decimal]])
for market in decimals.markets.search("bitcoin"):
    assert_type(market.outcomes[0].price, Decimal)
for message in floats.replay(0, 1):
    if message.type == "trade":
        assert_type(message.data.price, float)
floats.candles("id", "2m")  # type: ignore[arg-type]
