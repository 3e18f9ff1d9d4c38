// Ranked lists, selected at one moment and cached while clients page through them. Each filter is selected at most
// every 5 s and shared by all clients. Rankings expire after 5 minutes, or beyond 64 MiB in total, the oldest first.

import type { Clock } from '../../engine/clock.ts'

const SHARED_MS = 5_000
const RETAINED_MS = 300_000
const BYTES_MAX = 64 * 2 ** 20
const PIN_OVERHEAD_BYTES = 512
/** The first slab is small because few catalogues are large; each next one is twice as large. */
const SLAB_LENGTH_FIRST = 4_096
const SLAB_LENGTH_MAX = 2 ** 19

export interface Ranking {
  readonly pin: number
  /** Key of its filter and order. */
  readonly key: string
  readonly createdAtMs: number
  /** Best first. Overwritten some time after the ranking has expired. */
  readonly numbers: Uint32Array
}

/** Rows of a ranking, its total, and the start of the next page; null: last page. */
interface RankedPage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/**
 * The rows of a ranking from `offset` on. Skips rows that ended since the ranking was selected, so that a page is full
 * while rows remain. Call it right after the ranking was selected or found: its numbers may be overwritten once it
 * expires.
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

interface StoredRanking extends Ranking {
  readonly memory: SlabNumbers
}

/** Rankings by pin. A pin is an integer that is unique within a run. */
export class Rankings {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #slabs = new NumberSlabs()
  readonly #pins = new Map<number, StoredRanking>()
  readonly #newest = new Map<string, Ranking>()
  #bytes = 0
  #lastPin = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** The shared ranking of this key; null if there is none or it is 5 s old. */
  shared(key: string): Ranking | null {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    const shared = this.#newest.get(key)
    return shared !== undefined && nowMs - shared.createdAtMs < SHARED_MS ? shared : null
  }

  /** Caches a copy of a new ranking. If the previous one is equal, renews that one instead. */
  add(key: string, numbers: Uint32Array): Ranking {
    const nowMs = this.#clock.monotonicMs()
    const before = this.#pins.get(this.#newest.get(key)?.pin ?? 0)
    if (before !== undefined && isSame(before.numbers, numbers)) {
      const renewed = { ...before, createdAtMs: nowMs }
      this.#pins.delete(before.pin)
      this.#pins.set(before.pin, renewed)
      this.#newest.set(key, renewed)
      return renewed
    }
    this.#lastPin += 1
    const memory = this.#slabs.copy(numbers)
    const ranking = {
      pin: this.#lastPin,
      key,
      createdAtMs: nowMs,
      numbers: memory.numbers,
      memory,
    }
    this.#pins.set(ranking.pin, ranking)
    this.#newest.set(key, ranking)
    this.#bytes += bytesOf(ranking)
    this.#expire(nowMs)
    return ranking
  }

  /** The ranking of a cursor; null if it has another filter or has expired. */
  resume(pin: number, key: string): Ranking | null {
    this.#expire(this.#clock.monotonicMs())
    const ranking = this.#pins.get(pin)
    return ranking === undefined || ranking.key !== key ? null : ranking
  }

  #expire(nowMs: number): void {
    for (const ranking of this.#pins.values()) {
      const isOld = nowMs - ranking.createdAtMs >= RETAINED_MS
      if (!isOld && (this.#bytes <= BYTES_MAX || this.#pins.size === 1)) return
      this.#pins.delete(ranking.pin)
      this.#bytes -= bytesOf(ranking)
      ranking.memory.end()
      if (this.#newest.get(ranking.key) === ranking) this.#newest.delete(ranking.key)
    }
  }
}

/** Compares bytes, which takes a tenth of the time of comparing a million numbers one by one. */
function isSame(one: Uint32Array, other: Uint32Array): boolean {
  return one.length === other.length && bytesIn(one).equals(bytesIn(other))
}

const bytesIn = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

function bytesOf({ numbers, key }: Ranking): number {
  return numbers.byteLength + key.length * 2 + PIN_OVERHEAD_BYTES
}

interface Slab {
  readonly values: Uint32Array
  usedCount: number
  listCount: number
}

/** A copy; `numbers` are overwritten some time after `end`, which is called once. */
export interface SlabNumbers {
  readonly numbers: Uint32Array
  end(): void
}

/**
 * Memory of rankings, which end roughly in order of creation: a slab is reused when all of its lists have ended. One
 * array per list would make the garbage collector scan the whole heap too often. Bounded by the lists cached at one
 * time, plus a slab at either end.
 */
export class NumberSlabs {
  #current = newSlab(SLAB_LENGTH_FIRST)
  readonly #free: Slab[] = []

  copy(numbers: Uint32Array): SlabNumbers {
    const slab = this.#slabFor(numbers.length)
    const start = slab.usedCount
    slab.usedCount += numbers.length
    slab.listCount += 1
    slab.values.set(numbers, start)
    return {
      numbers: slab.values.subarray(start, slab.usedCount),
      end: () => this.#end(slab),
    }
  }

  #slabFor(length: number): Slab {
    const full = this.#current
    if (full.values.length - full.usedCount >= length) return full
    const index = this.#free.findIndex(({ values }) => values.length >= length)
    const [free] = index < 0 ? [] : this.#free.splice(index, 1)
    const wanted = Math.min(full.values.length * 2, SLAB_LENGTH_MAX)
    this.#current = free ?? newSlab(Math.max(wanted, length))
    if (full.listCount === 0) this.#recycle(full)
    return this.#current
  }

  #end(slab: Slab): void {
    slab.listCount -= 1
    if (slab.listCount > 0) return
    if (slab === this.#current) slab.usedCount = 0
    else this.#recycle(slab)
  }

  /** The small first slabs are left to the garbage collector. */
  #recycle(slab: Slab): void {
    slab.usedCount = 0
    if (slab.values.length >= SLAB_LENGTH_MAX) this.#free.push(slab)
  }
}

function newSlab(length: number): Slab {
  return { values: new Uint32Array(length), usedCount: 0, listCount: 0 }
}
