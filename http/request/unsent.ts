// Stores the unsent rest of answers and writes it as fast as the client reads. uWebSockets.js closes a connection on
// which a request arrives while an answer is pending, so a connection has at most one unsent answer. Above the limit of
// bytes, the account or address with the most bytes loses its largest answer.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { unsentBytesMax, unsentBytesPerSecondMin, unsentMsMin } from '../../engine/limits.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'

export interface Rest {
  /** Must not change until they are sent. */
  readonly bytes: Uint8Array
  readonly sentCount: number
  readonly length: number
  /** The bytes belong to a file, which many answers share. */
  readonly isShared: boolean
  readonly holder: string
}

interface UnsentResponse {
  onAborted(handler: () => void): unknown
  onWritable(handler: (offset: number) => boolean): unknown
  tryEnd(bytes: Uint8Array, length: number): [isTaken: boolean, isOver: boolean]
  close(): unknown
}

interface Held {
  readonly res: UnsentResponse
  readonly holder: string
  readonly heldCount: number
  readonly stopDeadline: StopTimer
}

export class UnsentAnswers {
  readonly #clock: Clock
  readonly #bytesMax: number
  readonly #held = new Set<Held>()
  readonly #countOf = new Map<string, number>()
  readonly #cutCount: Count
  #heldCount = 0

  constructor(
    { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
    bytesMax = unsentBytesMax,
  ) {
    this.#clock = clock
    this.#bytesMax = bytesMax
    this.#cutCount = metrics.count(
      'http_answers_cut_total',
      'Answers whose connection was ended because they were not read in time, or all together held too much.',
    )
    metrics.gauge('http_answers_unsent', 'Answers not yet read whole.', () => this.count)
    metrics.gauge('http_unsent_bytes', 'Bytes held for them.', () => this.#heldCount)
  }

  get count(): number {
    return this.#held.size
  }

  /** Takes over a response that was started with `tryEnd`. The caller must not access the response afterwards. */
  hold(res: UnsentResponse, { bytes, sentCount, length, isShared, holder }: Rest): void {
    const readMs = ((length - sentCount) / unsentBytesPerSecondMin) * 1_000
    const heldCount = isShared ? 0 : bytes.buffer.byteLength
    const held: Held = {
      res,
      holder,
      heldCount,
      stopDeadline: this.#clock.after(unsentMsMin + readMs, () => this.#cut(held)),
    }
    this.#held.add(held)
    this.#count(holder, heldCount)
    res.onAborted(() => this.#release(held))
    res.onWritable((offset) => {
      const [isTaken, isOver] = res.tryEnd(bytes.subarray(offset - sentCount), length)
      if (isOver) this.#release(held)
      return isTaken
    })
    // Close in a later tick, since the newest response may be the largest and is still being written.
    if (this.#heldCount > this.#bytesMax) setImmediate(() => this.#cutLargest())
  }

  #cutLargest(): void {
    while (this.#heldCount > this.#bytesMax) {
      const most = Math.max(...this.#countOf.values())
      let largest: Held | null = null
      for (const held of this.#held) {
        if (this.#countOf.get(held.holder) !== most) continue
        if (largest === null || held.heldCount > largest.heldCount) largest = held
      }
      if (largest === null) return
      this.#cut(largest)
    }
  }

  #cut(held: Held): void {
    if (!this.#held.has(held)) return
    this.#cutCount.inc()
    this.#release(held)
    held.res.close()
  }

  #release(held: Held): void {
    if (!this.#held.delete(held)) return
    this.#count(held.holder, -held.heldCount)
    held.stopDeadline()
  }

  #count(holder: string, change: number): void {
    this.#heldCount += change
    const count = (this.#countOf.get(holder) ?? 0) + change
    if (count > 0) this.#countOf.set(holder, count)
    else this.#countOf.delete(holder)
  }
}
