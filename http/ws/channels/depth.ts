// The conflated lanes of a market's state: `depth`, the best levels whole, and `prices` at most once
// a window. A message carries seq and offset of the newest change that it includes.
// Not for: windows (conflation.ts), candles (candles.ts). Upholds DEPTH1 to DEPTH3, PRICES1.

import type { CatalogView } from '../../../actors/views.ts'
import type { BookLate, BookReplaced, BookUpdate, PriceUpdate } from '../../../engine/events.ts'
import type { MarketNumber, MarketRef } from '../../../engine/market/market.ts'
import type { ResyncReason } from '../encode/encoder.ts'
import { Conflation } from '../fan-out/conflation.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import { DEPTH_LANES, type Lane, PRICE_LANES } from '../fan-out/lanes.ts'
import type { Slices } from '../fan-out/slices.ts'

/** What must be known of the parts that conflate. */
interface Parts {
  readonly catalog: CatalogView
  readonly fanOut: FanOut
  readonly slices: Slices
}

/** The newest change of a book, and why the state before it was out of sync, if it was. */
interface BookNews {
  readonly update: BookUpdate | BookReplaced | BookLate
  readonly reason: ResyncReason | null
}

type DepthFacts = (typeof DEPTH_LANES)[number]

/** Every lane that conflates books or prices. */
export class ConflatedStates {
  readonly #parts: Parts
  readonly #depths: readonly { readonly lane: Lane; readonly windows: Conflation<BookNews> }[]
  readonly #prices: readonly { readonly lane: Lane; readonly windows: Conflation<PriceUpdate> }[]

  constructor(parts: Parts) {
    this.#parts = parts
    this.#depths = DEPTH_LANES.map((facts) => ({
      lane: facts.lane,
      windows: new Conflation<BookNews>({
        windowMs: facts.conflateMs,
        isHeard: (market) => parts.fanOut.hasListeners(facts.lane, market),
        // A state that was out of sync stays so until the message that replaces it.
        merge: (older, newer) =>
          older.reason === null || newer.reason !== null
            ? newer
            : { update: newer.update, reason: older.reason },
        tell: (market, news) => this.#tellDepth(facts, market, news),
      }),
    }))
    this.#prices = PRICE_LANES.filter(({ conflateMs }) => conflateMs > 0).map((facts) => ({
      lane: facts.lane,
      windows: new Conflation<PriceUpdate>({
        windowMs: facts.conflateMs,
        isHeard: (market) => parts.fanOut.hasListeners(facts.lane, market),
        merge: (_older, newer) => newer,
        tell: (market, update) =>
          parts.fanOut.send(facts.lane, market, 'state', (encoder) => encoder.priceUpdate(update)),
      }),
    }))
  }

  /** A book changed; `reason`: it was replaced, and what was told before it is out of sync. */
  noteBook(update: BookNews['update'], reason: ResyncReason | null, nowMs: number): void {
    for (const { lane, windows } of this.#depths) {
      if (!this.#parts.fanOut.isAwake(lane)) continue
      windows.note(update.market, { update, reason }, nowMs)
      this.#parts.slices.plan(windows)
    }
  }

  notePrice(update: PriceUpdate, nowMs: number): void {
    for (const { lane, windows } of this.#prices) {
      if (!this.#parts.fanOut.isAwake(lane)) continue
      windows.note(update.market, update, nowMs)
      this.#parts.slices.plan(windows)
    }
  }

  forget(market: MarketNumber): void {
    for (const { windows } of this.#depths) windows.forget(market)
    for (const { windows } of this.#prices) windows.forget(market)
  }

  #tellDepth({ lane, levels }: DepthFacts, market: MarketRef, { update, reason }: BookNews): void {
    const view = this.#parts.catalog.byNumber(market.number)
    if (view === null) return
    const book = view.book(levels)
    this.#parts.fanOut.send(lane, market, 'state', (encoder) => {
      const depth = encoder.depth({ market, levels, book, stamp: update })
      return reason === null ? depth : [encoder.resync('depth', market, reason), depth]
    })
  }
}
