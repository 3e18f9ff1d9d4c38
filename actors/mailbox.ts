// The bounded queue before each actor. Full: the newest message is refused, and the caller tells the
// actor, which resynchronises (books) or announces the loss (trades). An idle mailbox holds nothing,
// so that forty thousand of them cost little. Upholds MAIL1.

/** A first-in-first-out queue of at most `capacity` messages. */
export class Mailbox<Message> {
  readonly #capacity: number
  #queue: Message[] | null = null
  #head = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#queue === null ? 0 : this.#queue.length - this.#head
  }

  /** False when full: the message was not taken. */
  push(message: Message): boolean {
    if (this.#queue === null) {
      this.#queue = [message]
      this.#head = 0
      return true
    }
    if (this.count >= this.#capacity) return false
    this.#queue.push(message)
    return true
  }

  /** The oldest message, or undefined when empty. */
  shift(): Message | undefined {
    if (this.#queue === null) return undefined
    const message = this.#queue[this.#head]
    this.#head += 1
    if (this.#head >= this.#queue.length) {
      this.#queue = null
    } else if (this.#head >= 1_024) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return message
  }
}
