// A bounded queue that serves requesters in turn, whatever each of them adds.

/**
 * Names of those that cause a piece of work: an account, an address, or both. Each name has its share, so neither many
 * accounts of one address nor many addresses of one account get more.
 */
export type Requester = readonly string[]

/** Work that no user asked for. */
export const SYSTEM: Requester = ['system']

/** Names whose last turn is remembered; full: the one served longest ago is forgotten and counts as never served. */
const SERVED_MAX = 10_000

interface Entry<Item> {
  readonly requester: Requester
  readonly item: Item
}

/** Full: the newest item of the requester with most waiting is dropped. */
export class FairQueue<Item> {
  readonly #waitingMax: number
  /** Oldest first. */
  #waiting: readonly Entry<Item>[] = []
  /** The number of the last turn of each name. */
  readonly #served = new Map<string, number>()
  #turns = 0

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Whether an item of this requester would be dropped at once. */
  isFull(requester: Requester): boolean {
    return this.#surplus(requester) === null
  }

  /** Adds an item; returns the one that is dropped for it, which may be this one, or null. */
  add(requester: Requester, item: Item): Item | null {
    const surplus = this.#surplus(requester)
    if (surplus === null) return item
    this.#waiting = [...this.#waiting.filter((entry) => entry !== surplus), { requester, item }]
    return surplus === 'none' ? null : surplus.item
  }

  /**
   * The item whose turn is next: of the requester with the lowest `load`, and of equal ones of the one that was served
   * longest ago. Null: there is none, or each load is infinite.
   */
  peek(load: (requester: Requester) => number = () => 0): Item | null {
    return this.#first(load)?.item ?? null
  }

  /** Takes that item out. */
  next(load: (requester: Requester) => number = () => 0): Item | null {
    const first = this.#first(load)
    if (first === null) return null
    this.#waiting = this.#waiting.filter((entry) => entry !== first)
    this.note(first.requester)
    return first.item
  }

  /** Counts a turn of a requester that did not have to wait. */
  note(requester: Requester): void {
    this.#turns += 1
    for (const name of requester) {
      this.#served.delete(name)
      this.#served.set(name, this.#turns)
    }
    for (const oldest of this.#served.keys()) {
      if (this.#served.size <= SERVED_MAX) break
      this.#served.delete(oldest)
    }
  }

  /** Takes an item out before its turn; false: it does not wait. */
  remove(item: Item): boolean {
    const { length } = this.#waiting
    this.#waiting = this.#waiting.filter((entry) => entry.item !== item)
    return this.#waiting.length < length
  }

  /** Takes out all items. */
  clear(): readonly Item[] {
    const items = this.#waiting.map(({ item }) => item)
    this.#waiting = []
    return items
  }

  #first(load: (requester: Requester) => number): Entry<Item> | null {
    let first: Entry<Item> | null = null
    let least = { load: Number.POSITIVE_INFINITY, served: 0 }
    for (const entry of this.#waiting) {
      const own = { load: load(entry.requester), served: this.#lastTurn(entry.requester) }
      if (own.load > least.load || own.load === Number.POSITIVE_INFINITY) continue
      if (first !== null && own.load === least.load && own.served >= least.served) continue
      first = entry
      least = own
    }
    return first
  }

  #lastTurn(requester: Requester): number {
    return Math.max(...requester.map((name) => this.#served.get(name) ?? 0))
  }

  /** What must go for one more item of a requester; null: that item itself. */
  #surplus(requester: Requester): Entry<Item> | 'none' | null {
    if (this.#waiting.length < this.#waitingMax) return 'none'
    const counts = new Map<string, number>()
    for (const entry of this.#waiting) {
      for (const name of entry.requester) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    const countOf = (names: Requester) => Math.max(...names.map((name) => counts.get(name) ?? 0))
    const longest = this.#waiting.reduce<Entry<Item> | null>(
      (most, entry) =>
        most !== null && countOf(entry.requester) < countOf(most.requester) ? most : entry,
      null,
    )
    if (longest === null || countOf(longest.requester) <= countOf(requester) + 1) return null
    return longest
  }
}
