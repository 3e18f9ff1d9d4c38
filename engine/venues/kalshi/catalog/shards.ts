import type { Clock } from '../../../clock.ts'
import type { JsonReader } from '../../../fetch.ts'
import { isRecord } from '../../../json-record.ts'
import type { VenueCounters } from '../../venue-counters.ts'

const READ_EVERY_MS = 60_000
const SHARDS_MAX = 1_000

interface ShardParts {
  readonly http: JsonReader
  readonly clock: Clock
  readonly counters: VenueCounters
  readonly onChange: (shard: number, isTrading: boolean) => void
}

export class Shards {
  readonly #parts: ShardParts
  readonly #isTrading = new Map<number, boolean>()
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: ShardParts) {
    this.#parts = parts
  }

  /** Returns true for a shard that the exchange status does not list. */
  isTrading(shard: number | null): boolean {
    return shard === null || this.#isTrading.get(shard) !== false
  }

  noteOf(shard: number | null, ticker: string): void {
    if (shard === null || this.#isTrading.size === 0 || this.#isTrading.has(shard)) return
    this.#parts.counters.drift.note('market.exchange_index', String(shard), ticker, 'notice')
  }

  /** Reads the states. After a failure the previous states stay valid. */
  async read(signal: AbortSignal): Promise<void> {
    const { http, clock, counters } = this.#parts
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#readAtMs < READ_EVERY_MS) return
    this.#readAtMs = nowMs
    try {
      const answer = await http.getJson('/exchange/status', {}, { signal })
      const rows = isRecord(answer) ? answer.exchange_index_statuses : undefined
      if (Array.isArray(rows)) for (const row of rows.slice(0, SHARDS_MAX)) this.#take(row)
      else counters.trouble('exchange_status', { err: 'no exchange_index_statuses' })
    } catch (error) {
      if (!signal.aborted) counters.trouble('exchange_status', { err: error })
    }
  }

  #take(row: unknown): void {
    if (!isRecord(row) || typeof row.trading_active !== 'boolean') return
    const shard = shardOf(row)
    if (shard === null) return
    const isTrading = row.trading_active && row.exchange_active !== false
    const was = this.#isTrading.get(shard) ?? true
    this.#isTrading.set(shard, isTrading)
    if (!isTrading) {
      const { counters } = this.#parts
      counters.drift.note(
        'exchange.shard',
        `${shard} does not trade`,
        JSON.stringify(row),
        'notice',
      )
    }
    if (was !== isTrading) this.#parts.onChange(shard, isTrading)
  }
}

export function shardOf(row: Readonly<Record<string, unknown>>): number | null {
  const { exchange_index: index } = row
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : null
}
