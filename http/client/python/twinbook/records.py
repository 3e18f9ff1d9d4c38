"""Records of the REST API and messages of the stream.

Generated from the API documents. To write this file again:
GOLDEN=write node --import tsx --test test/http/client/python-records.test.ts
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, Literal, TypeVar, Union

N = TypeVar("N", float, Decimal)
"""Type of prices, sizes and amounts: the `price_type` of the client."""


@dataclass(slots=True, kw_only=True)
class Outcome(Generic[N]):
    label: str
    price: N
    price_cents: int


@dataclass(slots=True, kw_only=True)
class PlatformListing(Generic[N]):
    platform: str
    native_id: str
    url: str | None
    best_bid: N | None
    best_ask: N | None
    volume_24h: N | None
    volume_unit: Literal["usd_traded", "usd_notional"]
    as_of_ms: int | None


@dataclass(slots=True, kw_only=True)
class FeeCurve(Generic[N]):
    rate: N
    exponent: int
    multiplier: N


@dataclass(slots=True, kw_only=True)
class FeeRounding(Generic[N]):
    direction: Literal["up", "unknown"]
    fill_step: N
    order_step: N | None


@dataclass(slots=True, kw_only=True)
class FeeModel(Generic[N]):
    model: Literal["quadratic", "flat", "none", "unknown"]
    taker: FeeCurve[N] | None
    maker: FeeCurve[N] | None
    rounding: FeeRounding[N] | None
    rebate_rate: N | None
    source: str | None
    since: int | None


@dataclass(slots=True, kw_only=True)
class Fees(Generic[N]):
    model: Literal["quadratic", "flat", "none", "unknown"]
    taker: FeeCurve[N] | None
    maker: FeeCurve[N] | None
    rounding: FeeRounding[N] | None
    rebate_rate: N | None
    source: str | None
    since: int | None
    waived_until: int | None
    next: FeeModel[N] | None


@dataclass(slots=True, kw_only=True)
class Market(Generic[N]):
    id: str
    slug: str
    question: str
    description: str | None
    status: Literal["open", "closed", "resolved"]
    resolution_status: Literal["none", "proposed", "disputed", "resolved"] | None
    settlement_price: N | None
    outcomes: list[Outcome[N]]
    platforms: list[PlatformListing[N]]
    volume_24h: N
    volume_total: N | None
    volume_unit: Literal["usd_traded", "usd_notional"]
    open_interest: N | None
    as_of_ms: int | None
    volume_24h_as_of_ms: int | None
    created_at: int | None
    close_time: int | None
    tags: list[str]
    category: str | None
    event_slug: str | None
    image: str | None
    price_step: N | None
    fees: Fees[N]


@dataclass(slots=True, kw_only=True)
class Event(Generic[N]):
    slug: str
    title: str
    status: Literal["open", "closed", "resolved"]
    markets: list[Market[N]]
    market_count: int
    total_volume_24h: N
    platforms: list[str]
    total_volume: N
    volume_unit: Literal["usd_traded", "usd_notional"]
    category: str | None
    tags: list[str]


@dataclass(slots=True, kw_only=True)
class Trade(Generic[N]):
    id: str
    market_id: str
    platform: str
    price: N
    size: N
    side: Literal["buy", "sell"]
    outcome: str
    size_usd: N
    timestamp_ms: int
    native_trade_id: str
    maker: str | None
    taker: str | None
    tx_hash: str | None
    is_block_trade: bool
    taker_outcome: str
    taker_side: Literal["buy", "sell"]
    taker_price: N


@dataclass(slots=True, kw_only=True)
class Price(Generic[N]):
    market_id: str
    price: N
    at_time: int
    timestamp_ms: int
    platform: str
    source: str
    outcome: str


@dataclass(slots=True, kw_only=True)
class Level(Generic[N]):
    price: N
    size: N
    platform: str


@dataclass(slots=True, kw_only=True)
class Orderbook(Generic[N]):
    market_id: str
    outcome: str
    bids: list[Level[N]]
    asks: list[Level[N]]
    spread: N | None
    mid_price: N | None
    timestamp_ms: int
    seq: int | None
    epoch: str
    stale: bool
    stale_reason: Literal["disconnected", "silent", "messages_lost", "contradicted_by_trade", "contradicted_by_rest", "delayed", "tick_changed", "restarted", "no_leader", "not_covered"] | None
    age_ms: int | None


@dataclass(slots=True, kw_only=True)
class BookSnapshot(Generic[N]):
    market_id: str
    outcome: str
    bids: list[Level[N]]
    asks: list[Level[N]]
    spread: N | None
    mid_price: N | None
    timestamp_ms: int
    bid_depth: N
    ask_depth: N


@dataclass(slots=True, kw_only=True)
class Candle(Generic[N]):
    timestamp_ms: int
    end_period_ts: int
    open: N
    high: N
    low: N
    close: N
    volume: N
    trades_count: int
    vwap: N
    closed: bool


@dataclass(slots=True, kw_only=True)
class OpportunityLeg(Generic[N]):
    market_id: str
    platform: str
    question: str
    outcome: str
    is_first_outcome: bool
    side: Literal["buy"]
    contracts: N
    best_price: N
    avg_price: N
    cost_usd: N
    fee_usd: N
    book_seq: int
    book_age_ms: int


@dataclass(slots=True, kw_only=True)
class OpportunityLevel(Generic[N]):
    contracts: N
    prices: list[N]
    profit_usd: N


@dataclass(slots=True, kw_only=True)
class Opportunity(Generic[N]):
    id: str
    kind: Literal["cross_venue", "single_venue"]
    match_score: N | None
    legs: list[OpportunityLeg[N]]
    contracts: N
    min_contracts: N
    cost_usd: N
    fees_usd: N
    payout_usd: N
    profit_usd: N
    edge: N
    return_: N
    annualised: N | None
    opened_at_ms: int
    updated_at_ms: int
    closes_at: int | None
    question: str
    category: str | None
    explanation: str
    payout_note: str | None
    levels: list[OpportunityLevel[N]] | None = None


@dataclass(slots=True, kw_only=True)
class WalletTrade(Generic[N]):
    id: str
    market_id: str
    platform: str
    price: N
    size: N
    side: Literal["buy", "sell"]
    outcome: str | None
    size_usd: N
    timestamp_ms: int
    native_trade_id: str
    maker: str | None
    taker: str | None
    tx_hash: str | None
    is_block_trade: bool
    taker_outcome: str | None
    taker_side: Literal["buy", "sell"] | None
    taker_price: N
    token_id: str
    condition_id: str
    question: str | None
    slug: str | None
    role: Literal["taker", "maker"] | None


@dataclass(slots=True, kw_only=True)
class WalletPosition(Generic[N]):
    market_id: str
    condition_id: str
    token_id: str
    question: str | None
    slug: str | None
    event_slug: str | None
    outcome: str | None
    balance: N
    avg_entry_price: N | None
    current_price: N | None
    initial_value: N
    current_value: N
    realized_pnl: N
    unrealized_pnl: N
    total_pnl: N
    percent_pnl: N | None
    redeemable: bool
    mergeable: bool
    neg_risk: bool | None
    status: Literal["open", "closed"]
    opened_at: int
    updated_at: int
    cost_basis_known: bool


@dataclass(slots=True, kw_only=True)
class WalletActivity(Generic[N]):
    id: str
    type: Literal["SPLIT", "MERGE", "REDEEM", "CONVERSION", "MIGRATION"]
    market_id: str
    condition_id: str
    question: str | None
    slug: str | None
    size: N
    usd_value: N
    tx_hash: str | None
    timestamp_ms: int


@dataclass(slots=True, kw_only=True)
class HealthFeed:
    state: Literal["live", "stale", "down"]
    reason: Literal["disconnected", "silent", "messages_lost", "contradicted_by_trade", "contradicted_by_rest", "delayed", "tick_changed", "restarted", "no_leader", "not_covered"] | None
    stale_books: int


@dataclass(slots=True, kw_only=True)
class HealthDrift:
    kind: str
    name: str
    weight: Literal["loss", "notice"]
    first: int
    last: int
    count: int
    sample: str


@dataclass(slots=True, kw_only=True)
class HealthClusterLease:
    holder: str
    term: int | None
    silent_ms: int


@dataclass(slots=True, kw_only=True)
class HealthClusterMember:
    role: Literal["engine", "standby", "gateway"]
    name: str
    lag_batches: int
    lag_ms: int
    silent_ms: int


@dataclass(slots=True, kw_only=True)
class HealthCluster:
    role: Literal["engine", "gateway"]
    name: str
    log: Literal["up", "down"]
    lag_batches: int
    lag_ms: int
    is_heard: bool
    lease: HealthClusterLease | None
    members: list[HealthClusterMember]


@dataclass(slots=True, kw_only=True)
class Health:
    status: Literal["ok", "degraded"]
    version: str
    data: Literal["simulated", "live", "replay"]
    database: bool
    cache: bool
    exchanges: dict[str, bool]
    feeds: dict[str, HealthFeed]
    protocols: dict[str, str]
    delay_ms: int
    uptime_s: int
    trades_source: dict[str, Literal["activity", "last_trade_price"]]
    drift: dict[str, list[HealthDrift]]
    cluster: HealthCluster | None = None


@dataclass(slots=True, kw_only=True)
class PastOpportunityLeg:
    market_id: str
    platform: str
    outcome: str


@dataclass(slots=True, kw_only=True)
class PastOpportunityOpened(Generic[N]):
    at_ms: int
    contracts: N
    profit_usd: N


@dataclass(slots=True, kw_only=True)
class PastOpportunity(Generic[N]):
    id: str
    kind: Literal["cross_venue", "single_venue"]
    match_score: N | None
    legs: list[PastOpportunityLeg]
    question: str
    category: str | None
    closes_at: int | None
    opened: PastOpportunityOpened[N]
    best: PastOpportunityOpened[N]
    last: PastOpportunityOpened[N]
    closed_at_ms: int
    close_reason: Literal["prices", "stale", "market_closed", "match_changed", "stopped", "restarted"]


@dataclass(slots=True, kw_only=True)
class MatchVenueA(Generic[N]):
    id: str
    slug: str
    question: str
    description: str | None
    status: Literal["open", "closed", "resolved"]
    resolution_status: Literal["none", "proposed", "disputed", "resolved"] | None
    settlement_price: N | None
    outcomes: list[Outcome[N]]
    platforms: list[PlatformListing[N]]
    volume_24h: N
    volume_total: N | None
    volume_unit: Literal["usd_traded", "usd_notional"]
    open_interest: N | None
    as_of_ms: int | None
    volume_24h_as_of_ms: int | None
    created_at: int | None
    close_time: int | None
    tags: list[str]
    category: str | None
    event_slug: str | None
    image: str | None
    price_step: N | None
    fees: Fees[N]
    condition_id: str


@dataclass(slots=True, kw_only=True)
class MatchVenueB(Generic[N]):
    id: str
    slug: str
    question: str
    description: str | None
    status: Literal["open", "closed", "resolved"]
    resolution_status: Literal["none", "proposed", "disputed", "resolved"] | None
    settlement_price: N | None
    outcomes: list[Outcome[N]]
    platforms: list[PlatformListing[N]]
    volume_24h: N
    volume_total: N | None
    volume_unit: Literal["usd_traded", "usd_notional"]
    open_interest: N | None
    as_of_ms: int | None
    volume_24h_as_of_ms: int | None
    created_at: int | None
    close_time: int | None
    tags: list[str]
    category: str | None
    event_slug: str | None
    image: str | None
    price_step: N | None
    fees: Fees[N]
    ticker: str
    event_ticker: str | None


@dataclass(slots=True, kw_only=True)
class MatchSettled(Generic[N]):
    venue_a: N | None
    venue_b: N | None
    agreed: bool | None


@dataclass(slots=True, kw_only=True)
class Match(Generic[N]):
    venue_a: MatchVenueA[N]
    venue_b: MatchVenueB[N]
    score: N
    confidence: Literal["high", "medium", "low"]
    relation: Literal["identical", "subset", "superset", "overlap", "different"]
    inverted: bool | None
    outcome_map: dict[str, str] | None
    explanation: str
    vetoes: list[str]
    price_gap: N | None
    matched_at: int
    settled: MatchSettled[N] | None


@dataclass(slots=True, kw_only=True)
class RankedWallet(Generic[N]):
    rank: int
    address: str
    handle: str | None
    pseudonym: str | None
    image: str | None
    realized_pnl: N
    volume: N
    trades: int
    fees_paid: N
    income: N
    net_realized_pnl: N
    win_count: int
    loss_count: int
    win_rate: N | None
    last_trade_at: int | None
    data_complete: bool
    as_of: int | None


@dataclass(slots=True, kw_only=True)
class WalletMetrics(Generic[N]):
    total_volume: N
    total_trades: int
    total_markets: int
    win_count: int
    loss_count: int
    win_rate: N | None
    realized_pnl: N
    unrealized_pnl: N
    total_pnl: N
    fees_paid: N
    income: N
    net_realized_pnl: N
    net_pnl: N
    combo_realized_pnl: N | None
    merges: int
    splits: int
    redemptions: int
    conversions: int


@dataclass(slots=True, kw_only=True)
class WalletWindowsOneDay(Generic[N]):
    realized_pnl: N
    volume: N
    trades: int
    fees_paid: N
    income: N
    net_realized_pnl: N
    net_pnl: N


@dataclass(slots=True, kw_only=True)
class WalletWindows(Generic[N]):
    one_day: WalletWindowsOneDay[N]
    seven_day: WalletWindowsOneDay[N]
    thirty_day: WalletWindowsOneDay[N]
    all_time: WalletWindowsOneDay[N]


@dataclass(slots=True, kw_only=True)
class Wallet(Generic[N]):
    address: str
    eoa: str | None
    proxy: str
    handle: str | None
    pseudonym: str | None
    image: str | None
    first_trade_at: int | None
    last_trade_at: int | None
    metrics: WalletMetrics[N]
    windows: WalletWindows[N]
    is_whale: bool
    updated_at: int


@dataclass(slots=True, kw_only=True)
class WalletPnlPnlOverTime(Generic[N]):
    timestamp: int
    pnl_to_date: N
    realized_pnl: N


@dataclass(slots=True, kw_only=True)
class WalletPnl(Generic[N]):
    address: str
    realized_pnl: N
    unrealized_pnl: N
    total_pnl: N
    fees_paid: N
    income: N
    net_realized_pnl: N
    net_pnl: N
    combo_realized_pnl: N | None
    win_count: int
    loss_count: int
    win_rate: N | None
    total_volume: N
    total_trades: int
    granularity: Literal["day", "week", "month", "all"]
    pnl_over_time: list[WalletPnlPnlOverTime[N]]
    method: Literal["average_cost"]
    as_of_ms: int


@dataclass(slots=True, kw_only=True)
class Whale(Generic[N]):
    id: str
    market_id: str
    platform: str
    price: N
    size: N
    side: Literal["buy", "sell"]
    outcome: str | None
    size_usd: N
    timestamp_ms: int
    native_trade_id: str
    maker: str | None
    taker: str | None
    tx_hash: str | None
    is_block_trade: bool
    taker_outcome: str | None
    taker_side: Literal["buy", "sell"]
    taker_price: N
    question: str
    slug: str
    event_slug: str | None
    category: str | None
    wallet: str | None
    fills: int


@dataclass(slots=True, kw_only=True)
class StreamBook(Generic[N]):
    bids: list[Level[N]]
    asks: list[Level[N]]
    spread: N | None
    mid_price: N | None


@dataclass(slots=True, kw_only=True)
class SnapshotMessage(Generic[N]):
    type: Literal["snapshot"]
    channel: Literal["orderbook"]
    market_id: str
    epoch: str
    offset: int
    seq: int
    timestamp_ms: int | None
    received_ms: int | None
    published_ms: int
    stale: bool
    stale_reason: Literal["disconnected", "silent", "messages_lost", "contradicted_by_trade", "contradicted_by_rest", "delayed", "tick_changed", "restarted", "no_leader", "not_covered"] | None
    checksum: int
    data: StreamBook[N]


@dataclass(slots=True, kw_only=True)
class BookSides(Generic[N]):
    bids: list[Level[N]]
    asks: list[Level[N]]


@dataclass(slots=True, kw_only=True)
class UpdateMessage(Generic[N]):
    type: Literal["update"]
    channel: Literal["orderbook"]
    market_id: str
    epoch: str
    offset: int
    seq: int
    timestamp_ms: int | None
    received_ms: int | None
    published_ms: int
    checksum: int | None = None
    data: BookSides[N]


@dataclass(slots=True, kw_only=True)
class StreamPrice(Generic[N]):
    price: N
    price_cents: int
    best_bid: N | None
    best_ask: N | None
    spread: N | None
    mid_price: N | None
    source: str


@dataclass(slots=True, kw_only=True)
class PriceMessage(Generic[N]):
    type: Literal["price"]
    channel: Literal["prices"]
    market_id: str
    epoch: str
    offset: int
    seq: int
    timestamp_ms: int | None
    received_ms: int | None
    published_ms: int
    stale: bool
    stale_reason: Literal["disconnected", "silent", "messages_lost", "contradicted_by_trade", "contradicted_by_rest", "delayed", "tick_changed", "restarted", "no_leader", "not_covered"] | None
    data: StreamPrice[N]


@dataclass(slots=True, kw_only=True)
class TradeMessage(Generic[N]):
    type: Literal["trade"]
    channel: Literal["trades"]
    market_id: str
    epoch: str
    offset: int
    seq: int
    timestamp_ms: int | None
    received_ms: int | None
    published_ms: int
    data: Trade[N]


@dataclass(slots=True, kw_only=True)
class WhaleMessage(Generic[N]):
    type: Literal["whale"]
    channel: Literal["whales"]
    market_id: str
    epoch: str
    offset: int
    seq: int
    timestamp_ms: int | None
    received_ms: int | None
    published_ms: int
    data: Whale[N]


@dataclass(slots=True, kw_only=True)
class Lifecycle(Generic[N]):
    event: Literal["opened", "closed", "resolved", "settled", "changed", "matched", "unmatched"]
    platform: str
    status: Literal["open", "closed", "resolved"]
    resolution_status: Literal["none", "proposed", "disputed", "resolved"] | None
    settlement_price: N | None
    question: str
    slug: str
    event_slug: str | None
    outcomes: list[str]
    close_time: int | None
    twin_market_id: str | None
    fees: Fees[N]


@dataclass(slots=True, kw_only=True)
class LifecycleMessage(Generic[N]):
    type: Literal["lifecycle"]
    channel: Literal["lifecycle"]
    market_id: str
    epoch: str
    offset: int
    seq: int
    timestamp_ms: int | None
    received_ms: int | None
    published_ms: int
    data: Lifecycle[N]


@dataclass(slots=True, kw_only=True)
class StaleMessage:
    type: Literal["stale"]
    channel: Literal["orderbook", "depth", "prices"]
    market_id: str
    reason: Literal["disconnected", "silent", "messages_lost", "contradicted_by_trade", "contradicted_by_rest", "delayed", "tick_changed", "restarted", "no_leader", "not_covered"]
    since_ms: int
    published_ms: int


@dataclass(slots=True, kw_only=True)
class FreshMessage:
    type: Literal["fresh"]
    channel: Literal["orderbook", "depth", "prices"]
    market_id: str
    seq: int
    published_ms: int


@dataclass(slots=True, kw_only=True)
class ResyncMessage:
    type: Literal["resync"]
    channel: Literal["orderbook", "depth", "prices", "candles"]
    market_id: str
    reason: Literal["venue_gap", "slow_consumer", "restart", "delayed", "seek"]
    published_ms: int


@dataclass(slots=True, kw_only=True)
class GapMessage:
    type: Literal["gap"]
    channel: Literal["orderbook", "depth", "prices", "trades", "whales", "lifecycle", "candles", "arbitrage"]
    market_id: str | None = None
    platform: str | None = None
    from_ms: int | None
    to_ms: int
    count: int | None = None
    reason: Literal["slow_disk", "disk_full", "disk_error", "damaged"] | None = None
    published_ms: int


@dataclass(slots=True, kw_only=True)
class StatusMessage:
    type: Literal["status"]
    platform: str
    state: Literal["live", "stale", "down"]
    lag_ms: int | None
    delay_ms: int
    reason: Literal["disconnected", "silent", "messages_lost", "contradicted_by_trade", "contradicted_by_rest", "delayed", "tick_changed", "restarted", "no_leader", "not_covered"] | None = None
    books: int | None = None
    trades_source: Literal["activity", "last_trade_price"] | None = None
    complete_to_ms: int | None = None
    published_ms: int


@dataclass(slots=True, kw_only=True)
class DisconnectMessage:
    type: Literal["disconnect"]
    platform: str
    reason: Literal["stopped", "killed"]
    from_ms: int
    to_ms: int
    published_ms: int


ReplayMessage = Union[
    SnapshotMessage[N],
    UpdateMessage[N],
    PriceMessage[N],
    TradeMessage[N],
    WhaleMessage[N],
    LifecycleMessage[N],
    StaleMessage,
    FreshMessage,
    ResyncMessage,
    GapMessage,
    StatusMessage,
    DisconnectMessage,
]
