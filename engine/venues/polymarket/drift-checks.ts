// Requests that detect changes of Polymarket's APIs, and the expected fields of its rows.

import type { IncomingHttpHeaders } from 'node:http'
import { FetchError, type JsonReader } from '../../fetch.ts'
import { isRecord } from '../../json-record.ts'
import type { Log } from '../../process/log.ts'
import type { Drift, DriftNotes } from '../drift/drift.ts'
import type { Probe } from '../drift/probes.ts'
import { checkFields, checkRows, type RowShape } from '../drift/row-checks.ts'
import { isScheduleUnreadable } from './catalog/fees.ts'
import { unknownValues } from './catalog/listing.ts'
import type { Json } from './messages.ts'

const setOfNames = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const TRADE: RowShape = {
  kind: 'data.trades',
  needed: {
    ...{ proxy_wallet: 'text', side: 'text', token_id: 'text', condition_id: 'text' },
    ...{ size: 'number', price: 'number', timestamp: 'number', transaction_hash: 'text' },
  },
  further: setOfNames(
    'title slug icon event_slug outcome outcome_index name pseudonym bio profile_image profile_image_optimized',
  ),
}
const ACTIVITY: RowShape = {
  kind: 'data.activity',
  needed: { ...TRADE.needed, type: 'text', usdc_size: 'number' },
  further: new Set([...(TRADE.further ?? []), 'is_combo']),
}
const POSITION: RowShape = {
  kind: 'data.positions',
  needed: { token_id: 'text', condition_id: 'text', current_size: 'number', status: 'text' },
  further: null,
}
const DATA_SHAPES: ReadonlyMap<string, RowShape> = new Map([
  ['/v2/trades', TRADE],
  ['/v2/activity', ACTIVITY],
  ['/v2/positions', POSITION],
])
/** Gamma's rows have about 90 fields, some of them optional. Only fields that a listing needs are checked. */
const MARKET: RowShape = {
  kind: 'gamma.market',
  needed: {
    ...{ conditionId: 'text', slug: 'text', question: 'text', outcomes: 'any' },
    ...{ active: 'flag', closed: 'flag' },
  },
  further: null,
}
/** Fields that nearly all open markets have. They are checked on large pages only. */
const OPEN_MARKET: Pick<RowShape, 'kind' | 'needed'> = {
  kind: 'gamma.market',
  needed: {
    ...{ description: 'text', createdAt: 'text', updatedAt: 'text', endDate: 'text' },
    ...{ outcomePrices: 'any', acceptingOrders: 'flag', orderPriceMinTickSize: 'number' },
    ...{ bestAsk: 'number', volumeNum: 'number', negRisk: 'flag', feesEnabled: 'flag' },
  },
}
const OPEN_MARKETS_MIN = 10
const FEE_TYPES =
  /^(zero_fees|\w+_fees_v\d|\w+_fees|crypto_15_min|crypto|sports|politics|finance|tech|mentions|economics|culture|weather|general|geopolitics)$/
const FEE_KEYS = setOfNames('rate exponent takerOnly rebateRate')

export function checkDataRows(path: string, rows: readonly unknown[], drift: DriftNotes): void {
  const shape = DATA_SHAPES.get(path)
  if (shape !== undefined && rows.length > 0) checkRows(shape, rows, drift)
}

export function checkMarketRows(rows: readonly unknown[], drift: DriftNotes): void {
  if (rows.length === 0) return
  checkRows(MARKET, rows, drift)
  const open = rows.filter(isRecord).filter(({ closed }) => closed === false)
  if (open.length >= OPEN_MARKETS_MIN) checkFields(OPEN_MARKET, open, drift)
  checkConditionalFields(open, drift)
  for (const row of rows) {
    if (!isRecord(row)) continue
    const sample = `${row.id} ${row.slug}`
    for (const [field, value] of unknownValues(row)) drift.note(`gamma.${field}`, value, sample)
    const { feeType, feeSchedule, conditionId } = row
    if (typeof feeType === 'string' && feeType !== '' && !FEE_TYPES.test(feeType)) {
      drift.note('gamma.feeType', feeType, sample, 'notice')
    }
    if (isScheduleUnreadable(row)) {
      drift.note('fees.unreadable', 'gamma.feeSchedule', `${sample} ${JSON.stringify(feeSchedule)}`)
    }
    if (isRecord(feeSchedule)) {
      const unknownKeys = Object.keys(feeSchedule).filter((key) => !FEE_KEYS.has(key))
      for (const key of unknownKeys) drift.note('gamma.feeSchedule', `${key} new`, sample, 'notice')
    }
    if (
      typeof conditionId === 'string' &&
      !/^0x([0-9a-f]{62}){1}([0-9a-f]{2})?$/i.test(conditionId)
    ) {
      drift.note('gamma.conditionId', `${conditionId.length - 2} digits`, sample)
    }
  }
}

/**
 * Fields that only some rows have. Drift is recorded if at least `rowsMin` rows should have a field and all of them
 * lack it.
 */
const CONDITIONAL_FIELDS: readonly {
  readonly name: string
  readonly isExpected: (row: Json) => boolean
  readonly fields: readonly string[]
  readonly rowsMin: number
}[] = [
  // Most open markets have volume on any day, but possibly none of a single event's markets.
  {
    name: 'volume24hr',
    isExpected: ({ volumeNum }) => Number(volumeNum) > 0,
    fields: ['volume24hr', 'volume24hrClob'],
    rowsMin: 50,
  },
  {
    name: 'feeSchedule',
    isExpected: ({ feesEnabled, feeType }) => feesEnabled === true && feeType !== 'zero_fees',
    fields: ['feeSchedule'],
    rowsMin: 3,
  },
]

function checkConditionalFields(open: readonly Json[], drift: DriftNotes): void {
  for (const { name, isExpected, fields, rowsMin } of CONDITIONAL_FIELDS) {
    const expected = open.filter(isExpected)
    if (expected.length < rowsMin) continue
    const hasField = (row: Json) => fields.some((field) => (row[field] ?? null) !== null)
    if (!expected.some(hasField)) drift.note('gamma.market.field', `${name} missing`, expected[0])
  }
}

interface ProbeParts {
  readonly gamma: JsonReader
  readonly data: JsonReader
  readonly drift: Drift
  readonly log: Log
}

/** Maximum age that the API may report for its data. Recorded ages were at most 24 s (README.md, Data API). */
const AGE_MAX_S = 120
/** Maximum time for which caches may keep the first page of trades. */
const CACHE_MAX_S = 300
const GAMMA_ROWS = 100
const V1_PATH = '/trades'
const RETIRED: readonly number[] = [301, 302, 307, 308, 404, 410]

export function polymarketProbes({ gamma, data, drift, log }: ProbeParts) {
  let v1: string | null = null
  const status: Probe = async (signal) => {
    const answer = await data.getJson('/v2/status', {}, { signal, retries: 0 })
    const figures = isRecord(answer) ? answer.data : null
    const age = isRecord(figures) ? (figures.age_seconds ?? figures.freshness) : null
    if (typeof age !== 'number') drift.note('data.status', 'no age_seconds', answer, 'notice')
    else if (age > AGE_MAX_S)
      drift.note('data.status', `older than ${AGE_MAX_S} s`, answer, 'notice')
  }
  const rows = async (path: string, query: { limit?: number }, signal: AbortSignal) => {
    let head: IncomingHttpHeaders = {}
    const onHead = (_status: number, headers: IncomingHttpHeaders) => {
      head = headers
    }
    const answer = await data.getJson(path, query, { signal, retries: 0, onHead })
    const list = isRecord(answer) ? answer.data : undefined
    if (Array.isArray(list)) checkDataRows(path, list, drift)
    else drift.note('data.answer', `${path} no list`, answer)
    return head
  }
  const trades: Probe = async (signal) => {
    const { age, 'cache-control': control = '' } = await rows('/v2/trades', { limit: 1 }, signal)
    const cacheS = Math.max(Number(age ?? 0), Number(/max-age=(\d+)/.exec(control)?.[1] ?? 0))
    if (!(cacheS > CACHE_MAX_S)) return
    drift.note('data.cache', '/v2/trades', `age ${age}, ${control}`, 'notice')
  }
  const retired: Probe = async (signal) => {
    const before = v1
    v1 = await v1StatusOf(data, signal)
    if (v1 === before) return
    // The documentation allows both states of version 1. A change between them is recorded.
    if (before !== null) drift.note('data.v1', v1, `before: ${before}`, 'notice')
    log.info({ path: V1_PATH }, `v1 of the Data API: ${v1}`)
  }
  const markets: Probe = async (signal) => {
    const query = { limit: GAMMA_ROWS, closed: false }
    const answer = await gamma.getJson('/markets/keyset', query, { signal, retries: 0 })
    const list = isRecord(answer) ? answer.markets : undefined
    if (!Array.isArray(list)) return drift.note('gamma.answer', '/markets/keyset no list', answer)
    checkMarketRows(list, drift)
    logCounts(list, log)
  }
  return { status, trades, retired, markets }
}

async function v1StatusOf(data: JsonReader, signal: AbortSignal): Promise<string> {
  const options = { signal, retries: 0, isWatched: false }
  try {
    const answer = await data.getJson(V1_PATH, { limit: 1 }, options)
    return Array.isArray(answer) ? 'answers' : 'answers in another form'
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    if (error.status !== undefined && RETIRED.includes(error.status))
      return `retired: ${error.status}`
    if (error.kind === 'body') return 'retired: no JSON'
    throw error
  }
}

function logCounts(rows: readonly unknown[], log: Log): void {
  const counts: Record<string, number> = {}
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  for (const row of rows.filter(isRecord)) {
    const { version, conditionId, clobTokenIds, positionIds } = row
    count(
      version === 'v1' || version === 'v2' ? version : version === undefined ? 'absent' : 'other',
    )
    count(`width ${String(conditionId).length - 2}`)
    const [hasV1, hasV2] = [isFilled(clobTokenIds), isFilled(positionIds)]
    if (hasV1 && hasV2) count('both ids')
    if (!hasV1 && !hasV2) count('no ids')
  }
  log.info(counts, 'markets of one page of Gamma')
}

const isFilled = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : typeof value === 'string' && value !== '' && value !== '[]'
