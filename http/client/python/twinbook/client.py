"""The REST client."""

from __future__ import annotations

import os
from collections.abc import Sequence
from decimal import Decimal
from types import TracebackType
from typing import Any, Generic, Literal, overload
from urllib.parse import quote

from ._decode import Decoder
from ._time import Time, to_ms, to_seconds
from ._transport import Parameter, Transport
from .errors import ConfigurationError, ProtocolError
from .records import (
    BookSnapshot,
    Candle,
    Event,
    Health,
    Market,
    Match,
    N,
    Opportunity,
    Orderbook,
    PastOpportunity,
    Price,
    RankedWallet,
    Trade,
    Wallet,
    WalletActivity,
    WalletPnl,
    WalletPosition,
    WalletTrade,
    Whale,
)
from .replay import Replay
from .rows import Rows

Status = Literal["open", "closed", "resolved"]
Side = Literal["buy", "sell"]
Order = Literal["asc", "desc"]
Interval = Literal["1m", "5m", "15m", "1h", "4h", "1d"]
ReplayChannel = Literal["orderbook", "trades", "prices", "whales", "lifecycle"]

IDS_OF_REQUEST = 100


class _Api:
    def __init__(self, transport: Transport, decoder: Decoder) -> None:
        self._transport = transport
        self._decoder = decoder

    def one(self, record_type: Any, path: str, **parameters: Parameter) -> Any:
        return self._decoder.record(record_type, self._transport.get(path, parameters))

    def rows(
        self,
        record_type: Any,
        path: str,
        key: str,
        page_rows: int,
        limit: int | None,
        *,
        is_page_reversed: bool = False,
        **parameters: Parameter,
    ) -> Rows[Any]:
        return Rows(
            self._transport,
            self._decoder,
            record_type,
            path=path,
            key=key,
            page_rows=page_rows,
            parameters=parameters,
            limit=limit,
            is_page_reversed=is_page_reversed,
        )

    def by_ids(self, record_type: Any, path: str, key: str, ids: Sequence[str], **parameters: Parameter) -> list[Any]:
        """Requests up to 100 ids at a time. Unknown ids have no record."""
        if isinstance(ids, str):
            raise ConfigurationError(f"market_ids takes a list of ids: [{ids!r}]")
        found: list[Any] = []
        for start in range(0, len(ids), IDS_OF_REQUEST):
            batch = list(ids[start : start + IDS_OF_REQUEST])
            answer = self._transport.get(path, {"market_ids": batch, **parameters})
            if not isinstance(answer, dict) or not isinstance(answer.get(key), list):
                raise ProtocolError(f"{path}: the answer has no list {key}")
            found.extend(self._decoder.record(record_type, one) for one in answer[key])
        return found


def _id(value: str, name: str = "market_id") -> str:
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{name} is {value!r}. Use a text like the id of a record.")
    return quote(value, safe="")


class Markets(Generic[N]):
    """`client.markets`."""

    def __init__(self, api: _Api) -> None:
        self._api = api

    def search(
        self,
        text: str | None = None,
        *,
        platform: str | None = None,
        status: Status | None = None,
        category: str | None = None,
        event_slug: str | None = None,
        min_volume: float | None = None,
        sort_by: str | None = None,
        limit: int | None = None,
    ) -> Rows[Market[N]]:
        """Markets that contain the words of `text`. Without a text: all markets."""
        rows: Rows[Market[N]] = self._api.rows(
            Market,
            "/v1/markets",
            "markets",
            200,
            limit,
            search=text,
            platform=platform,
            status=status,
            category=category,
            event_slug=event_slug,
            min_volume=min_volume,
            sort_by=sort_by,
        )
        return rows

    def get(self, market_id: str) -> Market[N]:
        """Raises NotFoundError if there is no such market."""
        market: Market[N] = self._api.one(Market, f"/v1/markets/{_id(market_id)}")
        return market


class Events(Generic[N]):
    """`client.events`."""

    def __init__(self, api: _Api) -> None:
        self._api = api

    def search(
        self,
        text: str | None = None,
        *,
        platform: str | None = None,
        status: Status | None = None,
        category: str | None = None,
        limit: int | None = None,
    ) -> Rows[Event[N]]:
        """Events that contain the words of `text`. Without a text: all events."""
        rows: Rows[Event[N]] = self._api.rows(
            Event,
            "/v1/events",
            "events",
            200,
            limit,
            search=text,
            platform=platform,
            status=status,
            category=category,
        )
        return rows

    def get(self, slug: str) -> Event[N]:
        """Raises NotFoundError if there is no such event."""
        event: Event[N] = self._api.one(Event, f"/v1/events/{_id(slug, 'slug')}")
        return event


class Wallets(Generic[N]):
    """`client.wallets`: wallets of venue_a."""

    def __init__(self, api: _Api) -> None:
        self._api = api

    def ranking(
        self,
        *,
        window: Literal["one_day", "seven_day", "thirty_day", "all_time"] | None = None,
        sort_by: Literal["realized_pnl", "volume"] | None = None,
        limit: int | None = None,
    ) -> Rows[RankedWallet[N]]:
        rows: Rows[RankedWallet[N]] = self._api.rows(
            RankedWallet, "/v1/wallets", "wallets", 200, limit, window=window, sort_by=sort_by
        )
        return rows

    def get(self, address: str) -> Wallet[N]:
        wallet: Wallet[N] = self._api.one(Wallet, f"/v1/wallets/{_id(address, 'address')}")
        return wallet

    def pnl(
        self,
        address: str,
        *,
        granularity: Literal["day", "week", "month", "all"] | None = None,
        start: Time | None = None,
        end: Time | None = None,
    ) -> WalletPnl[N]:
        pnl: WalletPnl[N] = self._api.one(
            WalletPnl,
            f"/v1/wallets/{_id(address, 'address')}/pnl",
            granularity=granularity,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
        )
        return pnl

    def trades(
        self, address: str, *, start: Time | None = None, end: Time | None = None, limit: int | None = None
    ) -> Rows[WalletTrade[N]]:
        return self._rows(WalletTrade, address, "trades", "trades", start, end, limit)

    def activity(
        self, address: str, *, start: Time | None = None, end: Time | None = None, limit: int | None = None
    ) -> Rows[WalletActivity[N]]:
        return self._rows(WalletActivity, address, "activity", "activities", start, end, limit)

    def positions(self, address: str, *, limit: int | None = None) -> Rows[WalletPosition[N]]:
        return self._rows(WalletPosition, address, "positions", "positions", None, None, limit)

    def _rows(
        self,
        record_type: Any,
        address: str,
        path: str,
        key: str,
        start: Time | None,
        end: Time | None,
        limit: int | None,
    ) -> Rows[Any]:
        return self._api.rows(
            record_type,
            f"/v1/wallets/{_id(address, 'address')}/{path}",
            key,
            500,
            limit,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
        )


class Client(Generic[N]):
    """Typed access to the REST API.

    `key`: an API key; without it the environment variable TWINBOOK_API_KEY.
    `price_type`: type of prices, sizes and amounts. `Decimal` has exactly the digits that the service sends.
    `timeout_s`: seconds without data after which a request fails.
    `retries`: how often a request is repeated after 429, 503 or a failed connection. The client obeys `Retry-After`
    up to 30 s.

    Times are Unix milliseconds, ISO 8601 texts or datetimes with a time zone. Except for `replay`, the service
    compares whole seconds. A client may be used by several threads. It starts no threads.
    """

    @overload
    def __init__(
        self: Client[float],
        host: str,
        key: str | None = None,
        *,
        price_type: type[float] = float,
        timeout_s: float = 30.0,
        retries: int = 4,
    ) -> None: ...

    @overload
    def __init__(
        self: Client[Decimal],
        host: str,
        key: str | None = None,
        *,
        price_type: type[Decimal],
        timeout_s: float = 30.0,
        retries: int = 4,
    ) -> None: ...

    def __init__(
        self,
        host: str,
        key: str | None = None,
        *,
        price_type: type[float] | type[Decimal] = float,
        timeout_s: float = 30.0,
        retries: int = 4,
    ) -> None:
        if price_type not in (float, Decimal):
            raise ConfigurationError(f"price_type is {price_type!r}. Use float or decimal.Decimal.")
        decoder = Decoder(price_type)
        self._transport = Transport(
            host,
            os.environ.get("TWINBOOK_API_KEY", "") if key is None else key,
            decoder=decoder,
            timeout_s=timeout_s,
            retries=retries,
        )
        self._decoder = decoder
        self._api = _Api(self._transport, decoder)
        self.markets: Markets[N] = Markets(self._api)
        self.events: Events[N] = Events(self._api)
        self.wallets: Wallets[N] = Wallets(self._api)

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Client[N]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def health(self) -> Health:
        health: Health = self._api.one(Health, "/health")
        return health

    def price(self, market_id: str, *, at: Time | None = None, outcome: str | None = None) -> Price[N]:
        """The price now, or at a time."""
        price: Price[N] = self._api.one(
            Price, f"/v1/markets/{_id(market_id)}/price", at_time=to_seconds(at, "at"), outcome=outcome
        )
        return price

    def prices(self, market_ids: Sequence[str]) -> list[Price[N]]:
        """Prices of any number of markets. Markets without a price are left out."""
        return self._api.by_ids(Price, "/v1/prices", "prices", market_ids)

    def orderbook(self, market_id: str, *, depth: int | None = None, outcome: str | None = None) -> Orderbook[N]:
        """The current book, with at most `depth` levels a side."""
        book: Orderbook[N] = self._api.one(
            Orderbook, f"/v1/markets/{_id(market_id)}/orderbook", depth=depth, outcome=outcome
        )
        return book

    def orderbooks(self, market_ids: Sequence[str], *, depth: int | None = None) -> list[Orderbook[N]]:
        """Books of any number of markets. Markets without a book are left out."""
        return self._api.by_ids(Orderbook, "/v1/orderbooks", "orderbooks", market_ids, depth=depth)

    def orderbook_history(
        self,
        market_id: str,
        *,
        start: Time | None = None,
        end: Time | None = None,
        order: Order | None = None,
        limit: int | None = None,
    ) -> Rows[BookSnapshot[N]]:
        """Recorded books, the newest first unless `order` is "asc"."""
        rows: Rows[BookSnapshot[N]] = self._api.rows(
            BookSnapshot,
            f"/v1/markets/{_id(market_id)}/orderbook/history",
            "snapshots",
            500,
            limit,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
            order=order,
        )
        return rows

    def trades(
        self,
        market_id: str,
        *,
        start: Time | None = None,
        end: Time | None = None,
        side: Side | None = None,
        order: Order | None = None,
        limit: int | None = None,
    ) -> Rows[Trade[N]]:
        """Trades of a market, the newest first unless `order` is "asc"."""
        rows: Rows[Trade[N]] = self._api.rows(
            Trade,
            f"/v1/markets/{_id(market_id)}/trades",
            "trades",
            500,
            limit,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
            side=side,
            order=order,
        )
        return rows

    def candles(
        self,
        market_id: str,
        interval: Interval,
        *,
        start: Time | None = None,
        end: Time | None = None,
        limit: int | None = None,
    ) -> Rows[Candle[N]]:
        """Candles of the first outcome, newest first."""
        rows: Rows[Candle[N]] = self._api.rows(
            Candle,
            f"/v1/markets/{_id(market_id)}/candles",
            "candles",
            1000,
            limit,
            is_page_reversed=True,
            interval=interval,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
        )
        return rows

    def whales(
        self,
        *,
        market_id: str | None = None,
        platform: str | None = None,
        wallet: str | None = None,
        min_usd: float | None = None,
        start: Time | None = None,
        end: Time | None = None,
        limit: int | None = None,
    ) -> Rows[Whale[N]]:
        """Large trades, the newest first."""
        rows: Rows[Whale[N]] = self._api.rows(
            Whale,
            "/v1/whales",
            "trades",
            200,
            limit,
            market_id=market_id,
            platform=platform,
            wallet=wallet,
            min_usd=min_usd,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
        )
        return rows

    def matches(
        self,
        text: str | None = None,
        *,
        confidence: Literal["high", "medium", "low"] | None = None,
        min_score: float | None = None,
        limit: int | None = None,
    ) -> Rows[Match[N]]:
        """Markets of both venues that ask the same question."""
        rows: Rows[Match[N]] = self._api.rows(
            Match,
            "/v1/matching-markets",
            "matches",
            200,
            limit,
            search=text,
            confidence=confidence,
            min_score=min_score,
        )
        return rows

    def arbitrage(
        self,
        *,
        min_profit_usd: float | None = None,
        min_edge: float | None = None,
        kind: Literal["cross_venue", "single_venue"] | None = None,
        limit: int | None = None,
    ) -> Rows[Opportunity[N]]:
        """Open opportunities."""
        rows: Rows[Opportunity[N]] = self._api.rows(
            Opportunity,
            "/v1/arbitrage",
            "opportunities",
            200,
            limit,
            min_profit_usd=min_profit_usd,
            min_edge=min_edge,
            kind=kind,
        )
        return rows

    def arbitrage_history(
        self, *, start: Time | None = None, end: Time | None = None, limit: int | None = None
    ) -> Rows[PastOpportunity[N]]:
        """Closed opportunities."""
        rows: Rows[PastOpportunity[N]] = self._api.rows(
            PastOpportunity,
            "/v1/arbitrage/history",
            "opportunities",
            200,
            limit,
            start_time=to_seconds(start, "start"),
            end_time=to_seconds(end, "end"),
        )
        return rows

    def replay(
        self,
        start: Time,
        end: Time,
        *,
        markets: Sequence[str] | None = None,
        event_slug: str | None = None,
        platform: str | None = None,
        channels: Sequence[ReplayChannel] = ("orderbook", "trades"),
    ) -> Replay[N]:
        """Messages of the stream from `start` to before `end`. Needs a service with a tape."""
        for name, value in (("markets", markets), ("channels", channels)):
            if isinstance(value, str):
                raise ConfigurationError(f"{name} takes a list: [{value!r}]")
        return Replay(
            self._transport,
            self._decoder,
            {
                "from": to_ms(start, "start"),
                "to": to_ms(end, "end"),
                "market_ids": None if markets is None else list(markets),
                "event_slug": event_slug,
                "platform": platform,
                "channels": list(channels),
            },
        )
