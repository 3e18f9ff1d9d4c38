// Memory for lists of numbers that are kept for a while and end about in the order in which they came: cut from slabs that
// are used again once all of their lists have ended. With an array for each list the garbage collector walked the whole
// heap for every few dozen lists of a large catalogue. Not for: when a list ends (actors/rows/rankings.ts). Upholds RANK6.

/** The first slab is small, since few catalogues are large; each next one twice as large. */
const SLAB_LENGTH_FIRST = 4_096
const SLAB_LENGTH_MAX = 2 ** 19

interface Slab {
  readonly values: Uint32Array
  usedCount: number
  keptCount: number
}

/** A copy; `numbers` are overwritten some time after `end`, which is called once. */
export interface KeptNumbers {
  readonly numbers: Uint32Array
  end(): void
}

/** Bounded by the lists kept at one time, and a slab at either end of them. */
export class NumberSlabs {
  #current = newSlab(SLAB_LENGTH_FIRST)
  readonly #free: Slab[] = []

  keep(numbers: Uint32Array): KeptNumbers {
    const slab = this.#slabFor(numbers.length)
    const start = slab.usedCount
    slab.usedCount += numbers.length
    slab.keptCount += 1
    slab.values.set(numbers, start)
    return {
      numbers: slab.values.subarray(start, slab.usedCount),
      end: () => this.#end(slab),
    }
  }

  #slabFor(length: number): Slab {
    const full = this.#current
    if (full.values.length - full.usedCount >= length) return full
    const place = this.#free.findIndex(({ values }) => values.length >= length)
    const [free] = place < 0 ? [] : this.#free.splice(place, 1)
    const wanted = Math.min(full.values.length * 2, SLAB_LENGTH_MAX)
    this.#current = free ?? newSlab(Math.max(wanted, length))
    if (full.keptCount === 0) this.#recycle(full)
    return this.#current
  }

  #end(slab: Slab): void {
    slab.keptCount -= 1
    if (slab.keptCount > 0) return
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
  return { values: new Uint32Array(length), usedCount: 0, keptCount: 0 }
}
