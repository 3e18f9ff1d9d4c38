// Schemas of Polymarket's messages in wire format (README.md). They are compiled, because every book change is
// validated.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { isRecord } from '../../json-record.ts'

export type Json = { readonly [key: string]: unknown }

const Text = Type.String({ minLength: 1 })
const Figure = Type.Union([Type.Number(), Text])
const Side = Type.Union([Type.Literal('BUY'), Type.Literal('SELL')])
const Any = Type.Optional(Type.Unknown())

const Level = Type.Object({ price: Type.String(), size: Type.String() })
export type WireLevel = Static<typeof Level>

/** The book of one token. The venue sends it on subscription and after each trade, and returns it over REST. */
const Book = Type.Object({
  asset_id: Text,
  timestamp: Text,
  bids: Type.Array(Level),
  asks: Type.Array(Level),
  hash: Any,
  version: Any,
})
export type BookMessage = Static<typeof Book>
export const isBook = checkOf(Book)

/** '' or null: the side is empty. Absent: the best price is unknown. */
const Best = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Entry = Type.Object({
  asset_id: Text,
  price: Type.String(),
  size: Type.String(),
  side: Side,
  hash: Any,
  best_bid: Best,
  best_ask: Best,
})
export type PriceChangeEntry = Static<typeof Entry>

/** Current format: one message per market, with entries of both tokens. */
const PriceChange = Type.Object({ timestamp: Text, price_changes: Type.Array(Entry) })
export type PriceChangeMessage = Static<typeof PriceChange>
export const isPriceChange = checkOf(PriceChange)

/** Format until September 2025: one message per token. */
const OldPriceChange = Type.Object({
  asset_id: Text,
  timestamp: Text,
  changes: Type.Array(Type.Object({ price: Type.String(), size: Type.String(), side: Side })),
  hash: Any,
})
export type OldPriceChangeMessage = Static<typeof OldPriceChange>
export const isOldPriceChange = checkOf(OldPriceChange)

const LastTrade = Type.Object({
  ...{ asset_id: Text, price: Text, timestamp: Text },
  ...{ market: Any, size: Any, side: Any, transaction_hash: Any },
})
export type LastTradeMessage = Static<typeof LastTrade>
export const isLastTrade = checkOf(LastTrade)

const TickSize = Type.Object({ asset_id: Text, new_tick_size: Text, timestamp: Text })
export type TickSizeMessage = Static<typeof TickSize>
export const isTickSize = checkOf(TickSize)

/** The numbers in `fee_schedule` are decimal text. */
const NewMarket = Type.Object({
  ...{ market: Text, timestamp: Text, fees_enabled: Any, fee_schedule: Any },
})
export type NewMarketMessage = Static<typeof NewMarket>
export const isNewMarket = checkOf(NewMarket)

const Resolved = Type.Object({
  market: Text,
  assets_ids: Type.Array(Text),
  /** Absent or '' if no outcome won, for example in a void market. */
  winning_asset_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  timestamp: Text,
})
export type ResolvedMessage = Static<typeof Resolved>
export const isResolved = checkOf(Resolved)

/** A message of the market channel. `bestBidAsk` is not used, because the book messages contain its prices. */
export type MarketMessage =
  | { readonly kind: 'book'; readonly body: BookMessage }
  | { readonly kind: 'priceChange'; readonly body: PriceChangeMessage }
  | { readonly kind: 'oldPriceChange'; readonly body: OldPriceChangeMessage }
  | { readonly kind: 'lastTrade'; readonly body: LastTradeMessage }
  | { readonly kind: 'tickSize'; readonly body: TickSizeMessage }
  | { readonly kind: 'newMarket'; readonly body: NewMarketMessage }
  | { readonly kind: 'resolved'; readonly body: ResolvedMessage }
  | { readonly kind: 'bestBidAsk' }

/**
 * A fill, or one wallet's part of a fill. The activity stream and the Data API use this format. `timestamp` is in
 * seconds.
 */
const Trade = Type.Object({
  ...{ proxyWallet: Text, asset: Text, conditionId: Text, side: Side },
  ...{ size: Figure, price: Figure, timestamp: Figure, transactionHash: Text },
})
export type WireTrade = Static<typeof Trade>
export const isTrade = checkOf(Trade)

export interface ActivityMessage {
  /**
   * `matched`: an `orders_matched` frame with the taker's row. `participant`: a `trades` frame with one wallet's row.
   * `unnamed`: a frame without a type.
   */
  readonly kind: 'matched' | 'participant' | 'unnamed'
  readonly row: WireTrade
}

/** Converts a row of `/v2/trades` to the stream's format. Returns 'combo_trade' if the row concerns several markets. */
export function readDataTrade(value: unknown): WireTrade | 'combo_trade' | 'bad_trade' {
  if (!isRecord(value)) return 'bad_trade'
  if (value.slug === '' && value.outcome === '') return 'combo_trade'
  const row = {
    proxyWallet: value.proxy_wallet,
    asset: value.token_id,
    conditionId: value.condition_id,
    side: value.side,
    size: value.size,
    price: value.price,
    timestamp: value.timestamp,
    transactionHash: value.transaction_hash,
  }
  return isTrade(row) ? row : 'bad_trade'
}

function checkOf<Schema extends TSchema>(schema: Schema) {
  const compiled = TypeCompiler.Compile(schema)
  return (value: unknown): value is Static<Schema> => compiled.Check(value)
}
