// Bounds the number of open connections. The remaining file descriptors are for venues, webhooks and databases: without
// free ones the library retries accept in a busy loop and no webhook can be sent. While connections are crowded, an
// address may open a limited number per window, and answers to unknown callers end their connections. The window is the
// time after which the library ends an idle connection.

import type { Clock } from '../../engine/clock.ts'
import { connectionsOfAddressMax, connectionsWindowMs } from '../../engine/limits.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import { WindowCounts } from './window-counts.ts'

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
