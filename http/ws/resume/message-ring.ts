// A message is stored at its offset modulo the capacity.

export class MessageRing<Message extends { readonly offset: number }> {
  readonly #ring: (Message | undefined)[] = []
  readonly #capacity: number
  #newest: number
  #oldest: number

  /** `offset`: messages that this run has published so far. */
  constructor(offset: number, capacity: number) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = capacity
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
      this.#oldest = offset
    }
    this.#newest = offset
    this.#oldest = Math.max(this.#oldest, offset - this.#capacity + 1)
    this.#ring[offset % this.#capacity] = message
  }

  get(offset: number): Message | null {
    if (offset < this.#oldest || offset > this.#newest) return null
    return this.#ring[offset % this.#capacity] ?? null
  }
}
