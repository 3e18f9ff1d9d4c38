// Entry point of the wallet thread. The thread has no state, and a lower priority than the main thread.

import { transferred } from '../pool.ts'
import { lowerThreadPriority } from '../process/thread-priority.ts'
import { runWalletTask, type WalletTask } from './wallet-task.ts'

lowerThreadPriority(10)

export default function work(task: WalletTask): unknown {
  const result = runWalletTask(task)
  return result instanceof Uint8Array ? transferred(result) : result
}
