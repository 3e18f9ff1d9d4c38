// Bounded event queue for one `for await` loop. A full queue drops new events. One gap event then reports their number.

import { gapEvent } from './channel-state.ts'
import type { StreamEvent } from './messages.ts'

export class EventQueue implements AsyncIterableIterator<StreamEvent> {
  readonly #max: number
  readonly #onReturn: (queue: EventQueue) => void
  #events: StreamEvent[] = []
  #next = 0
  #lost = 0
  #isOver = false
  #waiting: ((result: IteratorResult<StreamEvent>) => void)[] = []

  constructor(max: number, onReturn: (queue: EventQueue) => void) {
    this.#max = max
    this.#onReturn = onReturn
  }

  push(event: StreamEvent): void {
    if (this.#isOver) return
    const reader = this.#waiting.shift()
    if (reader !== undefined) return reader({ done: false, value: event })
    // After a drop, all events are dropped until the reader takes the gap event. This preserves the order.
    if (this.#lost > 0 || this.#events.length - this.#next >= this.#max) this.#lost += 1
    else this.#events.push(event)
  }

  end(): void {
    this.#isOver = true
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined })
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const event = this.#events[this.#next]
    if (event !== undefined) {
      this.#next += 1
      if (this.#next === this.#events.length) this.#clear()
      return Promise.resolve({ done: false, value: event })
    }
    if (this.#lost > 0) {
      const lost = { cause: 'reader_slow', state_follows: false, lost: this.#lost } as const
      const value = gapEvent(null, lost)
      this.#lost = 0
      return Promise.resolve({ done: false, value })
    }
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  return(): Promise<IteratorResult<StreamEvent>> {
    this.#onReturn(this)
    this.#clear()
    this.#lost = 0
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #clear(): void {
    this.#events = []
    this.#next = 0
  }
}
