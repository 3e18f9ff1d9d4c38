// Kalshi's trading fees: the terms of the series, the overrides of its events, and changes of both (README.md, Fees).
// If an event row lacks the override fields, the fees are unknown until the overrides have been read.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../clock.ts'
import type { JsonReader } from '../../../fetch.ts'
import { microsOf } from '../../../json-fields.ts'
import { isRecord } from '../../../json-record.ts'
import {
  CURVE_ZERO,
  FEES_UNKNOWN,
  type FeeKind,
  type FeeModel,
  type FeeRounding,
  feeCurve,
  isEqualFees,
  type MarketFees,
  MODEL_UNKNOWN,
  sharedFees,
} from '../../../market/fees.ts'
import { MICROS, parseTime, type TimeMs, timeMs } from '../../../units.ts'
import { listIn, SuspectAnswerError, suspectListReason } from '../../answer-checks.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import type { FeeTerms } from '../messages.ts'
import { idOf } from '../parse.ts'
import { pagesIn } from './rest-rows.ts'

interface FeeChange extends FeeTerms {
  readonly sinceMs: TimeMs
  readonly source: string
}

interface Stated extends FeeTerms {
  readonly source: string
  readonly sinceMs: TimeMs | null
}

type Changes = ReadonlyMap<string, readonly FeeChange[]>
type Fields = { readonly [name: string]: unknown }

/** A fill's fee is rounded up to 0.0001 dollars, and the cash of an order to cents (README.md, Fees). */
const ROUNDING: FeeRounding = { fillStepMicros: 100, direction: 'up', orderStepMicros: 10_000 }
const TAKER_RATE_MICROS = 70_000
/** Maker rates by fee type: half the taker rate for swaps of combos, otherwise a quarter or 0. */
const MAKER_RATES_MICROS: ReadonlyMap<unknown, number> = new Map([
  ['quadratic', 0],
  ['quadratic_with_maker_fees', 17_500],
  ['quadratic_with_combo_maker_fees', 35_000],
])
/** Known multipliers are 0, 0.5 and 1. A larger multiplier than ten must be in another unit, such as percent. */
const MULTIPLIER_MAX_MICROS = 10 * MICROS
/** A row may be a cached copy of up to this age. A fee change within this time takes precedence over the row. */
const COPY_AGE_MAX_MS = 600_000
const READ_EVERY_MS = 3_600_000
const RETRY_AFTER_MS = 300_000
const CHANGE_ROWS = 1_000
const PAGES_MAX = 50
/** Maximum event overrides from the socket. The hourly read restores evicted overrides. */
const SOCKET_OVERRIDES_MAX = 10_000

interface FeesParts {
  readonly http: JsonReader
  readonly clock: Clock
  readonly counters: VenueCounters
}

export class KalshiFees {
  readonly #parts: FeesParts
  #ofSeries: Changes = new Map()
  #ofEvents: Changes | null = null
  readonly #socketOverrides = new LRUCache<string, FeeChange>({ max: SOCKET_OVERRIDES_MAX })
  #readAgainAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: FeesParts) {
    this.#parts = parts
  }

  async read(signal: AbortSignal): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs < this.#readAgainAtMs) return
    try {
      this.#ofSeries = this.#merged(this.#ofSeries, await this.#readSeries(signal))
      this.#ofEvents = this.#merged(this.#ofEvents ?? new Map(), await this.#readEvents(signal))
      this.#readAgainAtMs = nowMs + READ_EVERY_MS
    } catch (error) {
      if (signal.aborted) throw error
      this.#readAgainAtMs = nowMs + RETRY_AFTER_MS
      if (error instanceof SuspectAnswerError) this.#parts.counters.suspectAnswers.note(error)
      this.#parts.counters.trouble('fee_changes', { error: String(error) })
    }
  }

  note(event: string, terms: FeeTerms): void {
    const sinceMs = timeMs(this.#parts.clock.nowMs())
    this.#socketOverrides.set(event, { ...terms, sinceMs, source: 'socket.event_fee_update' })
  }

  /** Fees of a market, from its row, its event's row and the terms of its series. `readAtMs`: when the rows were read. */
  of(
    row: Fields,
    event: { readonly ticker: string; readonly row: Fields },
    series: { readonly ticker: string; readonly terms: FeeTerms; readonly readAtMs: number },
  ): MarketFees {
    const nowMs = this.#parts.clock.nowMs()
    const seriesChanges = this.#ofSeries.get(series.ticker) ?? []
    const socketOverride = this.#socketOverrides.get(event.ticker)
    const listed = this.#ofEvents?.get(event.ticker) ?? []
    const eventChanges =
      socketOverride === undefined ? listed : [...listed, socketOverride].sort(byTime)
    const override = this.#overrideOf(event.row)
    if (override === null && socketOverride === undefined) return FEES_UNKNOWN
    const modelAt = (atMs: number) =>
      modelOf(
        statedAt(atMs, seriesChanges, {
          row: { ...series.terms, source: 'series.fee_type', sinceMs: null },
          readAtMs: series.readAtMs,
        }),
        statedAt(atMs, eventChanges, {
          row: override ?? NO_OVERRIDE,
          readAtMs: override?.isShown === true ? nowMs : Number.NEGATIVE_INFINITY,
        }),
      )
    const now = modelAt(nowMs)
    const next = [...seriesChanges, ...eventChanges]
      .filter(({ sinceMs }) => sinceMs > nowMs)
      .sort(byTime)
      .map(({ sinceMs }): FeeModel => ({ ...modelAt(sinceMs), sinceMs }))
      .find((model) => !hasEqualTerms(model, now))
    const waivedUntilMs = timeIn(row.fee_waiver_expiration_time)
    return sharedFees({ now, next: next ?? null, waivedUntilMs })
  }

  /** The override in an event's row. Null if the row lacks the fields and the overrides have not been read. */
  #overrideOf(row: Fields): (Stated & { readonly isShown: boolean }) | null {
    const isShown = 'fee_type_override' in row || 'fee_multiplier_override' in row
    if (isShown) return { ...termsOf(row, '_override'), ...SHOWN }
    return this.#ofEvents === null ? null : NO_OVERRIDE
  }

  async #readSeries(signal: AbortSignal): Promise<Changes> {
    const query = { show_historical: true }
    const answer = await this.#parts.http.getJson('/series/fee_changes', query, { signal })
    const rows = listIn(answer, 'series_fee_change_arr', 'series')
    return this.#changesIn(rows, { key: 'series_ticker', suffix: '', source: 'series.fee_changes' })
  }

  async #readEvents(signal: AbortSignal): Promise<Changes> {
    const path = '/events/fee_changes'
    const list = { path, name: 'event_fee_changes', kind: 'event', pagesMax: PAGES_MAX } as const
    const query = { show_historical: true, limit: CHANGE_ROWS }
    const all: unknown[] = []
    for await (const rows of pagesIn(this.#parts.http, list, query, signal)) all.push(...rows)
    const source = 'events.fee_changes'
    return this.#changesIn(all, { key: 'event_ticker', suffix: '_override', source })
  }

  #changesIn(
    rows: readonly unknown[],
    of: { readonly key: string; readonly suffix: string; readonly source: string },
  ): Changes {
    const changes = new Map<string, FeeChange[]>()
    for (const row of rows) {
      const ticker = isRecord(row) ? idOf(row[of.key]) : null
      const sinceMs = isRecord(row) ? timeIn(row.scheduled_ts) : null
      if (!isRecord(row) || ticker === null || sinceMs === null) {
        this.#parts.counters.rejected('fee_change', JSON.stringify(row) ?? '')
        continue
      }
      const change = { ...termsOf(row, of.suffix), sinceMs, source: of.source }
      changes.set(ticker, [...(changes.get(ticker) ?? []), change].sort(byTime))
    }
    return changes
  }

  /** Retains the previous entries that a list lacks. A list that lacks many entries is counted as suspect. */
  #merged(previous: Changes, received: Changes): Changes {
    const missing = [...previous].filter(([ticker]) => !received.has(ticker))
    if (previous.size === 0 || missing.length === 0) return received
    const reason = suspectListReason({
      received: received.size,
      missing: missing.length,
      expected: previous.size,
    })
    if (reason === null) return received
    const detail = `${missing.length} of ${previous.size} changes of fees are not in it`
    this.#parts.counters.suspectAnswers.note(new SuspectAnswerError('series', reason, detail))
    return new Map([...missing, ...received])
  }
}

const SHOWN = { source: 'event.fee_type_override', sinceMs: null, isShown: true } as const
const NO_OVERRIDE = {
  type: null,
  multiplier: null,
  source: 'event.fee_type_override',
  sinceMs: null,
  isShown: false,
} as const

/** The fields of an event row have the suffix `_override`. */
export function termsOf(row: Fields, suffix = ''): FeeTerms {
  return {
    type: row[`fee_type${suffix}`] ?? null,
    multiplier: row[`fee_multiplier${suffix}`] ?? null,
  }
}

export function multiplierOf(multiplier: unknown): number | null {
  const micros = microsOf({ multiplier }, 'multiplier')
  return micros !== null && micros >= 0 && micros <= MULTIPLIER_MAX_MICROS ? micros : null
}

/** The terms at a given time. A change takes precedence over the row if it took effect after the row was written. */
function statedAt(
  atMs: number,
  changes: readonly FeeChange[],
  { row, readAtMs }: { readonly row: Stated; readonly readAtMs: number },
): Stated {
  const change = changes.findLast(({ sinceMs }) => sinceMs <= atMs)
  if (change === undefined) return row
  if (change.sinceMs > readAtMs - COPY_AGE_MAX_MS) return change
  const isSame = change.type === row.type && change.multiplier === row.multiplier
  return isSame ? { ...row, sinceMs: change.sinceMs } : row
}

function modelOf(series: Stated, event: Stated): FeeModel {
  const isOverridden = event.type !== null || event.multiplier !== null
  const { source } = isOverridden ? event : series
  const type = event.type ?? series.type
  const multiplier = event.multiplier ?? series.multiplier
  if (type === null && multiplier === null) return MODEL_UNKNOWN
  const sinceMs = isOverridden || event.sinceMs !== null ? event.sinceMs : series.sinceMs
  const model = { ...MODEL_UNKNOWN, source, sinceMs }
  if (type === 'flat') return { ...model, kind: 'flat' }
  const multiplierMicros = multiplierOf(multiplier)
  const makerRateMicros = MAKER_RATES_MICROS.get(type)
  if (makerRateMicros === undefined || multiplierMicros === null) return model
  const taker = feeCurve(TAKER_RATE_MICROS, 1, multiplierMicros)
  const maker = makerRateMicros === 0 ? CURVE_ZERO : feeCurve(makerRateMicros, 1, multiplierMicros)
  if (taker === null || maker === null) return model
  const kind: FeeKind = 'quadratic'
  return { ...model, kind, taker, maker, rounding: ROUNDING }
}

function hasEqualTerms(one: FeeModel, other: FeeModel): boolean {
  const bare = (now: FeeModel) => ({
    ...FEES_UNKNOWN,
    now: { ...now, source: null, sinceMs: null },
  })
  return isEqualFees(bare(one), bare(other))
}

function byTime(one: FeeChange, other: FeeChange): number {
  return one.sinceMs - other.sinceMs
}

function timeIn(value: unknown): TimeMs | null {
  if (typeof value === 'string') return parseTime(value)
  const isSeconds = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
  return isSeconds && value < 1e11 ? timeMs(value * 1_000) : null
}
