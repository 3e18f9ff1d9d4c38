// The bounded queue before each actor. Each message keeps when it came, so that its age is known. Full: the
// system drops what the actor can do without, else refuses the newest message (actors/system.ts). An idle
// mailbox holds nothing, so that forty thousand of them cost little. Upholds MAIL1, MAIL2.

/** What has been read is cut off once so many places of it are at the front. */
const CUT_COUNT = 1_024

/** A first-in-first-out queue of at most `capacity` messages. */
export class Mailbox<Message> {
  readonly #capacity: number
  #queue: Message[] | null = null
  /** When each message of the queue came, in milliseconds of the monotonic clock. */
  #times: number[] = []
  #head = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#queue === null ? 0 : this.#queue.length - this.#head
  }

  /** When the oldest message came; null when empty. */
  get oldestAtMs(): number | null {
    return this.#queue === null ? null : (this.#times[this.#head] ?? null)
  }

  /** False when full: the message was not taken. */
  push(message: Message, nowMs: number): boolean {
    if (this.#queue === null) {
      this.#queue = [message]
      this.#times = [nowMs]
      this.#head = 0
      return true
    }
    if (this.count >= this.#capacity) return false
    this.#queue.push(message)
    this.#times.push(nowMs)
    return true
  }

  /** The oldest message, or undefined when empty. */
  shift(): Message | undefined {
    if (this.#queue === null) return undefined
    const message = this.#queue[this.#head]
    this.#head += 1
    if (this.#head >= this.#queue.length) {
      this.#queue = null
      this.#times = []
    } else if (this.#head >= CUT_COUNT) {
      this.#queue = this.#queue.slice(this.#head)
      this.#times = this.#times.slice(this.#head)
      this.#head = 0
    }
    return message
  }

  /** Removes all messages that pass the test, and returns them; the others keep their order. */
  remove(test: (message: Message) => boolean): readonly Message[] {
    const removed: Message[] = []
    const [queue, times, head] = [this.#queue ?? [], this.#times, this.#head]
    this.#queue = null
    for (let place = head; place < queue.length; place += 1) {
      const message = queue[place]
      if (message === undefined) continue
      if (test(message)) removed.push(message)
      else this.push(message, times[place] ?? 0)
    }
    return removed
  }
}
