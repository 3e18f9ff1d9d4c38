// Password hashing through the real pool of threads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineError } from '../../engine/errors.ts'
import { passwordQueueMax } from '../../engine/limits.ts'
import { openPasswordPool } from '../../engine/passwords/passwords.ts'

test('[PASS1] a password is hashed with argon2id in a thread and recognised again', async () => {
  const pool = openPasswordPool()
  try {
    const encoded = await pool.hash('correct horse')
    assert.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(await pool.verify('correct horse', encoded), true)
    assert.equal(await pool.verify('wrong horse', encoded), false)
    assert.equal(await pool.verify('', encoded), false)
    assert.equal(await pool.verify('correct horse', 'no hash at all'), false)
  } finally {
    await pool.close()
  }
})

test('[PASS2] beyond its queue the pool refuses and keeps serving those it took', async () => {
  const pool = openPasswordPool()
  try {
    const tries = await Promise.allSettled(
      Array.from({ length: 90 }, () => pool.verify('x', 'broken')),
    )
    const refused = tries.flatMap((item) => (item.status === 'rejected' ? [item.reason] : []))
    assert.ok(
      refused.length > 0 && tries.length - refused.length >= passwordQueueMax,
      `${refused.length} refused`,
    )
    assert.ok(
      refused.every((error) => error instanceof EngineError && error.code === 'UNAVAILABLE'),
    )
  } finally {
    await pool.close()
  }
})
