// Runs the tasks of the tape's thread. Keeps the open files between tasks. Writes are synchronous, because the thread
// has nothing else to do.

import type { TapeDisk } from './disk.ts'
import type { TapeResult, TapeTask } from './tape-task.ts'
import { TapeWriter, type WriteFailure } from './writer.ts'

/** Free space and ended hours are checked at most this often. */
const CHECK_EVERY_US = 2_000_000

export class TapeTaskRunner {
  readonly #disk: TapeDisk
  #writer: TapeWriter | null = null
  #isDiskFull = false
  #checkedUs = 0

  constructor(disk: TapeDisk) {
    this.#disk = disk
  }

  run(task: TapeTask): TapeResult {
    try {
      if (task.kind === 'open') return this.#open(task)
      if (task.kind === 'write') return this.#write(task)
      return this.#close()
    } catch (error) {
      return { kind: 'failed', reason: error instanceof Error ? error.message : 'unknown' }
    }
  }

  #open({ settings, nowUs }: Extract<TapeTask, { kind: 'open' }>): TapeResult {
    this.#close()
    const writer = new TapeWriter(settings, this.#disk, nowUs)
    this.#writer = writer
    this.#checkedUs = 0
    return { kind: 'opened', firstUs: writer.firstUs, size: writer.size }
  }

  #write({ batches, nowUs }: Extract<TapeTask, { kind: 'write' }>): TapeResult {
    const writer = this.#writer
    if (writer === null) return { kind: 'failed', reason: 'not open' }
    if (Math.abs(nowUs - this.#checkedUs) >= CHECK_EVERY_US) {
      this.#checkedUs = nowUs
      this.#isDiskFull = writer.isDiskFull()
      // Also on a full disk, because it removes old hours.
      writer.tick(nowUs)
    }
    const failures = batches.map((batch): WriteFailure | null =>
      this.#isDiskFull ? 'disk_full' : writer.append(batch),
    )
    const { lastError, size } = writer
    return { kind: 'written', failures, lastError, size }
  }

  #close(): TapeResult {
    const failure = this.#writer?.close() ?? null
    this.#writer = null
    return failure === null ? { kind: 'closed' } : { kind: 'failed', reason: failure }
  }
}
