import { type NativeMarketId, type OutcomeId, outcomeId, type VenueKey } from '../../ids.ts'
import type { TimeMs } from '../../units.ts'
import type { DriftRecorder } from '../drift/drift.ts'
import { parseOrderbookRow, parseTradeRow, rowsOf } from '../kalshi/catalog/rest-rows.ts'
import { KALSHI } from '../kalshi/facts.ts'
import { mapMessage, mapTrade } from '../kalshi/map.ts'
import { KalshiStream } from '../kalshi/stream.ts'
import { type MarketTrack, Tracks } from '../polymarket/book/tracks.ts'
import { POLYMARKET } from '../polymarket/facts.ts'
import { PolymarketMap } from '../polymarket/map.ts'
import { parseActivity, parseFrame } from '../polymarket/parse.ts'
import { readTrade, TradeLedger } from '../polymarket/trades/trade-ledger.ts'
import { feedReporter, type RawFrame } from '../socket-feed.ts'
import type { VenueFeed, VenueParts, WatchedMarket } from '../venue.ts'
import { VenueCounters } from '../venue-counters.ts'

export interface Player extends Pick<VenueFeed, 'watch' | 'unwatch' | 'cover' | 'uncover'> {
  take(frame: RawFrame, stream: string): void
}

export function openPlayer(venue: VenueKey, parts: VenueParts, drift: DriftRecorder): Player {
  if (venue === POLYMARKET.key) return new PolymarketPlayer(parts, drift)
  if (venue === KALSHI.key) return new KalshiPlayer(parts, drift)
  throw new Error(`no recording has venue ${venue}`)
}

class KalshiPlayer implements Player {
  readonly #parts: VenueParts
  readonly #counters: VenueCounters
  readonly #watched = new Set<string>()
  readonly #covered = new Set<string>()
  /** One stream per recorded connection, because each connection has its own sequence numbers. */
  readonly #streams = new Map<string, KalshiStream>()

  constructor(parts: VenueParts, drift: DriftRecorder) {
    this.#parts = parts
    this.#counters = new VenueCounters({ ...parts, venue: 'b', drift })
  }

  watch(markets: readonly WatchedMarket[]): void {
    for (const market of markets) this.#watched.add(market.nativeId)
  }

  unwatch(ids: readonly NativeMarketId[]): void {
    this.uncover(ids)
    for (const id of ids) this.#watched.delete(id)
  }

  cover(ids: readonly NativeMarketId[]): void {
    for (const id of ids) if (this.#watched.has(id)) this.#covered.add(id)
  }

  uncover(ids: readonly NativeMarketId[]): void {
    for (const id of ids) this.#covered.delete(id)
  }

  take(frame: RawFrame, stream: string): void {
    if (stream === 'rest_books') this.#takeBooks(frame)
    else if (stream === 'rest_trades') this.#takeTrades(frame)
    else this.#streamOf(frame.connection, stream).take(frame)
  }

  #streamOf(connection: number, name: string): KalshiStream {
    const key = `${name} ${connection}`
    let stream = this.#streams.get(key)
    if (stream === undefined) {
      stream = this.#makeStream(connection, name === 'trades' ? 'trades' : 'books')
      this.#streams.set(key, stream)
    }
    return stream
  }

  #makeStream(connection: number, name: 'books' | 'trades'): KalshiStream {
    const { emit } = this.#parts
    const tickersOf = new Map<number, Set<OutcomeId>>()
    const tickersOn = (sid: number | null): readonly OutcomeId[] =>
      sid === null
        ? [...tickersOf.values()].flatMap((tickers) => [...tickers])
        : [...(tickersOf.get(sid) ?? [])]
    const report = feedReporter(this.#parts, { venue: 'b', stream: name, connection })
    const isCovered = (outcome: OutcomeId) => this.#covered.has(outcome)
    const emitGap = (outcomes: readonly OutcomeId[], sinceMs: TimeMs | null) =>
      report('feedGap', 'gap in the recording', sinceMs, outcomes.filter(isCovered))
    return new KalshiStream(
      {
        emit,
        onReply: () => {},
        onGap: (sid, sinceMs) => emitGap(tickersOn(sid), sinceMs),
        onLost: (sid, ticker, sinceMs) =>
          emitGap(ticker === null ? tickersOn(sid) : [outcomeId(ticker)], sinceMs),
        accepts: ({ kind, ticker }) => {
          if (kind === 'trade') return true
          const isOfBook = kind === 'orderbookDelta' || kind === 'orderbookSnapshot'
          return (isOfBook ? this.#covered : this.#watched).has(ticker)
        },
        onMapped: (message) => {
          if (message.kind !== 'orderbookSnapshot') return
          const tickers = tickersOf.get(message.sid) ?? new Set<OutcomeId>()
          tickersOf.set(message.sid, tickers.add(outcomeId(message.ticker)))
        },
      },
      this.#counters,
    )
  }

  #takeBooks({ text, receivedAtMs }: RawFrame): void {
    for (const row of rowsOf(jsonOf(text), 'orderbooks')) {
      const book = parseOrderbookRow(row)
      if (book.kind === 'rejected') this.#counters.rejected(book.reason, text)
      else if (this.#covered.has(book.ticker)) {
        const refusal = mapMessage(book, receivedAtMs, this.#parts.emit)
        if (refusal === null) this.#counters.mapped(book.kind)
        else this.#counters.refused(refusal, text)
      }
    }
  }

  #takeTrades({ text, receivedAtMs }: RawFrame): void {
    // The rows are newest first. Trades must be emitted in chronological order.
    for (const row of [...rowsOf(jsonOf(text), 'trades')].reverse()) {
      const message = parseTradeRow(row)
      const trade = message.kind === 'trade' ? mapTrade(message, receivedAtMs, 'stream') : message
      if (trade.kind === 'trade') this.#parts.emit(trade)
      else this.#counters.refused(trade, text)
    }
  }
}

class PolymarketPlayer implements Player {
  readonly #counters: VenueCounters
  readonly #tracks = new Tracks()
  readonly #map: PolymarketMap
  readonly #ledger: TradeLedger

  constructor(parts: VenueParts, drift: DriftRecorder) {
    const { emit, log, metrics } = parts
    this.#counters = new VenueCounters({ venue: 'a', log, metrics, drift })
    this.#map = new PolymarketMap({
      tracks: this.#tracks,
      emit,
      onRejected: (reason, track: MarketTrack | null) =>
        this.#counters.rejected(reason, track?.nativeId ?? ''),
      // A replay cannot request a new book.
      onBook: () => {},
      onLastTrade: () => {},
      onTick: () => {},
      onFees: () => {},
    })
    this.#ledger = new TradeLedger({ emit, onSuspicion: () => {} })
  }

  watch(markets: readonly WatchedMarket[]): void {
    for (const market of markets) this.#tracks.add(market)
  }

  unwatch(ids: readonly NativeMarketId[]): void {
    for (const id of ids) this.#tracks.remove(id)
  }

  cover(ids: readonly NativeMarketId[]): void {
    for (const id of ids) this.#tracks.cover(id)
  }

  uncover(ids: readonly NativeMarketId[]): void {
    for (const id of ids) this.#tracks.uncover(id)?.clear()
  }

  take(frame: RawFrame, stream: string): void {
    if (stream === 'trades') this.#takeActivity(frame)
    else this.#takeBooks(frame)
  }

  #takeBooks(frame: RawFrame): void {
    const parsed = parseFrame(frame.text)
    if (parsed.kind !== 'messages') return
    for (const message of parsed.messages) {
      if (message.kind === 'rejected') {
        this.#counters.rejected(message.reason, frame.text)
        continue
      }
      const result = this.#map.map(message, frame.receivedAtMs)
      if (result === 'mapped') this.#counters.mapped(message.kind)
      else if (result !== 'rejected') this.#counters.ignored(result)
    }
  }

  #takeActivity(frame: RawFrame): void {
    const parsed = parseActivity(frame.text)
    if (parsed.kind === 'rejected') return this.#counters.rejected(parsed.reason, frame.text)
    if (parsed.kind !== 'activity') return
    const { kind, row: wire } = parsed.message
    const row = readTrade(wire)
    if (typeof row === 'string') return this.#counters.rejected(row, frame.text)
    this.#counters.mapped(kind)
    if (kind === 'matched') this.#ledger.addMatched(row, frame.receivedAtMs)
    else this.#ledger.addParticipant(row, frame.receivedAtMs)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
