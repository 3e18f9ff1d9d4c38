// Limits in addition to the quotas of accounts: requests of one address per event-loop tick, events per time window,
// and open connections.

import type { Clock } from '../../engine/clock.ts'
import {
  addressRequestsPerTickMax,
  connectionsOfAddressMax,
  connectionsWindowMs,
} from '../../engine/limits.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'

/** Maximum names with their own count per window. Further names share one count. */
const NAMES_MAX = 10_000
const OTHERS = 'others'

/** Counts events by name, such as an account or an address, in consecutive time windows. */
export class WindowCounts {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #counts = new Map<string, number>()
  #startMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Returns the number of events with this name in the current window. */
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

/** After this many requests, the class starts to watch for the end of the tick. */
const UNWATCHED_COUNT = addressRequestsPerTickMax / 2

/**
 * Limits the requests of one address per tick. The library handles a pipelined segment of up to 512 KiB in one tick.
 * `setImmediate` detects the end of a tick. It keeps the event loop from sleeping, so it is used only after some
 * hundreds of requests.
 */
export class Bursts {
  #count = 0
  readonly #ofAddress = new Map<string, number>()

  /** Returns true if the request may be answered. Calls `readAddress` only after many requests. */
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

export function connectionsMaxOf(descriptorsMax: number): number {
  if (descriptorsMax === Number.POSITIVE_INFINITY) return descriptorsMax
  const reserve = Math.max(RESERVE_MIN, Math.ceil(descriptorsMax * RESERVE_SHARE))
  return Math.max(1, descriptorsMax - reserve)
}

/**
 * Limits open connections, because without free file descriptors the library retries `accept` in a busy loop. While
 * connections are crowded, an address may open a limited number per window. The window equals the idle timeout of the
 * library.
 */
export class Connections {
  readonly #max: number
  readonly #refused: Count
  #openCount = 0
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
   * Returns false if the caller must close the new connection. `address` is null for a trusted proxy, which connects
   * for many clients.
   */
  opened(address: string | null): boolean {
    this.#openCount += 1
    const isOver = address !== null && this.#opened.add(address) > connectionsOfAddressMax
    const isAdmitted = this.#openCount <= this.#max && !(isOver && this.isCrowded)
    if (!isAdmitted) this.#refused.inc()
    return isAdmitted
  }

  /** Also called for connections that were not admitted. */
  closed(): void {
    this.#openCount -= 1
  }
}
