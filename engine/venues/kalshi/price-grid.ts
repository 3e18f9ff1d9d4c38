// The prices at which a market accepts orders, from `price_ranges` alone. `price_level_structure` is only a label.

import { isRecord } from '../../json-record.ts'
import { PRICE_ONE, type PriceMicros, parsePrice } from '../../units.ts'
import { decimalOf } from './parse.ts'

interface Range {
  readonly start: PriceMicros
  readonly end: PriceMicros
  readonly step: PriceMicros
}

const RANGES_MAX = 50
const SHARED_MAX = 256

export class PriceGrid {
  readonly #ranges: readonly Range[]
  readonly finest: PriceMicros

  constructor(ranges: readonly Range[], finest: PriceMicros) {
    this.#ranges = ranges
    this.finest = finest
  }

  isOn(price: PriceMicros): boolean {
    for (const { start, end, step } of this.#ranges) {
      if (price >= start && price <= end && (price - start) % step === 0) return true
    }
    return false
  }
}

const shared = new Map<string, PriceGrid>()

export function parsePriceGrid(row: Readonly<Record<string, unknown>>): PriceGrid | null {
  const rows = Array.isArray(row.price_ranges) ? row.price_ranges : []
  if (rows.length === 0 || rows.length > RANGES_MAX) return null
  const ranges: Range[] = []
  for (const each of rows) {
    const range = rangeOf(each)
    if (range === null) return null
    ranges.push(range)
  }
  const key = ranges.map(({ start, end, step }) => `${start} ${end} ${step}`).join()
  const existing = shared.get(key)
  if (existing !== undefined) return existing
  const grid = new PriceGrid(ranges, finestOf(ranges))
  if (shared.size < SHARED_MAX) shared.set(key, grid)
  return grid
}

function rangeOf(row: unknown): Range | null {
  if (!isRecord(row)) return null
  const start = priceOf(row.start)
  const end = priceOf(row.end)
  const step = priceOf(row.step)
  if (start === null || end === null || step === null) return null
  return step > 0 && start < end ? { start, end, step } : null
}

function priceOf(value: unknown): PriceMicros | null {
  const text = decimalOf(value)
  return text === null ? null : parsePrice(text)
}

function finestOf(ranges: readonly Range[]): PriceMicros {
  let finest: PriceMicros = PRICE_ONE
  for (const { step } of ranges) if (step < finest) finest = step
  return finest
}
