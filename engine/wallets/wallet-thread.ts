import { openPool } from '../pool.ts'
import { isWalletResult, type WalletResult, type WalletTask } from './wallet-task.ts'

export interface WalletPort {
  /**
   * Runs a task. Its bytes are transferred, so base and blocks are empty afterwards. Rejects with EngineError:
   * UNAVAILABLE if the queue is full, TIMED_OUT, or INTERNAL if the thread failed.
   */
  run(task: WalletTask): Promise<WalletResult>
  close(): Promise<void>
}

/** Time limit of a task. A hundred thousand fills take about 200 ms on an idle core. */
const TIMEOUT_MS = 60_000
const QUEUE_MAX = 16

/** The first task starts the thread. The thread ends after half a minute without a task. */
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

/** Returns bytes that can be transferred: the given bytes if they own their buffer, else a copy. */
function withOwnBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
