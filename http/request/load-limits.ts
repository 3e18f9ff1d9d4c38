// Limits in addition to the quotas of accounts: requests of one address per event-loop tick, events per time window,
// and open connections.

import type { Clock } from '../../engine/clock.ts'
import {
  addressRequestsPerTickMax,
  connectionsOfAddressMax,
  connectionsWindowMs,
} from '../../engine/limits.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'

/** Maximum names with a count of their own per window. All other names share one count. */
const NAMES_MAX = 10_000
const OTHERS = 'others'

/** Counts events by name, such as an account or an address, in consecutive time windows. The memory is bounded. */
export class WindowCounts {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #counts = new Map<string, number>()
  #startMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Counts an event. Returns the count of its name in this window. */
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

/** Only after this number of requests does the class detect the end of a tick. Half of the limit per address and tick. */
const UNWATCHED_COUNT = addressRequestsPerTickMax / 2

/**
 * Limits the requests of one address per tick. The library handles a pipelined segment of up to 512 KiB in one tick,
 * during which all other connections wait. It does not report the connection of a request. Clients that wait for each
 * answer send one request per connection and tick. `setImmediate` detects the end of a tick but keeps the event loop
 * from sleeping, so it is used only after some hundreds of requests.
 */
export class Bursts {
  /** Number of requests since the last detected end of a tick. */
  #count = 0
  readonly #ofAddress = new Map<string, number>()

  /** Whether the next request may be answered. Calls `readAddress` only after many requests. */
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

/** Fraction of the file descriptors that is reserved for venues, webhooks and databases. */
const RESERVE_SHARE = 1 / 8
const RESERVE_MIN = 64
/** Connections are crowded above this fraction of the maximum. */
const CROWDED_SHARE = 3 / 4

/** Maximum connections of a process with `descriptorsMax` file descriptors. */
export function connectionsMaxOf(descriptorsMax: number): number {
  if (descriptorsMax === Number.POSITIVE_INFINITY) return descriptorsMax
  const reserve = Math.max(RESERVE_MIN, Math.ceil(descriptorsMax * RESERVE_SHARE))
  return Math.max(1, descriptorsMax - reserve)
}

/**
 * Limits the number of open connections, so that file descriptors are left for venues, webhooks and databases. Without
 * free descriptors the library retries `accept` in a busy loop, and no webhook can be sent. While connections are
 * crowded, an address may open a limited number per window, and answers to unknown callers close their connections. The
 * window equals the idle timeout of the library.
 */
export class Connections {
  readonly #max: number
  readonly #refused: Count
  #openCount = 0
  /** Connections opened in the current window by address. */
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

  /**
   * Registers a new connection. Returns false if the caller must close it. `address` is null for a trusted proxy, which
   * connects for many clients.
   */
  opened(address: string | null): boolean {
    this.#openCount += 1
    const isOver = address !== null && this.#opened.add(address) > connectionsOfAddressMax
    const isAdmitted = this.#openCount <= this.#max && !(isOver && this.isCrowded)
    if (!isAdmitted) this.#refused.inc()
    return isAdmitted
  }

  /** Registers the close of a connection, even of one that was not admitted. */
  closed(): void {
    this.#openCount -= 1
  }
}
