// Cached order of lists while clients page through them. Requests with the same filter and order share a ranking for 5
// s. A ranking expires after 5 minutes. Beyond 64 MiB in total the oldest are evicted.

import type { Clock } from '../../engine/clock.ts'

const SHARED_MS = 5_000
const RETAINED_MS = 300_000
const BYTES_MAX = 64 * 2 ** 20
const PIN_OVERHEAD_BYTES = 512

export interface Ranking {
  readonly pin: number
  readonly key: string
  readonly createdAtMs: number
  readonly numbers: Uint32Array
}

interface RankedPage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/**
 * The rows of a ranking from `offset` on. Skips entries that no longer exist, so that each page except the last is
 * full.
 */
export function pageOf<Row>(
  { pin, numbers }: Pick<Ranking, 'pin' | 'numbers'>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  find: (number: number) => Row | null,
): RankedPage<Row> {
  const rows: Row[] = []
  const total = numbers.length
  for (let position = offset; position < total; position += 1) {
    const row = find(numbers[position] ?? 0)
    if (row === null) continue
    if (rows.length === limit) return { rows, total, next: { pin, offset: position } }
    rows.push(row)
  }
  return { rows, total, next: null }
}

/** Rankings by pin, an integer that is unique within a run. */
export class Rankings {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #pins = new Map<number, Ranking>()
  readonly #newest = new Map<string, Ranking>()
  #bytes = 0
  #lastPin = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Null if the newest ranking of the key is 5 s old or older. */
  shared(key: string): Ranking | null {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    const shared = this.#newest.get(key)
    return shared !== undefined && nowMs - shared.createdAtMs < SHARED_MS ? shared : null
  }

  /** Caches a copy of a new ranking. If the previous ranking of the key is equal, extends its sharing instead. */
  add(key: string, numbers: Uint32Array): Ranking {
    const before = this.#newest.get(key)
    const createdAtMs = this.#clock.monotonicMs()
    if (before !== undefined && isSame(before.numbers, numbers)) {
      this.#remove(before)
      return this.#put({ ...before, createdAtMs })
    }
    this.#lastPin += 1
    const added = this.#put({ pin: this.#lastPin, key, createdAtMs, numbers: numbers.slice() })
    this.#expire(createdAtMs)
    return added
  }

  /** Null if the ranking has expired or has another key. */
  resume(pin: number, key: string): Ranking | null {
    this.#expire(this.#clock.monotonicMs())
    const ranking = this.#pins.get(pin)
    return ranking === undefined || ranking.key !== key ? null : ranking
  }

  /** The ranking of the pin, else the shared ranking, else a new one. Null if the pin has expired. */
  find(pin: number | null, key: string, select: () => Uint32Array): Ranking | null {
    if (pin !== null) return this.resume(pin, key)
    return this.shared(key) ?? this.add(key, select())
  }

  #put(ranking: Ranking): Ranking {
    this.#pins.set(ranking.pin, ranking)
    this.#newest.set(ranking.key, ranking)
    this.#bytes += bytesOf(ranking)
    return ranking
  }

  #remove(ranking: Ranking): void {
    this.#pins.delete(ranking.pin)
    this.#bytes -= bytesOf(ranking)
    if (this.#newest.get(ranking.key) === ranking) this.#newest.delete(ranking.key)
  }

  #expire(nowMs: number): void {
    for (const ranking of this.#pins.values()) {
      const isOld = nowMs - ranking.createdAtMs >= RETAINED_MS
      if (!isOld && (this.#bytes <= BYTES_MAX || this.#pins.size === 1)) return
      this.#remove(ranking)
    }
  }
}

function isSame(one: Uint32Array, other: Uint32Array): boolean {
  return one.length === other.length && bytesIn(one).equals(bytesIn(other))
}

const bytesIn = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

function bytesOf({ numbers, key }: Ranking): number {
  return numbers.byteLength + key.length * 2 + PIN_OVERHEAD_BYTES
}
