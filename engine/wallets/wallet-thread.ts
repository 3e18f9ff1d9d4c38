// Computes PnL states of wallets in a thread of its own. Tasks run in order.

import { openPool } from '../pool.ts'
import { isWalletResult, type WalletResult, type WalletTask } from './wallet-task.ts'

export interface WalletPort {
  /**
   * Runs a task and takes its bytes: base and blocks are empty afterwards. Rejects with EngineError only:
   * UNAVAILABLE when the queue is full, TIMED_OUT, INTERNAL when the thread failed.
   */
  run(task: WalletTask): Promise<WalletResult>
  close(): Promise<void>
}

/** A hundred thousand fills take some 200 ms of an idle core. The limit leaves room for a fully loaded one. */
const TIMEOUT_MS = 60_000
/** Waiting tasks besides the running one. Further tasks are rejected. */
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

/** The bytes if they have a buffer of their own, which can be transferred to the thread. Otherwise a copy. */
function withOwnBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
