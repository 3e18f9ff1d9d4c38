// The thread of wallets: it remembers nothing between tasks, and takes a lower priority than the loop.

import { transferred } from '../pool.ts'
import { lowerThreadPriority } from '../process/thread-priority.ts'
import { runWalletTask, type WalletTask } from './wallet-task.ts'

lowerThreadPriority(10)

/** A WalletResult; packed tallies change hands without a copy. */
export default function work(task: WalletTask): unknown {
  const result = runWalletTask(task)
  return result instanceof Uint8Array ? transferred(result) : result
}
