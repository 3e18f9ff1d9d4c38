// Entry point of the wallet thread. It is stateless, and has a lower priority than the event loop.

import { transferred } from '../pool.ts'
import { lowerThreadPriority } from '../process/thread-priority.ts'
import { runWalletTask, type WalletTask } from './wallet-task.ts'

lowerThreadPriority(10)

/** Returns a WalletResult. Packed states are transferred without a copy. */
export default function work(task: WalletTask): unknown {
  const result = runWalletTask(task)
  return result instanceof Uint8Array ? transferred(result) : result
}
