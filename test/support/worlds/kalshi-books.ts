// Reference implementation of Kalshi books: two maps of bids per market, for Yes and No. It does not use our parsers.

import type { Level } from '../../../engine/events.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import type { KalshiBody } from './recordings.ts'

const micros = (text: string): number => Math.round(Number(text) * 1e6)

interface Bids {
  readonly yes: Map<number, number>
  readonly no: Map<number, number>
}

export class KalshiBooks {
  readonly #books = new Map<string, Bids>()
  negativeCount = 0

  has(ticker: string): boolean {
    return this.#books.has(ticker)
  }

  take({ type, msg }: KalshiBody): void {
    const ticker = msg.market_ticker ?? ''
    if (type === 'orderbook_snapshot') {
      const levels = (rows: readonly (readonly [string, string])[] = []) =>
        new Map(rows.map(([price, count]) => [micros(price), micros(count)]))
      this.#books.set(ticker, { yes: levels(msg.yes_dollars_fp), no: levels(msg.no_dollars_fp) })
    } else if (type === 'orderbook_delta') {
      const side = this.#books.get(ticker)?.[msg.side ?? 'yes']
      if (side === undefined) throw new Error(`a delta before the snapshot of ${ticker}`)
      const price = micros(msg.price_dollars ?? '')
      const count = (side.get(price) ?? 0) + micros(msg.delta_fp ?? '')
      if (count < 0) this.negativeCount += 1
      if (count > 0) side.set(price, count)
      else side.delete(price)
    }
  }

  /** A bid of p for No is an ask of 1 − p for Yes. */
  quotedForYes(ticker: string): { bids: Level[]; asks: Level[] } {
    const { yes, no } = this.#books.get(ticker) ?? { yes: new Map(), no: new Map() }
    const levels = (side: Map<number, number>, priceOf: (price: number) => number): Level[] =>
      [...side].map(([price, count]) => ({
        price: priceMicros(priceOf(price)),
        size: sizeMicros(count),
      }))
    return {
      bids: levels(yes, (price) => price),
      asks: levels(no, (price) => 1_000_000 - price),
    }
  }

  isCrossed(ticker: string): boolean {
    const { yes, no } = this.#books.get(ticker) ?? { yes: new Map(), no: new Map() }
    return Math.max(...yes.keys()) + Math.max(...no.keys()) >= 1_000_000
  }

  /** The venue's response to `get_snapshot`. */
  snapshotFrame(ticker: string, { sid, seq }: { sid: number; seq: number }): string {
    const { yes, no } = this.#books.get(ticker) ?? { yes: new Map(), no: new Map() }
    const rows = (side: Map<number, number>) =>
      [...side].map(([price, count]) => [(price / 1e6).toFixed(4), (count / 1e6).toFixed(2)])
    return JSON.stringify({
      type: 'orderbook_snapshot',
      sid,
      seq,
      msg: { market_ticker: ticker, yes_dollars_fp: rows(yes), no_dollars_fp: rows(no) },
    })
  }
}
