// A ring buffer of published messages. A message is stored at its offset modulo the capacity.

interface Bounds<Message> {
  readonly capacity: number
  /** Limit of the sum of all messages' weights, in addition to the capacity. */
  readonly weightMax?: number
  readonly weightOf?: (message: Message) => number
}

export class MessageRing<Message extends { readonly offset: number }> {
  readonly #ring: (Message | undefined)[] = []
  readonly #capacity: number
  readonly #weightMax: number
  readonly #weightOf: (message: Message) => number
  #newest: number
  #oldest: number
  #weight = 0

  /** `offset`: number of messages that this run has published so far. */
  constructor(
    offset: number,
    { capacity, weightMax = Number.POSITIVE_INFINITY, weightOf = () => 0 }: Bounds<Message>,
  ) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = capacity
    this.#weightMax = weightMax
    this.#weightOf = weightOf
  }

  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest retained message, or the next offset if the buffer is empty. */
  get oldest(): number {
    return this.#oldest
  }

  push(message: Message): void {
    const { offset } = message
    // The missing messages were never sent, so a replay across them would be incomplete.
    if (offset !== this.#newest + 1) {
      this.#ring.fill(undefined)
      this.#weight = 0
      this.#oldest = offset
    }
    this.#newest = offset
    if (offset - this.#oldest >= this.#capacity) this.#evict()
    this.#ring[offset % this.#capacity] = message
    this.#weight += this.#weightOf(message)
    while (this.#weight > this.#weightMax) this.#evict()
  }

  #evict(): void {
    const slot = this.#oldest % this.#capacity
    const message = this.#ring[slot]
    if (message !== undefined) this.#weight -= this.#weightOf(message)
    this.#ring[slot] = undefined
    this.#oldest += 1
  }

  /** Null if the message is not retained. */
  get(offset: number): Message | null {
    if (offset < this.#oldest || offset > this.#newest) return null
    return this.#ring[offset % this.#capacity] ?? null
  }
}
