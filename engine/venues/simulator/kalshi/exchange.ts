// Endpoints of venue b about the exchange. The archive is empty.

import type { Random } from '../../../random.ts'
import { DAY_MS, MINUTE_MS, type TimeMs, timeMs } from '../../../units.ts'
import type { Faults } from '../faults.ts'
import type { SimMarket } from '../model.ts'
import { json, type RestServer } from '../rest.ts'
import { SHARDS, shardOf } from './terms.ts'
import { rfc3339 } from './text.ts'

/** The venue serves rows of this age and older under /historical. */
const LIVE_WINDOW_MS = 90 * DAY_MS
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'friday', 'saturday', 'sunday'] as const

export function addExchangeRoutes(
  rest: RestServer,
  prefix: string,
  { nowMs, halts }: { readonly nowMs: () => TimeMs; readonly halts: SimHalts },
): void {
  const status = {
    exchange_active: true,
    trading_active: true,
    intra_exchange_transfers_active: true,
  }
  rest.get(`${prefix}/exchange/status`, () =>
    json({
      ...status,
      exchange_estimated_resume_time: null,
      exchange_index_statuses: SHARDS.map((shard) => ({
        ...shard,
        ...status,
        trading_active: halts.isTrading(shard.exchange_index),
      })),
    }),
  )
  rest.get(`${prefix}/exchange/schedule`, () => json({ schedule: schedule() }))
  rest.get(`${prefix}/historical/cutoff`, () => {
    const cutoff = rfc3339(timeMs(Math.floor((nowMs() - LIVE_WINDOW_MS) / DAY_MS) * DAY_MS))
    return json({
      market_settled_ts: cutoff,
      trades_created_ts: cutoff,
      orders_updated_ts: cutoff,
      market_positions_last_updated_ts: cutoff,
    })
  })
  rest.get(`${prefix}/historical/trades`, () => json({ trades: [], cursor: '' }))
}

function schedule(): Record<string, unknown> {
  const allDay = [{ open_time: '00:00', close_time: '00:00' }]
  const thursday = [
    { open_time: '00:00', close_time: '03:00' },
    { open_time: '05:00', close_time: '00:00' },
  ]
  return {
    standard_hours: [
      {
        start_time: '2026-01-01T05:00:00Z',
        end_time: '2036-01-01T05:00:00Z',
        ...Object.fromEntries(WEEKDAYS.map((day) => [day, allDay])),
        thursday,
      },
    ],
    maintenance_windows: [],
  }
}

const HALTED_MS = 3 * MINUTE_MS

/**
 * The fault `halt`: a shard of the exchange stops trading for some minutes. `/exchange/status` reports the halt.
 * Markets of the shard stay `active`, and their books do not change.
 */
export class SimHalts {
  readonly #faults: Faults
  readonly #random: Random
  #shard: number | null = null
  #untilMs = 0

  constructor(parts: { readonly faults: Faults; readonly random: Random }) {
    this.#faults = parts.faults
    this.#random = parts.random
  }

  /** Must be called once a second. Ends an expired halt and may begin a new one. */
  draw(nowMs: number): void {
    if (this.#shard !== null && nowMs >= this.#untilMs) this.#shard = null
    if (this.#shard !== null || !this.#faults.strikes('halt')) return
    this.#shard = this.#random.pick(SHARDS).exchange_index
    this.#untilMs = nowMs + HALTED_MS
  }

  isTrading(shard: number): boolean {
    return shard !== this.#shard
  }

  isHalted({ listing, event }: SimMarket): boolean {
    return this.#shard !== null && listing.venue === 'b' && shardOf(event) === this.#shard
  }
}
