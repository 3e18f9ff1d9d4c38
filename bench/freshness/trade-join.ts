// Joins the trades of a venue with those of an aggregator, as public monitors of aggregators do: by market, price, size
// and bucket of five seconds.

import type { Histogram } from 'hdr-histogram-js'
import { newTimes, record } from '../latency-recorder.ts'

const BUCKET_MS = 5_000

/** Price and size are in millionths. */
export interface SeenTrade {
  readonly market: string
  /** Price of the market's first outcome. */
  readonly price: number
  readonly size: number
  readonly timeMs: number
}

type TradeSource = 'venue' | 'ours'

interface Sighting {
  readonly atMs: number
  readonly isCounted: boolean
}

export class TradeJoin {
  /** Trades that only one source has shown so far. Equal trades are joined in the order of their arrival. */
  readonly #single: Readonly<Record<TradeSource, Map<string, Sighting[]>>> = {
    venue: new Map(),
    ours: new Map(),
  }
  #isCounting = false
  #beganAtMs = 0
  venueCount = 0
  matchedCount = 0
  /** From the arrival of the venue's message to that of ours. Zero if ours was first. */
  readonly times: Histogram = newTimes()

  /** Trades count if the venue shows them between `begin` and `end`. `nowMs`: epoch milliseconds. */
  begin(nowMs: number): void {
    this.#isCounting = true
    this.#beganAtMs = nowMs
  }

  end(): void {
    this.#isCounting = false
  }

  /** Keys of our trades between `begin` and `end` that the venue has not shown. Excludes trades older than `begin`. */
  get unknown(): readonly string[] {
    return [...this.#single.ours].flatMap(([key, sightings]) =>
      sightings.some(({ isCounted }) => isCounted) ? [key] : [],
    )
  }

  take(source: TradeSource, { market, price, size, timeMs }: SeenTrade, atMs: number): void {
    const key = `${market} ${price} ${size} ${Math.floor(timeMs / BUCKET_MS)}`
    const isCounted = this.#isCounting && (source === 'venue' || timeMs >= this.#beganAtMs)
    const sighting = { atMs, isCounted }
    if (source === 'venue' && sighting.isCounted) this.venueCount += 1
    const others = this.#single[source === 'venue' ? 'ours' : 'venue']
    const waiting = others.get(key)
    const other = waiting?.shift()
    if (waiting?.length === 0) others.delete(key)
    if (other === undefined) {
      const own = this.#single[source]
      own.set(key, [...(own.get(key) ?? []), sighting])
      return
    }
    const [venue, ours] = source === 'venue' ? [sighting, other] : [other, sighting]
    if (!venue.isCounted) return
    this.matchedCount += 1
    record(this.times, ours.atMs - venue.atMs)
  }
}
