import type { ReplayChunk } from '../../../actors/views.ts'

/** The messages of a chunk in order. */
export class TimedFrames {
  readonly #chunk: ReplayChunk
  readonly #count: number
  #next = 0

  constructor(chunk: ReplayChunk) {
    this.#chunk = chunk
    this.#count = chunk.marks.length / 2
  }

  get isDone(): boolean {
    return this.#next >= this.#count
  }

  /** Whether the replay ends after these messages. */
  get isLast(): boolean {
    return this.#chunk.isLast
  }

  /** The time of the next message, or of the messages after this chunk. In microseconds. */
  get us(): number {
    return this.#chunk.marks[2 * this.#next] ?? this.#chunk.endUs
  }

  /** The time of the message that was taken last. Null: none was taken. */
  get takenUs(): number | null {
    return this.#chunk.marks[2 * this.#next - 2] ?? null
  }

  take(): Uint8Array {
    const start = this.#chunk.marks[2 * this.#next - 1] ?? 0
    const end = this.#chunk.marks[2 * this.#next + 1] ?? start
    this.#next += 1
    return this.#chunk.bytes.subarray(start, end)
  }
}
