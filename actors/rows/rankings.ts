// Ranked lists of markets, events and matches, cut at one moment and kept while clients page through them, so that a
// client that pages to the end sees every row of that moment once. A ranking is cut at most every 5 s a filter and shared
// by all clients; kept 5 minutes; all together at most 64 MiB, beyond which the oldest end.

import type { Clock } from '../../engine/clock.ts'

const SHARED_MS = 5_000
const RETAINED_MS = 300_000
const BYTES_MAX = 64 * 2 ** 20
const PIN_OVERHEAD_BYTES = 512
/** The first slab is small, since few catalogues are large; each next one twice as large. */
const SLAB_LENGTH_FIRST = 4_096
const SLAB_LENGTH_MAX = 2 ** 19

export interface Ranking {
  readonly pin: number
  /** The filter and order for which it was cut. */
  readonly key: string
  readonly createdAtMs: number
  /** Best first; overwritten some time after the ranking ended. */
  readonly numbers: Uint32Array
}

/** Rows of a ranking, how many it has in all, and where the next page begins; null: nothing is left for it. */
interface RankedPage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
  readonly next: { readonly pin: number; readonly offset: number } | null
}

/**
 * The rows of a ranking from `offset` on. What has ended since the ranking was cut is skipped, so that a page is full while
 * rows are left. To be called right after the ranking was cut or found: its numbers may be overwritten once it expires.
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

/** Rankings by pin; a pin is an integer that is never used twice in a run. */
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

  /** The shared ranking of this key; null when there is none or it is 5 s old. */
  shared(key: string): Ranking | null {
    const nowMs = this.#clock.monotonicMs()
    this.#expire(nowMs)
    const shared = this.#newest.get(key)
    return shared !== undefined && nowMs - shared.createdAtMs < SHARED_MS ? shared : null
  }

  /** Keeps a copy of a ranking that was cut just now; an equal one before it is renewed instead. */
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

  /** A ranking that a cursor names; null when it was cut for another filter or is no longer kept. */
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

/** As bytes: of a million numbers a tenth of the time that a look at each takes. */
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
 * Memory of rankings, which end about in the order in which they were cut: slabs that are used again once all of their
 * lists have ended. With an array for each list the garbage collector walked the whole heap for every few dozen lists of
 * a large catalogue. Bounded by the lists kept at one time, and a slab at either end of them.
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

  /** Small slabs of the beginning are left to the garbage collector. */
  #recycle(slab: Slab): void {
    slab.usedCount = 0
    if (slab.values.length >= SLAB_LENGTH_MAX) this.#free.push(slab)
  }
}

function newSlab(length: number): Slab {
  return { values: new Uint32Array(length), usedCount: 0, listCount: 0 }
}
