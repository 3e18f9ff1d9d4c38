/**
 * The names to which work is charged: an account, an address, or both. Each name has its own share. An account
 * therefore gets no larger share by using many addresses, and an address none by using many accounts.
 */
export type Requester = readonly string[]

export const SYSTEM: Requester = ['system']

interface Entry<Item> {
  readonly item: Item
  readonly number: number
  /**
   * Lower bound for the time at which the requester was last served. It prevents items of new requesters from
   * overtaking this item forever.
   */
  readonly servedMin: number
}

interface Group<Item> {
  readonly requester: Requester
  readonly entries: [Entry<Item>, ...Entry<Item>[]]
}

/**
 * A bounded queue that serves requesters in rotation. A full queue drops the newest item of the requester with the most
 * waiting items.
 */
export class FairQueue<Item> {
  readonly #waitingMax: number
  readonly #groups = new Map<string, Group<Item>>()
  /** When each name was last served, as a counter, oldest first. It has at most as many entries as items may wait. */
  readonly #served = new Map<string, number>()
  #size = 0
  #added = 0
  #turns = 0

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax
  }

  get size(): number {
    return this.#size
  }

  isFull(requester: Requester): boolean {
    return this.#surplus(requester) === null
  }

  /** Adds an item. Returns the item that is dropped for it, which may be the added item, or null. */
  add(requester: Requester, item: Item): Item | null {
    const surplus = this.#surplus(requester)
    if (surplus === null) return item
    const dropped = surplus === 'none' ? null : this.#takeOut(surplus, -1)
    this.#added += 1
    const entry = { item, number: this.#added, servedMin: this.#turns - this.#waitingMax }
    const name = requester.join('\n')
    const own = this.#groups.get(name)
    if (own === undefined) this.#groups.set(name, { requester, entries: [entry] })
    else own.entries.push(entry)
    this.#size += 1
    return dropped
  }

  /**
   * The next item: of the requester with the lowest `load`, and among equal loads of the requester that was served
   * longest ago. Null if the queue is empty or every load is infinite.
   */
  peek(load: (requester: Requester) => number = () => 0): Item | null {
    return this.#first(load)?.entries[0].item ?? null
  }

  next(load: (requester: Requester) => number = () => 0): Item | null {
    const first = this.#first(load)
    if (first === null) return null
    this.note(first.requester)
    return this.#takeOut(first, 0)
  }

  note(requester: Requester): void {
    this.#turns += 1
    for (const name of requester) {
      this.#served.delete(name)
      this.#served.set(name, this.#turns)
    }
    for (const [name, turn] of this.#served) {
      if (turn >= this.#turns - this.#waitingMax) break
      this.#served.delete(name)
    }
  }

  remove(item: Item): boolean {
    for (const group of this.#groups.values()) {
      const index = group.entries.findIndex((entry) => entry.item === item)
      if (index === -1) continue
      this.#takeOut(group, index)
      return true
    }
    return false
  }

  clear(): readonly Item[] {
    const items = [...this.#groups.values()].flatMap(({ entries }) =>
      entries.map(({ item }) => item),
    )
    this.#groups.clear()
    this.#size = 0
    return items
  }

  #takeOut(group: Group<Item>, index: number): Item | null {
    const [entry] = group.entries.splice(index, 1)
    if (group.entries.length === 0) this.#groups.delete(group.requester.join('\n'))
    this.#size -= 1
    return entry?.item ?? null
  }

  #first(load: (requester: Requester) => number): Group<Item> | null {
    let first: Group<Item> | null = null
    let least = { load: Number.POSITIVE_INFINITY, served: 0, number: 0 }
    for (const group of this.#groups.values()) {
      const [{ number, servedMin }] = group.entries
      const own = { load: load(group.requester), served: servedMin, number }
      if (own.load > least.load || own.load === Number.POSITIVE_INFINITY) continue
      for (const name of group.requester) {
        own.served = Math.max(own.served, this.#served.get(name) ?? 0)
      }
      if (first !== null && own.load === least.load) {
        if (own.served > least.served) continue
        if (own.served === least.served && own.number > least.number) continue
      }
      first = group
      least = own
    }
    return first
  }

  /**
   * The group whose newest item must be dropped to add an item of this requester. 'none': the queue is not full. Null:
   * the new item must be dropped.
   */
  #surplus(requester: Requester): Group<Item> | 'none' | null {
    if (this.#size < this.#waitingMax) return 'none'
    const counts = new Map<string, number>()
    for (const { requester: names, entries } of this.#groups.values()) {
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + entries.length)
    }
    const countOf = (names: Requester) => Math.max(...names.map((name) => counts.get(name) ?? 0))
    let longest: { readonly group: Group<Item>; count: number; newest: number } | null = null
    for (const group of this.#groups.values()) {
      const own = {
        group,
        count: countOf(group.requester),
        newest: group.entries.at(-1)?.number ?? 0,
      }
      if (longest !== null && own.count < longest.count) continue
      if (longest !== null && own.count === longest.count && own.newest < longest.newest) continue
      longest = own
    }
    if (longest === null || longest.count <= countOf(requester) + 1) return null
    return longest.group
  }
}
