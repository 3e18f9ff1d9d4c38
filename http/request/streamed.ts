// Writes answers whose bodies are produced while the client reads. At most one chunk of an answer waits for its client. A
// client that takes nothing for `unsentMsMin` loses its connection.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { unsentMsMin } from '../../engine/limits.ts'
import type { Log } from '../../engine/process/log.ts'
import type { Metrics } from '../../engine/process/metrics.ts'

/**
 * Bytes of one write. The library buffers what the socket does not take, and sends it only with the next write. Each
 * write while the socket is ready must therefore be smaller than what the socket takes.
 */
const PIECE_BYTES = 16_384

/** A body that is produced chunk by chunk. */
export interface BodySource {
  /** Is not called again before it resolves, or after the last chunk. */
  next(): Promise<{ readonly bytes: Uint8Array; readonly isLast: boolean }>
  /** Called once, also after the last chunk. */
  close(): void
}

interface StreamedResponse {
  onAborted(handler: () => void): unknown
  onWritable(handler: (offset: number) => boolean): unknown
  cork(action: () => void): unknown
  write(bytes: Uint8Array): boolean
  end(): unknown
  close(): unknown
}

interface StreamParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

export class StreamedAnswers {
  readonly #parts: StreamParts
  readonly #running = new Set<StreamedAnswer>()

  constructor(parts: StreamParts) {
    this.#parts = parts
    const help = 'Streamed answers not yet read whole.'
    parts.metrics.gauge('http_answers_streamed', help, () => this.#running.size)
  }

  /** Takes over a response whose head was written. The caller must not access the response afterwards. */
  send(res: StreamedResponse, source: BodySource): void {
    const answer = new StreamedAnswer(res, source, this.#parts, () => this.#running.delete(answer))
    this.#running.add(answer)
    void answer.run()
  }

  /** Closes the connections of all running answers. */
  stop(): void {
    for (const answer of [...this.#running]) answer.cut()
  }
}

class StreamedAnswer {
  readonly #res: StreamedResponse
  readonly #source: BodySource
  readonly #parts: StreamParts
  readonly #onOver: () => void
  #isOver = false
  #resume: (() => void) | null = null

  constructor(res: StreamedResponse, source: BodySource, parts: StreamParts, onOver: () => void) {
    this.#res = res
    this.#source = source
    this.#parts = parts
    this.#onOver = onOver
    res.onAborted(() => this.#finish())
    res.onWritable(() => {
      this.#resume?.()
      return true
    })
  }

  async run(): Promise<void> {
    try {
      for (;;) {
        const { bytes, isLast } = await this.#source.next()
        if (this.#isOver) return
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          const isTaken = this.#write(bytes.subarray(at, at + PIECE_BYTES))
          if (!isTaken && !(await this.#isWritable())) return this.cut()
          if (this.#isOver) return
        }
        if (!isLast) continue
        this.#res.cork(() => this.#res.end())
        return this.#finish()
      }
    } catch (error) {
      // The head was sent, so a cut connection is the only sign that the body is incomplete.
      if (!this.#isOver) this.#parts.log.error({ err: error }, 'a streamed answer failed')
      this.cut()
    }
  }

  cut(): void {
    if (this.#isOver) return
    this.#finish()
    this.#res.close()
  }

  /** Returns whether the client is ready for more. */
  #write(piece: Uint8Array): boolean {
    let isTaken = true
    this.#res.cork(() => {
      isTaken = this.#res.write(piece)
    })
    return isTaken
  }

  /** Resolves once the client has read enough, with false after `unsentMsMin`. */
  #isWritable(): Promise<boolean> {
    return new Promise((resolve) => {
      const stop: StopTimer = this.#parts.clock.after(unsentMsMin, () => settle(false))
      const settle = (isReady: boolean) => {
        stop()
        this.#resume = null
        resolve(isReady)
      }
      this.#resume = () => settle(true)
    })
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#resume?.()
    this.#source.close()
    this.#onOver()
  }
}
