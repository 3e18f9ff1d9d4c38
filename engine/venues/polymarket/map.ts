// Converts market-channel messages to VenueEvents. The books of both tokens become one book in prices of the first
// token.

import type { LevelChange, TopOfBook, VenueEvent } from '../../events.ts'
import { type NativeMarketId, outcomeId } from '../../ids.ts'
import type { MarketFees } from '../../market/fees.ts'
import {
  complement,
  PRICE_ONE,
  type PriceMicros,
  parsePrice,
  priceMicros,
  roundSize,
  type TimeMs,
} from '../../units.ts'
import { hasLevel, readChange, readLevels, readTime, readTop } from './book/quotes.ts'
import type { MarketTrack, Tracks } from './book/tracks.ts'
import { readNewMarketFees } from './catalog/fees.ts'
import { conditionId } from './condition-id.ts'
import type {
  BookMessage,
  LastTradeMessage,
  MarketMessage,
  NewMarketMessage,
  OldPriceChangeMessage,
  PriceChangeEntry,
  PriceChangeMessage,
  ResolvedMessage,
  TickSizeMessage,
} from './messages.ts'
import { type LastTrade, SIZE_MAX_MICROS } from './trades/trade-ledger.ts'

type MapReason = 'price' | 'size' | 'timestamp' | 'tick_size'

interface MapParts {
  readonly tracks: Tracks
  readonly emit: (event: VenueEvent) => void
  /** Called when a message was rejected. If `track` is not null, the book of this market has lost a message. */
  readonly onRejected: (reason: MapReason, track: MarketTrack | null, atMs: TimeMs) => void
  /** Called before a usable snapshot is emitted. `isInOrder` is true if the snapshot came from the stream. */
  readonly onBook: (track: MarketTrack, isInOrder: boolean) => void
  /**
   * Called with the fill of a `last_trade_price`, which has no wallet. Null if the message does not contain a complete
   * fill.
   */
  readonly onLastTrade: (trade: LastTrade | null, receivedAtMs: TimeMs) => void
  /** Called when the tick size changed. The stream is then expected to send a snapshot. */
  readonly onTick: (track: MarketTrack) => void
  /** Called with the fees of a new market, before its `marketSeen`. */
  readonly onFees: (market: NativeMarketId, fees: MarketFees) => void
}

/**
 * 'unwatched': no token of the message is watched. 'uncovered': the book is no longer subscribed. 'mirrored': a copy of
 * the other token's book.
 */
type Mapped = 'mapped' | 'mirrored' | 'unwatched' | 'uncovered' | 'ignored' | 'rejected'

export class PolymarketMap {
  readonly #parts: MapParts

  constructor(parts: MapParts) {
    this.#parts = parts
  }

  /** Emits the events of a message. Never throws. */
  map(message: MarketMessage, receivedAtMs: TimeMs): Mapped {
    switch (message.kind) {
      case 'priceChange':
        return this.#mapPriceChange(message.body, receivedAtMs)
      case 'book':
        return this.mapBook(message.body, receivedAtMs, true)
      case 'lastTrade':
        return this.#mapLastTrade(message.body, receivedAtMs)
      case 'oldPriceChange':
        return this.#mapOldPriceChange(message.body, receivedAtMs)
      case 'tickSize':
        return this.#mapTickSize(message.body, receivedAtMs)
      case 'newMarket':
        return this.#mapNewMarket(message.body, receivedAtMs)
      case 'resolved':
        return this.#mapResolved(message.body, receivedAtMs)
      case 'bestBidAsk':
        return 'ignored'
    }
  }

  /**
   * Converts a snapshot from the stream (`isInOrder`) or from REST. Both tokens send a copy of the same book, and the
   * copy that arrives first is used. The second token's book may lack levels, so the first token's book is also used if
   * it follows directly. Other copies are dropped, because they could undo later changes.
   */
  mapBook(body: BookMessage, receivedAtMs: TimeMs, isInOrder: boolean): Mapped {
    const track = this.#parts.tracks.byToken(body.asset_id)
    if (track === undefined) return 'unwatched'
    if (!this.#parts.tracks.covered.has(track)) return 'uncovered'
    const venueTimeMs = readTime(body.timestamp)
    if (venueTimeMs === null) return this.#reject('timestamp', track, receivedAtMs)
    const isFirst = body.asset_id === track.first
    if (isInOrder && isMirrored(track, isFirst, venueTimeMs)) return 'mirrored'
    const bids = readLevels(isFirst ? body.bids : body.asks, isFirst, true)
    const asks = readLevels(isFirst ? body.asks : body.bids, isFirst, false)
    if (bids === null || asks === null) return this.#reject('price', track, receivedAtMs)
    if (isInOrder) {
      const hash = isFirst && typeof body.hash === 'string' ? body.hash : null
      track.note({ venueTimeMs, hash, top: { bid: bids.best, ask: asks.best } })
      if (!isFirst) track.secondBookAt = track.messageCount
    }
    this.#parts.onBook(track, isInOrder)
    this.#parts.emit({
      kind: 'bookSnapshot',
      venue: 'a',
      venueTimeMs,
      receivedAtMs,
      outcome: track.first,
      bids: bids.levels,
      asks: asks.levels,
      isInOrder,
    })
    return 'mapped'
  }

  #mapPriceChange(body: PriceChangeMessage, receivedAtMs: TimeMs): Mapped {
    const venueTimeMs = readTime(body.timestamp)
    let result: Mapped = 'unwatched'
    const entries = body.price_changes
    let areAllWatched = true
    // A message may contain several markets. Consecutive entries of one market become one event.
    for (let from = 0; from < entries.length; ) {
      const head = entries[from]
      const track = head === undefined ? undefined : this.#parts.tracks.byToken(head.asset_id)
      let to = from + 1
      if (track !== undefined) {
        while (to < entries.length && isOf(track, entries[to])) to += 1
        result = !this.#parts.tracks.covered.has(track)
          ? 'uncovered'
          : venueTimeMs === null
            ? this.#reject('timestamp', track, receivedAtMs)
            : this.#mapEntries(track, runOf(entries, from, to), { venueTimeMs, receivedAtMs })
      } else areAllWatched = false
      from = to
    }
    return areAllWatched || result === 'rejected' ? result : 'unwatched'
  }

  #mapEntries(track: MarketTrack, entries: readonly PriceChangeEntry[], times: Times): Mapped {
    const changes: LevelChange[] = []
    let top: TopOfBook | null = null
    let isTopOfFirst = false
    let hash: string | null = null
    let last: LevelChange | null = null
    // Reads the first token's entries, then the levels that only the second token's entries contain.
    for (const isFirst of [true, false]) {
      for (const entry of entries) {
        if ((entry.asset_id === track.first) !== isFirst) continue
        const change = readChange(entry, isFirst)
        if (typeof change === 'string') return this.#reject(change, track, times.receivedAtMs)
        if (isFirst || !hasLevel(changes, change)) changes.push(change)
        if (isFirst && typeof entry.hash === 'string') {
          hash = entry.hash
          last = change
        }
        if (!isFirst && isTopOfFirst) continue
        const entryTop = readTop(entry, isFirst)
        if (entryTop === undefined) return this.#reject('price', track, times.receivedAtMs)
        top = entryTop
        isTopOfFirst = isFirst && entryTop !== null
      }
    }
    return this.#emitChange(track, { changes, top, hash, last }, times)
  }

  /** Converts a message of the format before September 2025. The second token's message is a duplicate and is dropped. */
  #mapOldPriceChange(body: OldPriceChangeMessage, receivedAtMs: TimeMs): Mapped {
    const track = this.#parts.tracks.byToken(body.asset_id)
    if (track === undefined) return 'unwatched'
    if (!this.#parts.tracks.covered.has(track)) return 'uncovered'
    if (body.asset_id !== track.first) return 'mirrored'
    const venueTimeMs = readTime(body.timestamp)
    if (venueTimeMs === null) return this.#reject('timestamp', track, receivedAtMs)
    const changes: LevelChange[] = []
    for (const entry of body.changes) {
      const change = readChange(entry, true)
      if (typeof change === 'string') return this.#reject(change, track, receivedAtMs)
      changes.push(change)
    }
    const hash = typeof body.hash === 'string' ? body.hash : null
    const stated = { changes, top: null, hash, last: null }
    return this.#emitChange(track, stated, { venueTimeMs, receivedAtMs })
  }

  #emitChange(
    track: MarketTrack,
    { changes, top, hash, last }: StatedChange,
    { venueTimeMs, receivedAtMs }: Times,
  ): Mapped {
    track.note({ venueTimeMs, hash, top, change: last })
    const outcome = track.first
    this.#parts.emit({
      kind: 'bookChange',
      venue: 'a',
      venueTimeMs,
      receivedAtMs,
      outcome,
      mode: 'absolute',
      changes,
      top,
    })
    return 'mapped'
  }

  /** Emits the price, in prices of the first token if the market is known. Passes the fill to `onLastTrade`. */
  #mapLastTrade(body: LastTradeMessage, receivedAtMs: TimeMs): Mapped {
    const venueTimeMs = readTime(body.timestamp)
    if (venueTimeMs === null) return this.#reject('timestamp', null, receivedAtMs)
    const stated = parsePrice(body.price)
    if (stated === null) return this.#reject('price', null, receivedAtMs)
    const track = this.#parts.tracks.byToken(body.asset_id)
    const isSecond = track !== undefined && body.asset_id === track.second
    this.#parts.emit({
      kind: 'lastPrice',
      venue: 'a',
      venueTimeMs,
      receivedAtMs,
      outcome: track?.first ?? outcomeId(body.asset_id),
      price: isSecond ? complement(stated) : stated,
    })
    const trade = lastTradeOf(body, { price: stated, timeMs: venueTimeMs, track })
    this.#parts.onLastTrade(trade, receivedAtMs)
    return 'mapped'
  }

  /** Drops the second token's copy of a tick size change. Otherwise the copy would invalidate the new book. */
  #mapTickSize(body: TickSizeMessage, receivedAtMs: TimeMs): Mapped {
    const track = this.#parts.tracks.byToken(body.asset_id)
    if (track === undefined) return 'unwatched'
    if (!this.#parts.tracks.covered.has(track)) return 'uncovered'
    const venueTimeMs = readTime(body.timestamp)
    if (venueTimeMs === null) return this.#reject('timestamp', track, receivedAtMs)
    const tickMicros = parsePrice(body.new_tick_size)
    if (tickMicros === null || tickMicros === 0) {
      return this.#reject('tick_size', track, receivedAtMs)
    }
    const isRepeat =
      track.tickText === body.new_tick_size &&
      Math.abs(venueTimeMs - track.tickTimeMs) <= TICK_REPEAT_MS
    if (isRepeat) return 'mirrored'
    track.tickText = body.new_tick_size
    track.tickTimeMs = venueTimeMs
    track.secondBookAt = null
    const outcome = track.first
    this.#parts.emit({
      kind: 'tickSize',
      venue: 'a',
      venueTimeMs,
      receivedAtMs,
      outcome,
      tickMicros,
      retainsBook: false,
    })
    this.#parts.onTick(track)
    return 'mapped'
  }

  #mapNewMarket(body: NewMarketMessage, receivedAtMs: TimeMs): Mapped {
    const venueTimeMs = readTime(body.timestamp) ?? receivedAtMs
    const market = conditionId(body.market)
    const { fees_enabled, fee_schedule } = body
    this.#parts.onFees(market, readNewMarketFees({ fees_enabled, fee_schedule }))
    this.#parts.emit({ kind: 'marketSeen', venue: 'a', venueTimeMs, receivedAtMs, market })
    return 'mapped'
  }

  #mapResolved(body: ResolvedMessage, receivedAtMs: TimeMs): Mapped {
    const { tracks, emit } = this.#parts
    const times = { venueTimeMs: readTime(body.timestamp) ?? receivedAtMs, receivedAtMs }
    const market = conditionId(body.market)
    const settlementPrice = settlementOf(body, tracks.byToken(body.assets_ids[0] ?? ''))
    const state = { status: 'resolved', resolutionStatus: 'resolved', settlementPrice } as const
    emit({ kind: 'marketStatus', venue: 'a', ...times, market, ...state })
    // The message of a market without a winner lacks the payout, so the listing is read again.
    if (settlementPrice === null) emit({ kind: 'marketSeen', venue: 'a', ...times, market })
    return 'mapped'
  }

  #reject(reason: MapReason, track: MarketTrack | null, atMs: TimeMs): Mapped {
    this.#parts.onRejected(reason, track, atMs)
    return 'rejected'
  }
}

/** Maximum length of an id. Hashes have 66 characters and tokens up to 78. Longer ids would fill the caches. */
const ID_CHARACTERS_MAX = 128

/** The fill of a `last_trade_price` message, for the message's token; null if the message is incomplete. */
function lastTradeOf(
  { asset_id: asset, market, size, side, transaction_hash: hash }: LastTradeMessage,
  details: { price: PriceMicros; timeMs: TimeMs; track: MarketTrack | undefined },
): LastTrade | null {
  const { price, timeMs, track } = details
  const contracts = typeof size === 'string' ? roundSize(Number(size)) : null
  const id = track?.nativeId ?? (typeof market === 'string' ? conditionId(market) : null)
  const isSide = side === 'BUY' || side === 'SELL'
  if (contracts === null || contracts === 0 || contracts > SIZE_MAX_MICROS) return null
  if (id === null || !isSide) return null
  if (typeof hash !== 'string' || hash === '') return null
  if (Math.max(hash.length, asset.length) > ID_CHARACTERS_MAX) return null
  const taken = side === 'BUY' ? 'buy' : 'sell'
  const txHash = hash.toLowerCase()
  // Reuses the track's string to save memory, because thousands of these fills are cached.
  const token = track === undefined ? asset : asset === track.second ? track.second : track.first
  return { market: id, asset: token, txHash, side: taken, price, size: contracts, timeMs }
}

/** Maximum time between the two announcements of a tick size change. */
const TICK_REPEAT_MS = 1_000
interface Times {
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

interface StatedChange {
  readonly changes: LevelChange[]
  readonly top: TopOfBook | null
  readonly hash: string | null
  readonly last: LevelChange | null
}

function isOf(track: MarketTrack, entry: PriceChangeEntry | undefined): boolean {
  return entry?.asset_id === track.first || entry?.asset_id === track.second
}

/** Returns the entries of one market. If all entries belong to the market, returns them without a copy. */
function runOf(
  entries: readonly PriceChangeEntry[],
  from: number,
  to: number,
): readonly PriceChangeEntry[] {
  return from === 0 && to === entries.length ? entries : entries.slice(from, to)
}

/**
 * Counts the book of a token. A first token's book with a repeated time is a duplicate only if another message arrived
 * after the second token's book.
 */
function isMirrored(track: MarketTrack, isFirst: boolean, venueTimeMs: TimeMs): boolean {
  if (venueTimeMs < track.bookTimeMs && !isFirst) return true
  if (venueTimeMs !== track.bookTimeMs) {
    track.bookTimeMs = venueTimeMs
    track.firstBookCount = 0
    track.secondBookCount = 0
  }
  if (isFirst) {
    track.firstBookCount += 1
    const isNext = track.secondBookAt === track.messageCount
    return track.firstBookCount < track.secondBookCount + (isNext ? 0 : 1)
  }
  track.secondBookCount += 1
  if (track.secondBookCount <= track.firstBookCount) return true
  // Set before the book is parsed. If parsing fails, the first token's book is still accepted.
  track.secondBookAt = track.messageCount
  return false
}

/** Payout of the first outcome; null if the message does not contain it. */
function settlementOf(body: ResolvedMessage, track: MarketTrack | undefined): PriceMicros | null {
  const first = track?.first ?? body.assets_ids[0]
  if (first === undefined || body.assets_ids.length !== 2) return null
  const winner = body.winning_asset_id
  if (typeof winner !== 'string' || !body.assets_ids.includes(winner)) return null
  return priceMicros(winner === first ? PRICE_ONE : 0)
}
