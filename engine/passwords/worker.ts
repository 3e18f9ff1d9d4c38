// Entry point of the password thread. A hash blocks the thread for about 70 ms. The thread's priority is only slightly
// lower than the main thread's, because log-ins would time out on a busy machine.

import { argon2id, argon2Verify } from 'hash-wasm'
import { lowerThreadPriority } from '../process/thread-priority.ts'
import { ARGON2ID, type PasswordResult, type PasswordTask } from './password-task.ts'

lowerThreadPriority(2)

export default async function work(task: PasswordTask): Promise<PasswordResult> {
  if (task.kind === 'hash') {
    const { password, salt } = task
    const encoded = await argon2id({ password, salt, ...ARGON2ID, outputType: 'encoded' })
    return { kind: 'hashed', encoded }
  }
  try {
    const isRight = await argon2Verify({ password: task.password, hash: task.encoded })
    return { kind: 'verified', isRight }
  } catch {
    // hash-wasm throws for an empty password and for a malformed hash. Both count as a wrong password.
    return { kind: 'verified', isRight: false }
  }
}
