// The channel `candles`: sends a changed bar at most once per second and market, and every bar when it ends. Only the
// current and the previous bar are sent. Older bars are available at /candles.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../../actors/views.ts'
import type { StopTimer } from '../../../engine/clock.ts'
import type { Stamp, TradeUpdate, Update } from '../../../engine/events.ts'
import { candleCloseCheckMs, candleEveryMs } from '../../../engine/limits.ts'
import {
  BAR_MS,
  type Bar,
  barSizeOf,
  barStart,
  CANDLE_MS,
  type CandleInterval,
  joined,
  lengthened,
} from '../../../engine/market/candle.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { TIME_ZERO, type TimeMs, timeMs } from '../../../engine/units.ts'
import { candleText } from '../../records/render.ts'
import { CandleSchema, choice, nullable } from '../../schemas.ts'
import { type Encoder, type Frame, MessageKind } from '../encode/encoder.ts'
import { writeCandle } from '../encode/msgpack-records.ts'
import { type ChannelVariant, variantOf } from '../fan-out/channel-variants.ts'
import { Conflation } from '../fan-out/conflation.ts'
import { counted } from '../messages.ts'
import type { Channel, ChannelParts, OpenChannel } from './channel.ts'

const NAME = 'candles'

export const INTERVALS: readonly CandleInterval[] = ['1m', '5m', '15m', '1h', '4h', '1d']
const VARIANTS = INTERVALS.map((interval) => {
  const lengthMs = CANDLE_MS[interval]
  return { ...variantOf(NAME, { interval }), lengthMs, kind: candleKind(interval, lengthMs) }
})

/** `bar` is closed if its end is at or before `nowMs`. */
interface Candle {
  readonly bar: Bar
  readonly nowMs: TimeMs
}

export function candleKind(interval: CandleInterval, lengthMs: number): MessageKind<Candle> {
  return new MessageKind<Candle>('candle', NAME, {
    json: ({ bar, nowMs }) =>
      `"data":{"interval":"${interval}",${candleText(bar, lengthMs, nowMs).slice(1)}`,
    count: () => 1,
    msgpack(to, { bar, nowMs }) {
      to.text('data')
      writeCandle(to, bar, { interval, lengthMs, nowMs })
    },
  })
}

/** Sent for a market that has no bars. */
const NO_CANDLE = new MessageKind<null>('candle', NAME, {
  json: () => '"data":null',
  count: () => 1,
  msgpack(to) {
    to.text('data')
    to.nil()
  },
})

const StreamCandleSchema = Type.Object({
  interval: choice(INTERVALS),
  ...CandleSchema.properties,
})

export const candles: Channel = {
  name: NAME,
  delivery: 'perSecond',
  hasState: true,
  options: {
    interval: {
      allowed: INTERVALS,
      default: '1m',
      // The REST API also accepts an interval in minutes.
      synonyms: new Map(INTERVALS.map((interval) => [CANDLE_MS[interval] / 60_000, interval])),
    },
  },
  variants: VARIANTS,
  updateKinds: ['trade'],
  messages: {
    candle: counted('candle', NAME, {
      summary: 'The bar that just changed or closed',
      fields: { data: nullable(StreamCandleSchema) },
      example: {
        data: {
          interval: '1m',
          timestamp_ms: 1_763_700_000_000,
          end_period_ts: 1_763_700_060,
          open: 0.42,
          high: 0.44,
          low: 0.42,
          close: 0.43,
          volume: 310.5,
          trades_count: 7,
          vwap: 0.43,
          closed: false,
        },
      },
    }),
  },
  shapes: { StreamCandleSchema },
  row: {
    messages:
      '`candle`: `interval` and the candle of the REST API; after a `resync`, `data` is null for a market without a candle',
    when: 'at most once a second for each market, and when the bar ends',
    begins: 'newest bar',
  },
  open: (parts) => new Candles(parts),
}

/** Start times of a market's changed or ended bars, with the times of the newest change. */
interface BarChanges {
  readonly starts: readonly TimeMs[]
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

/** `offset` counts the messages of all intervals. `seq` counts the messages of one market in one interval. */
class Candles implements OpenChannel {
  readonly #intervals: ReadonlyMap<ChannelVariant, Interval>
  readonly #parts: ChannelParts
  readonly stop: StopTimer
  #offset = 0

  constructor(parts: ChannelParts) {
    this.#parts = parts
    const next = (): number => {
      this.#offset += 1
      return this.#offset
    }
    this.#intervals = new Map(
      VARIANTS.map((facts) => [facts.variant, new Interval(facts, parts, next)]),
    )
    this.stop = parts.clock.every(candleCloseCheckMs, () => {
      for (const interval of this.#intervals.values()) interval.close()
    })
  }

  onUpdate(update: Update): void {
    if (update.kind !== 'trade' || update.trade.isBlock) return
    for (const [variant, interval] of this.#intervals) {
      if (this.#parts.fanOut.isActive(variant)) interval.noteTrade(update)
    }
  }

  /** A market's newest bar with the latest `offset` and `seq`. Null if the market never traded. */
  state(variant: ChannelVariant, view: MarketView, encoder: Encoder): Frame | null {
    return this.#intervals.get(variant)?.state(view, this.#offset, encoder) ?? null
  }

  emptyState(variant: ChannelVariant, { ref }: MarketView, encoder: Encoder): Frame {
    const times = { venueTimeMs: null, receivedAtMs: null }
    return encoder.message(NO_CANDLE, ref, { ...this.latest(variant, ref.number), ...times }, null)
  }

  arrival(view: MarketView): Promise<void> | null {
    return view.barsArrival?.() ?? null
  }

  latest(variant: ChannelVariant, market: MarketNumber): Stamp {
    return { offset: this.#offset, seq: this.#intervals.get(variant)?.seqOf(market) ?? 0 }
  }

  removeMarket(market: MarketNumber): void {
    for (const interval of this.#intervals.values()) interval.removeMarket(market)
  }
}

class Interval {
  readonly #facts: (typeof VARIANTS)[number]
  readonly #parts: ChannelParts
  readonly #nextOffset: () => number
  readonly #windows: Conflation<BarChanges>
  /** Latest `seq` by market. The catalogue bounds the number of entries. */
  readonly #seqs = new Map<MarketNumber, number>()
  /** Bars that were sent before their end: at most two per market. */
  readonly #open = new Map<MarketNumber, { market: MarketRef; starts: readonly TimeMs[] }>()
  /** Gateway only: changed bars whose market's bars have not arrived from the engine yet. */
  readonly #awaited = new Map<MarketNumber, BarChanges>()
  #closedUntilMs = 0

  constructor(facts: (typeof VARIANTS)[number], parts: ChannelParts, nextOffset: () => number) {
    this.#facts = facts
    this.#parts = parts
    this.#nextOffset = nextOffset
    this.#windows = new Conflation<BarChanges>(parts.scheduler, {
      windowMs: candleEveryMs,
      hasSubscribers: (market) => parts.fanOut.hasSubscribers(facts.variant, market),
      merge: merged,
      send: (market, changes) => this.#send(market, changes),
    })
  }

  noteTrade(update: TradeUpdate): void {
    const { lengthMs } = this.#facts
    const startMs = barStart(update.trade.timeMs, lengthMs)
    if (startMs < barStart(this.#parts.clock.nowMs(), lengthMs) - lengthMs) return
    const { market, venueTimeMs, receivedAtMs } = update
    this.#windows.note(market, { starts: [startMs], venueTimeMs, receivedAtMs })
  }

  close(): void {
    const { clock } = this.#parts
    const nowMs = clock.nowMs()
    const untilMs = barStart(nowMs, this.#facts.lengthMs)
    if (untilMs === this.#closedUntilMs) return
    this.#closedUntilMs = untilMs
    for (const [number, { market, starts }] of this.#open) {
      const ended = starts.filter((startMs) => startMs < untilMs)
      if (ended.length === 0) continue
      const left = starts.filter((startMs) => startMs >= untilMs)
      if (left.length === 0) this.#open.delete(number)
      else this.#open.set(number, { market, starts: left })
      const last = ended[ended.length - 1] ?? untilMs
      const venueTimeMs = timeMs(last + this.#facts.lengthMs)
      this.#windows.note(market, { starts: ended, venueTimeMs, receivedAtMs: nowMs })
    }
  }

  state(view: MarketView, offset: number, encoder: Encoder): Frame | null {
    const newest = newestBar(view, this.#facts.lengthMs)
    if (newest === null) return null
    const nowMs = this.#parts.clock.nowMs()
    this.#watch(view.ref, newest.startMs, nowMs)
    const seq = this.seqOf(view.ref.number)
    const times = { venueTimeMs: newest.closeMs, receivedAtMs: newest.closeMs }
    const stamp = { offset, seq, ...times }
    return encoder.message(this.#facts.kind, view.ref, stamp, { bar: newest, nowMs })
  }

  seqOf(market: MarketNumber): number {
    return this.#seqs.get(market) ?? 0
  }

  removeMarket(market: MarketNumber): void {
    this.#windows.removeMarket(market)
    this.#seqs.delete(market)
    this.#open.delete(market)
    this.#awaited.delete(market)
  }

  #send(market: MarketRef, changes: BarChanges): void {
    const view = this.#parts.engine.catalog.byNumber(market.number)
    if (view === null) return
    // Gateway only: the market's bars may not have arrived from the engine yet.
    const arrival = view.barsArrival?.() ?? null
    if (arrival !== null) {
      const awaited = this.#awaited.get(market.number)
      this.#awaited.set(market.number, awaited === undefined ? changes : merged(awaited, changes))
      if (awaited === undefined) void arrival.then(() => this.#noteAwaited(market))
      return
    }
    const { starts, venueTimeMs, receivedAtMs } = changes
    const { variant, kind, lengthMs } = this.#facts
    const nowMs = this.#parts.clock.nowMs()
    for (const startMs of starts) {
      const bar = barAt(view, startMs, lengthMs)
      if (bar === null) continue
      this.#watch(market, startMs, nowMs)
      const seq = this.seqOf(market.number) + 1
      this.#seqs.set(market.number, seq)
      const stamp = { offset: this.#nextOffset(), seq, venueTimeMs, receivedAtMs }
      this.#parts.fanOut.send(variant, market, 'state', (encoder) =>
        encoder.message(kind, market, stamp, { bar, nowMs }),
      )
    }
  }

  #noteAwaited(market: MarketRef): void {
    const changes = this.#awaited.get(market.number)
    this.#awaited.delete(market.number)
    if (changes !== undefined) this.#windows.note(market, changes)
  }

  #watch(market: MarketRef, startMs: TimeMs, nowMs: TimeMs): void {
    if (startMs + this.#facts.lengthMs <= nowMs) return
    const openStarts = this.#open.get(market.number)?.starts ?? []
    if (!openStarts.includes(startMs)) {
      this.#open.set(market.number, { market, starts: united(openStarts, [startMs]) })
    }
  }
}

const merged = (older: BarChanges, newer: BarChanges): BarChanges => ({
  ...newer,
  starts: united(older.starts, newer.starts),
})

function united(one: readonly TimeMs[], other: readonly TimeMs[]): readonly TimeMs[] {
  if (one.length === 1 && other.length === 1 && one[0] === other[0]) return one
  return [...new Set([...one, ...other])].sort((first, second) => first - second)
}

function barAt(view: MarketView, startMs: TimeMs, lengthMs: number): Bar | null {
  const size = barSizeOf(lengthMs)
  const limit = lengthMs / BAR_MS[size]
  const toMs = timeMs(startMs + lengthMs - BAR_MS[size])
  const bars = view.bars({ size, fromMs: startMs, toMs, order: 'asc', limit })
  const [first, ...rest] = bars
  return first === undefined ? null : rest.reduce(joined, lengthened(first, lengthMs))
}

function newestBar(view: MarketView, lengthMs: number): Bar | null {
  const size = barSizeOf(lengthMs)
  const query = { size, fromMs: TIME_ZERO, toMs: END_OF_TIME, order: 'desc', limit: 1 } as const
  const newest = view.bars(query)[0]
  return newest === undefined ? null : barAt(view, barStart(newest.startMs, lengthMs), lengthMs)
}

/** The year 2099: later than any trade. */
const END_OF_TIME = timeMs(4_102_444_800_000)
