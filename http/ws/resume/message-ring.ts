// The newest messages of a channel in this run, by offset, for connections that lagged or resume. A
// ring of references: when it is full the oldest is overwritten, and a connection that needed it gets a gap.
//
//   offset:   …  n-2   n-1    n  │ n-max+1 …
//   slot:     …  offset % capacity
//
// Not for: what comes from the database (message-log.ts), book updates (update-ring.ts). Upholds RESUME1.

/** What stands in a ring: anything that has an offset. */
interface Placed {
  readonly offset: number
}

/** A bounded memory of messages. */
export class MessageRing<Message extends Placed> {
  readonly #ring: (Message | undefined)[] = []
  readonly #capacity: number
  #newest: number
  #oldest: number

  /** `offset`: how many messages this run has published already. */
  constructor(offset: number, capacity: number) {
    this.#newest = offset
    this.#oldest = offset + 1
    this.#capacity = capacity
  }

  /** The offset of the newest message. */
  get newest(): number {
    return this.#newest
  }

  /** The offset of the oldest message kept; newest + 1 when none is. */
  get oldest(): number {
    return this.#oldest
  }

  push(message: Message): void {
    const { offset } = message
    // A hole means that a message was never sent; what lies before it cannot be replayed whole.
    if (offset !== this.#newest + 1) {
      this.#ring.fill(undefined)
      this.#oldest = offset
    }
    this.#newest = offset
    this.#oldest = Math.max(this.#oldest, offset - this.#capacity + 1)
    this.#ring[offset % this.#capacity] = message
  }

  /** Null when it is not kept. */
  get(offset: number): Message | null {
    if (offset < this.#oldest || offset > this.#newest) return null
    return this.#ring[offset % this.#capacity] ?? null
  }
}
