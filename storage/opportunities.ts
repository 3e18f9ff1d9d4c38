// Past opportunities, in the order in which they ended, and open ones.

import { nativeMarketId, VENUE_KEYS } from '../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../engine/market/market.ts'
import {
  CLOSE_REASONS,
  OPPORTUNITY_KINDS,
  type OpenOpportunity,
  type OpportunityState,
  type PastLeg,
  type PastOpportunity,
} from '../engine/opportunity.ts'
import { sizeMicros, type TimeMs, timeMs, usdMicros } from '../engine/units.ts'
import type { OpportunityTable, PastOpportunityRow, SliceQuery } from './contract/storage.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Row, Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import { KEY_END, KEY_START, textKey } from './records/keys.ts'
import {
  type MarketLookup,
  opportunityFields,
  reachFields,
  readOpportunity,
  readReach,
} from './records/log-opportunity.ts'
import type { FieldReader } from './records/records.ts'
import { whaleKey, whalePosition } from './records/whale.ts'
import { TABLES } from './tables.ts'
import { rangeOfTrades } from './trade-range.ts'

const SCHEMA = 1

export class Opportunities implements OpportunityTable {
  readonly #rows: Table
  readonly #open: Table

  constructor(environment: Environment) {
    this.#rows = environment.table(TABLES.opportunities)
    this.#open = environment.table(TABLES.openOpportunities)
  }

  putOpen(open: OpenOpportunity): void {
    const { opened, best, last, peak, isEnded } = open
    const fields = [isEnded, statesFields([opened, best]), reachFields(peak)]
    const key = textKey(last.id)
    this.#open.put(key, this.#open.encode(key, SCHEMA, [...fields, ...opportunityFields(last)]))
  }

  removeOpen(id: string): void {
    this.#open.remove(textKey(id))
  }

  takeOpen(marketOf: (number: MarketNumber) => MarketRef | null): readonly OpenOpportunity[] {
    const requireMarket: MarketLookup = (number) => {
      const market = marketOf(number)
      if (market === null) throw new Error('the market of a leg is not known')
      return market
    }
    const found: OpenOpportunity[] = []
    for (const row of chunkedRows(this.#open)) {
      const open = this.#open.decode(row, { 1: (fields) => readOpen(fields, requireMarket) })
      if (open !== null) found.push(open)
      this.#open.remove(row.key)
    }
    return found
  }

  put(past: PastOpportunity): void {
    const { closedAtMs } = past
    const [from, to] = [whaleKey(closedAtMs, 0), whaleKey(closedAtMs + 1, 0)]
    const last = this.#rows.first({ from, to, isReverse: true })
    const key = whaleKey(closedAtMs, last === null ? 0 : whalePosition(last.key).ordinal + 1)
    this.#rows.put(key, this.#rows.encode(key, SCHEMA, fieldsOf(past)))
  }

  range(query: SliceQuery): readonly PastOpportunityRow[] {
    const rows: PastOpportunityRow[] = []
    const range = rangeOfTrades(query, whaleKey)
    if (range === null || query.limit < 1) return rows
    this.#rows.scan(range, (row) => {
      const past = this.#read(row)
      if (past !== null) rows.push({ past, ordinal: whalePosition(row.key).ordinal })
      return rows.length < query.limit
    })
    return rows
  }

  oldestMs(): TimeMs | null {
    const row = this.#rows.first({ from: KEY_START, to: KEY_END })
    return row === null ? null : timeMs(whalePosition(row.key).timeMs)
  }

  /** Removes at most `rowsMax` that ended before `beforeMs`; returns their count. */
  prune(beforeMs: number, rowsMax: number): number {
    return this.#rows.removeRange({ from: KEY_START, to: whaleKey(beforeMs, 0) }, rowsMax).rowCount
  }

  #read(row: Row): PastOpportunity | null {
    return this.#rows.decode(row, {
      1: (fields) => readPast(fields, whalePosition(row.key).timeMs),
    })
  }
}

function fieldsOf(past: PastOpportunity): readonly unknown[] {
  const { id, kind, matchScore, question, category, closesAtMs, reason } = past
  const legs = past.legs.flatMap(({ venue, market, outcome }) => [venue, market, outcome])
  const states = statesFields([past.opened, past.best, past.last])
  return [id, kind, matchScore, legs, question, category, closesAtMs, states, reason]
}

function readPast(fields: FieldReader, closedAtMs: number): PastOpportunity {
  const [id, kind] = [fields.text(), fields.choice(OPPORTUNITY_KINDS)]
  const matchScore = fields.numberOrNull()
  const legs = legsOf(fields.texts())
  const [question, category] = [fields.text(), fields.textOrNull()]
  const closesAtMs = fields.orNull(timeMs)
  const states = fields.numbers()
  const reason = fields.choice(CLOSE_REASONS)
  const [opened, best, last] = [stateAt(states, 0), stateAt(states, 3), stateAt(states, 6)]
  const identity = { id, kind, matchScore, legs, question, category, closesAtMs, reason }
  return { ...identity, opened, best, last, closedAtMs: timeMs(closedAtMs) }
}

function readOpen(fields: FieldReader, marketOf: MarketLookup): OpenOpportunity {
  const isEnded = fields.boolean()
  const states = fields.numbers()
  const peak = readReach(fields.numbers())
  const last = readOpportunity(fields, marketOf)
  return { opened: stateAt(states, 0), best: stateAt(states, 3), last, peak, isEnded }
}

const statesFields = (states: readonly OpportunityState[]): readonly number[] =>
  states.flatMap(({ atMs, contracts, profit }) => [atMs, contracts, profit])

const stateAt = (states: readonly number[], index: number): OpportunityState => ({
  atMs: timeMs(states[index] ?? Number.NaN),
  contracts: sizeMicros(states[index + 1] ?? Number.NaN),
  profit: usdMicros(states[index + 2] ?? Number.NaN),
})

function legsOf(texts: readonly string[]): readonly PastLeg[] {
  const legs: PastLeg[] = []
  for (let index = 0; index + 2 < texts.length; index += 3) {
    const [venue = '', market = '', outcome = ''] = texts.slice(index, index + 3)
    const key = VENUE_KEYS.find((one) => one === venue)
    if (key !== undefined) legs.push({ venue: key, market: nativeMarketId(market), outcome })
  }
  return legs
}
