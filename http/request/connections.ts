// How many connections are open. File descriptors beyond the bound are for venues, webhooks and the databases: without any left
// the library accepts in vain as fast as it can, and no webhook can be posted. While connections are crowded an address
// may open so many in the time after which the library ends an idle one, and connections end with answers to strangers.

import type { Clock } from '../../engine/clock.ts'
import { connectionsOfAddressMax, connectionsWindowMs } from '../../engine/limits.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'

/** Of the file descriptors, for everything else: an eighth, and at least so many. */
const RESERVE_SHARE = 1 / 8
const RESERVE_MIN = 64
/** Of the connections, how many are open when they count as crowded. */
const CROWDED_SHARE = 3 / 4
/** Addresses whose connections of this window are counted; more share one count. */
const ADDRESSES_MAX = 10_000
const OTHERS = 'others'

/** Connections for a process that may have so many file descriptors. */
export function connectionsMaxOf(descriptorsMax: number): number {
  if (descriptorsMax === Number.POSITIVE_INFINITY) return descriptorsMax
  const reserve = Math.max(RESERVE_MIN, Math.ceil(descriptorsMax * RESERVE_SHARE))
  return Math.max(1, descriptorsMax - reserve)
}

export class Connections {
  readonly #clock: Clock
  readonly #max: number
  readonly #refused: Count
  #openCount = 0
  /** Connections that each address opened in the present window. */
  readonly #opened = new Map<string, number>()
  #windowStartMs = Number.NEGATIVE_INFINITY

  /** `max`: connections open at once, streams included. */
  constructor(parts: { clock: Clock; metrics: Metrics; max: number }) {
    this.#clock = parts.clock
    this.#max = parts.max
    const help = 'Connections that were ended as they began, since too many were open.'
    this.#refused = parts.metrics.count('http_connections_refused_total', help)
    const openHelp = 'Open connections, streams included.'
    parts.metrics.gauge('http_connections', openHelp, () => this.#openCount)
  }

  /** Few more may be opened. */
  get isCrowded(): boolean {
    return this.#openCount > this.#max * CROWDED_SHARE
  }

  /** A connection began; false: end it. `address`: null for a proxy, which connects for many. */
  opened(address: string | null): boolean {
    this.#openCount += 1
    const isOver = address !== null && this.#count(address) > connectionsOfAddressMax
    const isAdmitted = this.#openCount <= this.#max && !(isOver && this.isCrowded)
    if (!isAdmitted) this.#refused.inc()
    return isAdmitted
  }

  /** One ended, also one that was not admitted. */
  closed(): void {
    this.#openCount -= 1
  }

  #count(address: string): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#windowStartMs >= connectionsWindowMs) {
      this.#windowStartMs = nowMs
      this.#opened.clear()
    }
    const isCounted = this.#opened.size < ADDRESSES_MAX || this.#opened.has(address)
    const name = isCounted ? address : OTHERS
    const count = (this.#opened.get(name) ?? 0) + 1
    this.#opened.set(name, count)
    return count
  }
}
