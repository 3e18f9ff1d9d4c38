// The channel `candles`: the bar that a trade changed, at most once a second a market, and the bar
// that just ended, also when no further trade comes. The bars are the owner's, read when they are
// told, so that they equal those of the REST API. Told are the present bar and the one before it,
// which late trades still change; older ones are read from /candles. Not for: what a bar is
// (engine/market/candle.ts). Upholds CANDLES1 to CANDLES5.

import type { CatalogView, MarketView } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { Stamp, TradeUpdate } from '../../../engine/events.ts'
import { candleEveryMs } from '../../../engine/limits.ts'
import {
  BAR_MS,
  type Bar,
  barSizeOf,
  barStart,
  joined,
  lengthened,
} from '../../../engine/market/candle.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import { TIME_ZERO, type TimeMs, timeMs } from '../../../engine/units.ts'
import type { Encoder, Frame } from '../encode/encoder.ts'
import { Conflation } from '../fan-out/conflation.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import { CANDLE_LANES, type CandleLane } from '../fan-out/lanes.ts'
import type { Slices } from '../fan-out/slices.ts'

interface Parts {
  readonly catalog: CatalogView
  readonly clock: Clock
  readonly fanOut: FanOut
  readonly slices: Slices
}

/** Which bars of a market changed or ended, by where they start, and the times of the newest. */
interface BarNews {
  readonly starts: readonly TimeMs[]
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

/** All intervals. Offsets count the messages of all of them, seq those of a market in one. */
export class Candles {
  readonly #intervals: ReadonlyMap<CandleLane, Interval>
  readonly #parts: Parts
  #offset = 0

  constructor(parts: Parts) {
    this.#parts = parts
    const next = (): number => {
      this.#offset += 1
      return this.#offset
    }
    this.#intervals = new Map(
      CANDLE_LANES.map((facts) => [facts.lane, new Interval(facts, parts, next)]),
    )
  }

  /** A trade was stored, and is in its bars already. */
  noteTrade(update: TradeUpdate): void {
    for (const [lane, interval] of this.#intervals) {
      if (this.#parts.fanOut.isAwake(lane)) interval.noteTrade(update)
    }
  }

  /** Looks for bars that have ended; to be called about once in candleCloseCheckMs. */
  close(): void {
    for (const interval of this.#intervals.values()) interval.close()
  }

  /** A market's newest bar with its newest stamp; null when it never traded. */
  state(lane: CandleLane, view: MarketView, encoder: Encoder): Frame | null {
    return this.#intervals.get(lane)?.state(view, this.#offset, encoder) ?? null
  }

  latest(lane: CandleLane, market: MarketNumber): Stamp {
    return { offset: this.#offset, seq: this.#intervals.get(lane)?.seqOf(market) ?? 0 }
  }

  /** The newest offset of the channel. */
  get offset(): number {
    return this.#offset
  }

  forget(market: MarketNumber): void {
    for (const interval of this.#intervals.values()) interval.forget(market)
  }
}

/** One interval. */
class Interval {
  readonly #facts: (typeof CANDLE_LANES)[number]
  readonly #parts: Parts
  readonly #nextOffset: () => number
  readonly #windows: Conflation<BarNews>
  /** Bounded by the catalogue. */
  readonly #seqs = new Map<MarketNumber, number>()
  /** Bars that were told and have not ended: at most two a market, and none once they have. */
  readonly #open = new Map<MarketNumber, { market: MarketRef; starts: readonly TimeMs[] }>()
  #closedUntilMs = 0

  constructor(facts: (typeof CANDLE_LANES)[number], parts: Parts, nextOffset: () => number) {
    this.#facts = facts
    this.#parts = parts
    this.#nextOffset = nextOffset
    this.#windows = new Conflation<BarNews>({
      windowMs: candleEveryMs,
      isHeard: (market) => parts.fanOut.hasListeners(facts.lane, market),
      merge: (older, newer) => ({ ...newer, starts: united(older.starts, newer.starts) }),
      tell: (market, news) => this.#tell(market, news),
    })
  }

  noteTrade(update: TradeUpdate): void {
    const { lengthMs } = this.#facts
    const startMs = barStart(update.trade.timeMs, lengthMs)
    if (startMs < barStart(this.#parts.clock.nowMs(), lengthMs) - lengthMs) return
    const { market, venueTimeMs, receivedAtMs } = update
    this.#note(market, { starts: [startMs], venueTimeMs, receivedAtMs })
  }

  #note(market: MarketRef, news: BarNews): void {
    this.#windows.note(market, news, this.#parts.clock.monotonicMs())
    this.#parts.slices.plan(this.#windows)
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
      this.#note(market, { starts: ended, venueTimeMs, receivedAtMs: nowMs })
    }
  }

  state(view: MarketView, offset: number, encoder: Encoder): Frame | null {
    const newest = newestBar(view, this.#facts.lengthMs)
    if (newest === null) return null
    const nowMs = this.#parts.clock.nowMs()
    this.#watch(view.ref, newest.startMs, nowMs)
    const seq = this.seqOf(view.ref.number)
    const times = { venueTimeMs: newest.closeMs, receivedAtMs: newest.closeMs }
    const { interval, lengthMs } = this.#facts
    const stamp = { offset, seq, ...times }
    return encoder.candle({ market: view.ref, interval, lengthMs, bar: newest, nowMs, stamp })
  }

  seqOf(market: MarketNumber): number {
    return this.#seqs.get(market) ?? 0
  }

  forget(market: MarketNumber): void {
    this.#windows.forget(market)
    this.#seqs.delete(market)
    this.#open.delete(market)
  }

  #tell(market: MarketRef, { starts, venueTimeMs, receivedAtMs }: BarNews): void {
    const view = this.#parts.catalog.byNumber(market.number)
    if (view === null) return
    const { lane, interval, lengthMs } = this.#facts
    const nowMs = this.#parts.clock.nowMs()
    for (const startMs of starts) {
      const bar = barAt(view, startMs, lengthMs)
      if (bar === null) continue
      this.#watch(market, startMs, nowMs)
      const seq = this.seqOf(market.number) + 1
      this.#seqs.set(market.number, seq)
      const stamp = { offset: this.#nextOffset(), seq, venueTimeMs, receivedAtMs }
      this.#parts.fanOut.send(lane, market, 'state', (encoder) =>
        encoder.candle({ market, interval, lengthMs, bar, nowMs, stamp }),
      )
    }
  }

  /** A bar was told as open: its end must be told too. */
  #watch(market: MarketRef, startMs: TimeMs, nowMs: TimeMs): void {
    if (startMs + this.#facts.lengthMs <= nowMs) return
    const known = this.#open.get(market.number)?.starts ?? []
    if (!known.includes(startMs)) {
      this.#open.set(market.number, { market, starts: united(known, [startMs]) })
    }
  }
}

/** Ascending, each once. */
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
  const asked = { size, fromMs: TIME_ZERO, toMs: END_OF_TIME, order: 'desc', limit: 1 } as const
  const newest = view.bars(asked)[0]
  return newest === undefined ? null : barAt(view, barStart(newest.startMs, lengthMs), lengthMs)
}

/** Later than any trade: the year 2099. */
const END_OF_TIME = timeMs(4_102_444_800_000)
