// Thread entry: argon2id blocks for some 70 ms, so it never runs on the serving thread, and this
// thread takes a slightly lower priority, which on Linux touches no other: with a much lower one a log-in took
// over four seconds on a machine that does other things, and was refused.

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
    // hash-wasm throws for an empty password and for a broken hash: both are simply wrong.
    return { kind: 'verified', isRight: false }
  }
}
