// Limits beside the quotas of accounts: requests of one address per event-loop tick, refusals per second, and open
// connections.

import type { Clock } from '../../engine/clock.ts'
import {
  addressRequestsPerTickMax,
  connectionsOfAddressMax,
  connectionsWindowMs,
} from '../../engine/limits.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'

/** Maximum names counted separately per window; all others share one count. */
const NAMES_MAX = 10_000
const OTHERS = 'others'

/** Counts events by name, such as an account or an address, in consecutive windows. Bounded. */
export class WindowCounts {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #counts = new Map<string, number>()
  #startMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Counts an event and returns the count of its name in this window. */
  add(name: string): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#startMs >= this.#windowMs) {
      this.#startMs = nowMs
      this.#counts.clear()
    }
    const isSeparate = this.#counts.size < NAMES_MAX || this.#counts.has(name)
    const counted = isSeparate ? name : OTHERS
    const count = (this.#counts.get(counted) ?? 0) + 1
    this.#counts.set(counted, count)
    return count
  }
}

/** Number of requests before the end of the tick is detected; fewer than the limit per address and tick. */
const UNWATCHED_COUNT = addressRequestsPerTickMax / 2

/**
 * Limits the requests of one address per tick. The library handles a pipelined segment of up to 512 KiB in one tick,
 * during which all other connections wait, and it does not report the connection of a request. Clients that wait for
 * each answer send one request per connection and tick. The end of a tick is detected by `setImmediate`, which keeps
 * the loop from sleeping for a tick, so it is used only after some hundreds of requests.
 */
export class Bursts {
  /** Requests of this tick while it is watched; otherwise of all ticks since the last watched one. */
  #count = 0
  readonly #ofAddress = new Map<string, number>()

  /** Whether the next request may be answered. `readAddress` is called only in a busy tick. */
  admits(readAddress: () => string): boolean {
    this.#count += 1
    if (this.#count <= UNWATCHED_COUNT) return true
    if (this.#ofAddress.size === 0) {
      setImmediate(() => {
        this.#count = 0
        this.#ofAddress.clear()
      })
    }
    const address = readAddress()
    const count = (this.#ofAddress.get(address) ?? 0) + 1
    this.#ofAddress.set(address, count)
    return count <= addressRequestsPerTickMax - UNWATCHED_COUNT
  }
}

/** File descriptors reserved for everything else: this share, and at least a fixed number. */
const RESERVE_SHARE = 1 / 8
const RESERVE_MIN = 64
/** Share of open connections from which connections count as crowded. */
const CROWDED_SHARE = 3 / 4

/** Maximum connections of a process that may have `descriptorsMax` file descriptors. */
export function connectionsMaxOf(descriptorsMax: number): number {
  if (descriptorsMax === Number.POSITIVE_INFINITY) return descriptorsMax
  const reserve = Math.max(RESERVE_MIN, Math.ceil(descriptorsMax * RESERVE_SHARE))
  return Math.max(1, descriptorsMax - reserve)
}

/**
 * Bounds the number of open connections. The remaining file descriptors are for venues, webhooks and databases: without
 * free ones the library retries accept in a busy loop and no webhook can be sent. While connections are crowded, an
 * address may open a limited number per window, and answers to unknown callers end their connections. The window is the
 * time after which the library ends an idle connection.
 */
export class Connections {
  readonly #max: number
  readonly #refused: Count
  #openCount = 0
  /** Connections opened per address. */
  readonly #opened: WindowCounts

  /** `max`: maximum open connections, including streams. */
  constructor(parts: { clock: Clock; metrics: Metrics; max: number }) {
    this.#opened = new WindowCounts(parts.clock, connectionsWindowMs)
    this.#max = parts.max
    const help = 'Connections that were ended as they began, since too many were open.'
    this.#refused = parts.metrics.count('http_connections_refused_total', help)
    const openHelp = 'Open connections, streams included.'
    parts.metrics.gauge('http_connections', openHelp, () => this.#openCount)
  }

  get isCrowded(): boolean {
    return this.#openCount > this.#max * CROWDED_SHARE
  }

  /** Registers a new connection; false: close it. `address` is null for a proxy, which connects for many clients. */
  opened(address: string | null): boolean {
    this.#openCount += 1
    const isOver = address !== null && this.#opened.add(address) > connectionsOfAddressMax
    const isAdmitted = this.#openCount <= this.#max && !(isOver && this.isCrowded)
    if (!isAdmitted) this.#refused.inc()
    return isAdmitted
  }

  /** Registers a closed connection, including one that was not admitted. */
  closed(): void {
    this.#openCount -= 1
  }
}
