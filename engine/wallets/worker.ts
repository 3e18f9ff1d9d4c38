// The thread of wallets: it remembers nothing between tasks, and takes a lower priority than the loop.
// Upholds WPOOL1.

import { setPriority } from 'node:os'
import { handedOver } from '../pool.ts'
import { runWalletTask, type WalletTask } from './task.ts'

// Of this thread alone on Linux; elsewhere of whoever calls, which is not worth failing for.
if (process.platform === 'linux') setPriority(0, 10)

/** A WalletResult; packed accounts change hands without a copy. */
export default function work(task: WalletTask): unknown {
  const result = runWalletTask(task)
  return result instanceof Uint8Array ? handedOver(result) : result
}
