// What a venue sends or answers that the code does not know, or no longer gets: one bounded table a venue, so that a change
// which no release foresaw has a name on its first day. Each finding is logged at first sight, the whole table every
// hour, and with a line of its own when it is empty: silence is not health. /health, the metric
// `venue_drift_total` and `npm run drift` read it.

import type { Clock, StopTimer } from '../../clock.ts'
import type { AnswerWatch } from '../../fetch.ts'
import type { VenueKey } from '../../ids.ts'
import type { Log } from '../../process/log.ts'
import type { Count, Metrics } from '../../process/metrics.ts'
import type { TimeMs } from '../../units.ts'
import type { DriftNotes, DriftWeight } from './drift-notes.ts'
import { DriftProbes } from './probes.ts'
import { Shares } from './row-checks.ts'

export type { DriftNotes, DriftWeight }

/** One kind of finding under one name. */
export interface DriftEntry {
  /** What was looked at, as `gamma.version`: dotted words of the code. */
  readonly kind: string
  /** What was found there: a word of the venue's, cut; 'other' once the table is full. */
  readonly name: string
  readonly weight: DriftWeight
  readonly firstMs: TimeMs
  readonly lastMs: TimeMs
  readonly count: number
  /** The first finding's text, cut. */
  readonly sample: string
}

/** Beyond so many names further ones count as 'other' of their kind. */
const NAMES_MAX = 64
const NAME_CHARACTERS_MAX = 60
const SAMPLE_CHARACTERS_MAX = 200
const CONSECUTIVE_REFUSALS_MAX = 50
const PRINT_EVERY_MS = 3_600_000
const CHECK_SHARES_EVERY_MS = 30_000
/**
 * A segment of a path that names one market, event or wallet: it has a capital letter (a ticker), three digits in a row
 * (an id), two hyphens (a slug) or 25 characters. The venues' own words have none of these.
 */
const ID_SEGMENT = /[A-Z]|\d{3}|-.*-|^.{25,}$/

/** What a venue's counters need of the table (tally.ts): findings, and the shares of what is read and refused. */
export type DriftRecorder = Pick<Drift, 'note' | 'shares'>

type TableEntry = { -readonly [Field in keyof DriftEntry]: DriftEntry[Field] } & {
  /** Null before the first finding, which decides the weight. */
  counter: Count | null
}

/** The findings of one venue. */
export class Drift implements AnswerWatch, DriftNotes {
  readonly #parts: DriftParts
  readonly #entries = new Map<string, TableEntry>()
  /** What the venue is asked only for this table. */
  readonly probes: DriftProbes
  /** What is read and refused; judged every half minute. */
  readonly shares = new Shares()
  /** Expected refusals since the last other answer, by form of path. */
  readonly #consecutiveRefusals = new Map<string, number>()
  #stopTimers: StopTimer[] = []

  constructor(parts: DriftParts) {
    this.#parts = parts
    this.probes = new DriftProbes(parts)
  }

  /** Asks the venue its questions (probes.ts), judges shares and prints the table every hour, until `stop`. */
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

  /** Judges what was read and refused since the last time. */
  checkShares(): void {
    this.shares.report(this)
  }

  /** Notes a finding. `kind` is a fixed word of the code, `name` may be any text of the venue's. */
  note(kind: string, name: unknown, sample: unknown = '', weight: DriftWeight = 'loss'): void {
    const entry = this.#entryOf(kind, printable(name, NAME_CHARACTERS_MAX))
    entry.count += 1
    entry.lastMs = this.#parts.clock.nowMs()
    if (entry.count === 1) {
      entry.weight = weight
      entry.sample = printable(sample, SAMPLE_CHARACTERS_MAX)
      entry.counter = this.#counterOf(entry)
      this.#logEntry(entry)
    }
    entry.counter?.inc()
  }

  /** An answer that no caller expects: an unknown status, a page in place of JSON, an announced end. */
  odd(path: string, what: string, sample: string): void {
    const weight = what === 'sunset' || what === 'deprecation' ? 'notice' : 'loss'
    this.note('http', `${pathForm(path)} ${what}`, sample, weight)
  }

  /** Things that are not found are expected; nothing but refusals, so many in a row, is a path that may have gone. */
  expected(path: string, isRefused: boolean): void {
    const form = pathForm(path)
    const refusals = this.#consecutiveRefusals.get(form)
    if (refusals === undefined && this.#consecutiveRefusals.size >= NAMES_MAX) return
    const count = isRefused ? (refusals ?? 0) + 1 : 0
    this.#consecutiveRefusals.set(form, count)
    if (count !== CONSECUTIVE_REFUSALS_MAX) return
    this.note('http', `${form} refuses everything`, `${count} times in a row`, 'notice')
  }

  /** The findings in order of first sight. */
  entries(): readonly DriftEntry[] {
    return [...this.#entries.values()].map(({ counter: _counter, ...entry }) => entry)
  }

  /** Logs every finding, or that there is none. */
  print(): void {
    for (const entry of this.#entries.values()) this.#logEntry(entry)
    if (this.#entries.size === 0) this.#parts.log.info(`drift ${this.#parts.venue.name}: none`)
  }

  #entryOf(kind: string, name: string): TableEntry {
    const key = `${kind}=${name}`
    const existing = this.#entries.get(key)
    if (existing !== undefined) return existing
    // The kinds are a fixed set, so that one further name for each keeps the table bounded.
    if (this.#entries.size >= NAMES_MAX && name !== OTHER) return this.#entryOf(kind, OTHER)
    const nowMs = this.#parts.clock.nowMs()
    const times = { firstMs: nowMs, lastMs: nowMs }
    const created: TableEntry = {
      kind,
      name,
      weight: 'loss',
      ...times,
      count: 0,
      sample: '',
      counter: null,
    }
    this.#entries.set(key, created)
    return created
  }

  #counterOf({ kind, name, weight }: DriftEntry): Count {
    const labels = { venue: this.#parts.venue.key, kind, name, weight }
    const help = 'Findings that the code of a venue does not know, by kind and name.'
    return this.#parts.metrics.count('venue_drift_total', help, labels)
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

/** One finding as a line: `drift venue_a gamma.version=v3 first=12:03:11 count=2 sample="…"`. */
export function driftLine(venue: string, entry: DriftEntry): string {
  const { kind, name, weight, firstMs, count, sample } = entry
  const first = new Date(firstMs).toISOString().slice(11, 19)
  const weightText = weight === 'notice' ? ' notice' : ''
  return `drift ${venue} ${kind}=${name}${weightText} first=${first} count=${count} sample=${JSON.stringify(sample)}`
}

/** Text of at most so many characters, none of which is invisible; what is no text is written as JSON. */
function printable(value: unknown, charactersMax: number): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  const cut = text.slice(0, charactersMax)
  return cut.replace(/\p{C}+/gu, ' ')
}

/** A path with `:id` in the place of each segment that names one market, event or wallet. */
function pathForm(path: string): string {
  return path
    .split('/')
    .map((part) => (ID_SEGMENT.test(part) ? ':id' : part))
    .join('/')
}
