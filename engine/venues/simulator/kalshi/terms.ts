// Fields of venue b's messages that are not in the simulated world: shards, price structures, block trades and
// combinations.

import { hash32 } from '../../../random.ts'
import { HOUR_MS, MINUTE_MS, type PriceMicros, type TimeMs, timeMs } from '../../../units.ts'
import type { SimEvent, SimMarket, SimTrade } from '../model.ts'
import { dollars } from './text.ts'

export const SHARDS = [
  { exchange_index: 0, description: 'Main exchange' },
  { exchange_index: 1, description: 'Combos' },
  { exchange_index: 2, description: 'Crypto and commodities' },
  { exchange_index: 3, description: 'Tennis and baseball' },
] as const

export function shardOf({ series, topic, game }: SimEvent): number {
  if (series.startsWith('KXMVE')) return 1
  if (topic === 'crypto') return 2
  return game?.sport === 'tennis' || game?.sport === 'mlb' ? 3 : 0
}

/**
 * Number of the event's hour. The hours of different events begin at different minutes, so that not all events change
 * at once.
 */
export function hourOf({ number }: SimEvent, atMs: number): number {
  return Math.floor((atMs - (number % 60) * MINUTE_MS) / HOUR_MS)
}

export function hourStart({ number }: SimEvent, hour: number): TimeMs {
  return timeMs(hour * HOUR_MS + (number % 60) * MINUTE_MS)
}

/** One event in sixteen changes the price structure of its markets every hour. */
export function hasAlternatingStructure({ number }: SimEvent): boolean {
  return number % 16 === 11
}

type Range = readonly [start: string, end: string, step: string]
interface Structure {
  readonly name: string
  readonly ranges: readonly Range[]
}

const edged = (name: string, [low, high]: readonly [string, string], steps: readonly string[]) => {
  const [edge = '', center = ''] = steps
  const ranges: readonly Range[] = [
    ['0.0000', low, edge],
    [low, high, center],
    [high, '1.0000', edge],
  ]
  return { name, ranges }
}
const TENTH = ['0.1000', '0.9000'] as const
/** Price structures in which every multiple of the tick is valid. Most markets have the first. */
const CENT: readonly Structure[] = [
  { name: 'linear_cent', ranges: [['0.0000', '1.0000', '0.0100']] },
  edged('tapered_deci_cent', TENTH, ['0.0010', '0.0100']),
  edged('center_half_edge_deci_cent', TENTH, ['0.0010', '0.0050']),
  edged('center_whole_edge_quint_cent', TENTH, ['0.0020', '0.0100']),
]
const DECI: readonly Structure[] = [
  { name: 'deci_cent', ranges: [['0.0000', '1.0000', '0.0010']] },
  edged('center_deci_edge_centi_cent', ['0.0100', '0.9900'], ['0.0001', '0.0010']),
]

/** `tick`: the prices of all orders in the market are multiples of this tick. */
export function priceFields(
  { listing, event }: SimMarket,
  { tick, atMs }: { readonly tick: PriceMicros; readonly atMs: number },
): Record<string, unknown> {
  const structures = tick >= 10_000 ? CENT : tick >= 1_000 ? DECI : []
  const draw = hash32('structure', listing.nativeId) % (2 * structures.length || 1)
  const first = draw < structures.length ? draw : 0
  const alternation = hasAlternatingStructure(event) ? Math.abs(hourOf(event, atMs) % 2) : 0
  const structure = structures[(first + alternation) % (structures.length || 1)]
  const uniform: Range = ['0.0000', '1.0000', dollars(tick)]
  const ranges = structure?.ranges ?? [uniform]
  return {
    price_level_structure: structure?.name ?? 'center_centi_edge_centi_cent',
    price_ranges: ranges.map(([start, end, step]) => ({ start, end, step })),
  }
}

/** One trade in 256 is a block trade, agreed outside the book. */
export function isBlock({ id }: Pick<SimTrade, 'id'>): boolean {
  return id.startsWith('b1')
}

export function tradeIdOf({ id }: Pick<SimTrade, 'id'>, combo: string | null): string {
  return combo === null ? id : `c1${id.slice(2)}`
}

/** The ticker of the combination that trades together with a trade. Null for 255 of 256 trades. */
export function comboOf({ id, market }: Pick<SimTrade, 'id' | 'market'>): string | null {
  if (!id.startsWith('c0')) return null
  const code = id.replaceAll('-', '').toUpperCase()
  return `${market.event.series}-S2026${code.slice(2, 12)}-${code.slice(12, 20)}`
}

export function comboEvent(ticker: string): string {
  return ticker.slice(0, ticker.lastIndexOf('-'))
}
