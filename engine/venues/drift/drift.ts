// Drift of a venue: unknown data, or missing expected data. Each venue has one bounded table, which is logged every
// hour.

import type { Clock, StopTimer } from '../../clock.ts'
import type { AnswerWatch } from '../../fetch.ts'
import type { VenueKey } from '../../ids.ts'
import type { Log } from '../../process/log.ts'
import type { Count, Metrics } from '../../process/metrics.ts'
import type { TimeMs } from '../../units.ts'
import { DriftProbes } from './probes.ts'
import { type DriftNotes, type DriftWeight, Shares } from './row-checks.ts'

export type { DriftNotes, DriftWeight }

export interface DriftEntry {
  /** The check that found the drift, such as `gamma.version`. A constant of the code. */
  readonly kind: string
  /** The unexpected value, truncated. 'other' if the table was full. */
  readonly name: string
  readonly weight: DriftWeight
  readonly firstMs: TimeMs
  readonly lastMs: TimeMs
  readonly count: number
  readonly sample: string
}

/** Maximum entries. Once the table is full, further names of a kind are counted as 'other'. */
const NAMES_MAX = 64
const NAME_CHARACTERS_MAX = 60
const SAMPLE_CHARACTERS_MAX = 200
const CONSECUTIVE_REFUSALS_MAX = 50
const PRINT_EVERY_MS = 3_600_000
const CHECK_SHARES_EVERY_MS = 30_000
/**
 * Matches a path segment that identifies one market, event or wallet: it has a capital letter, three consecutive
 * digits, two hyphens or 25 characters.
 */
const ID_SEGMENT = /[A-Z]|\d{3}|-.*-|^.{25,}$/

export type DriftRecorder = Pick<Drift, 'note' | 'shares'>

type TableEntry = { -readonly [Field in keyof DriftEntry]: DriftEntry[Field] } & {
  /** Null before the first occurrence, because the weight of the drift is a label. */
  counter: Count | null
}

export class Drift implements AnswerWatch, DriftNotes {
  readonly #parts: DriftParts
  readonly #entries = new Map<string, TableEntry>()
  readonly probes: DriftProbes
  readonly shares = new Shares()
  readonly #consecutiveRefusals = new Map<string, number>()
  #stopTimers: StopTimer[] = []

  constructor(parts: DriftParts) {
    this.#parts = parts
    this.probes = new DriftProbes(parts)
  }

  start(): void {
    if (this.#stopTimers.length > 0) return
    const { clock } = this.#parts
    this.#stopTimers = [
      clock.every(PRINT_EVERY_MS, () => this.print()),
      clock.every(CHECK_SHARES_EVERY_MS, () => this.checkShares()),
    ]
    this.probes.start()
  }

  stop(): void {
    for (const stop of this.#stopTimers) stop()
    this.#stopTimers = []
    this.probes.stop()
  }

  checkShares(): void {
    this.shares.report(this)
  }

  note(kind: string, name: unknown, sample: unknown = '', weight: DriftWeight = 'loss'): void {
    const entry = this.#entryOf(kind, printable(name, NAME_CHARACTERS_MAX))
    entry.count += 1
    entry.lastMs = this.#parts.clock.nowMs()
    if (entry.count === 1) {
      const { venue, metrics } = this.#parts
      const labels = { venue: venue.key, kind, name: entry.name, weight }
      entry.weight = weight
      entry.sample = printable(sample, SAMPLE_CHARACTERS_MAX)
      entry.counter = metrics.count('venue_drift_total', DRIFT_HELP, labels)
      this.#logEntry(entry)
    }
    entry.counter?.inc()
  }

  /** Records an unexpected status, HTML instead of JSON, or a header that announces the end of the endpoint. */
  odd(path: string, what: string, sample: string): void {
    const weight = what === 'sunset' || what === 'deprecation' ? 'notice' : 'loss'
    this.note('http', `${pathForm(path)} ${what}`, sample, weight)
  }

  /** Counts consecutive refusals, such as 404. A path that refuses every request may have been removed. */
  expected(path: string, isRefused: boolean): void {
    const form = pathForm(path)
    const refusals = this.#consecutiveRefusals.get(form)
    if (refusals === undefined && this.#consecutiveRefusals.size >= NAMES_MAX) return
    const count = isRefused ? (refusals ?? 0) + 1 : 0
    this.#consecutiveRefusals.set(form, count)
    if (count !== CONSECUTIVE_REFUSALS_MAX) return
    this.note('http', `${form} refuses everything`, `${count} times in a row`, 'notice')
  }

  entries(): readonly DriftEntry[] {
    return [...this.#entries.values()].map(({ counter: _counter, ...entry }) => entry)
  }

  print(): void {
    for (const entry of this.#entries.values()) this.#logEntry(entry)
    if (this.#entries.size === 0) this.#parts.log.info(`drift ${this.#parts.venue.name}: none`)
  }

  #entryOf(kind: string, name: string): TableEntry {
    const key = `${kind}=${name}`
    const existing = this.#entries.get(key)
    if (existing !== undefined) return existing
    // Kinds are a fixed set, so one 'other' entry per kind keeps the table bounded.
    if (this.#entries.size >= NAMES_MAX && name !== OTHER) return this.#entryOf(kind, OTHER)
    const nowMs = this.#parts.clock.nowMs()
    const times = { firstMs: nowMs, lastMs: nowMs, count: 0 }
    const created: TableEntry = { kind, name, weight: 'loss', ...times, sample: '', counter: null }
    this.#entries.set(key, created)
    return created
  }

  #logEntry(entry: DriftEntry): void {
    const line = driftLine(this.#parts.venue.name, entry)
    if (entry.weight === 'loss') this.#parts.log.warn(line)
    else this.#parts.log.info(line)
  }
}

export interface DriftParts {
  readonly venue: { readonly key: VenueKey; readonly name: string }
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

const OTHER = 'other'
const DRIFT_HELP = 'Findings that the code of a venue does not know, by kind and name.'

/** Formats one entry, for example: `drift venue_a gamma.version=v3 first=12:03:11 count=2 sample="…"`. */
export function driftLine(venue: string, entry: DriftEntry): string {
  const { kind, name, weight, firstMs, count, sample } = entry
  const first = new Date(firstMs).toISOString().slice(11, 19)
  const weightText = weight === 'notice' ? ' notice' : ''
  return `drift ${venue} ${kind}=${name}${weightText} first=${first} count=${count} sample=${JSON.stringify(sample)}`
}

function printable(value: unknown, charactersMax: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.slice(0, charactersMax).replace(/\p{C}+/gu, ' ')
}

function pathForm(path: string): string {
  return path.replace(/[^/]+/g, (part) => (ID_SEGMENT.test(part) ? ':id' : part))
}
