// Where tallies of wallets are made: in a thread of their own, or in place for tests. Tasks are done in the order
// in which they are given.

import { openPool } from '../pool.ts'
import { isWalletResult, runWalletTask, type WalletResult, type WalletTask } from './wallet-task.ts'

export interface WalletPort {
  /**
   * Does a task and takes its bytes away: base and blocks are empty afterwards. Rejects with EngineError only:
   * UNAVAILABLE when too many wait, TIMED_OUT, INTERNAL when the thread failed.
   */
  run(task: WalletTask): Promise<WalletResult>
  close(): Promise<void>
}

/** A hundred thousand fills take some 200 ms of an idle core; one that is busy all over still has time. */
const TIMEOUT_MS = 60_000
/** Tasks waiting besides the one running; one more is refused. */
const QUEUE_MAX = 16

/** One thread, started by the first task, that ends after half a minute without one. */
export function openWalletThread(): WalletPort {
  const pool = openPool<WalletTask, WalletResult>({
    worker: new URL('./worker.ts', import.meta.url),
    threads: 1,
    queueMax: QUEUE_MAX,
    timeoutMs: TIMEOUT_MS,
    isResult: isWalletResult,
    buffersOf: (task) => {
      const all = task.base === null ? task.blocks : [task.base, ...task.blocks]
      return all.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []))
    },
  })
  return {
    run: ({ base, blocks, markets }) =>
      pool.run({
        base: base === null ? null : withOwnBuffer(base),
        blocks: blocks.map(withOwnBuffer),
        markets,
      }),
    close: () => pool.close(),
  }
}

/** The same without a thread. */
export function walletsInline(): WalletPort {
  return {
    run: async (task) => runWalletTask(task),
    close: async () => undefined,
  }
}

/** Bytes that have their buffer to themselves, so that it may go to the thread; a copy where they share it. */
function withOwnBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
