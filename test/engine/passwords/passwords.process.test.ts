import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argon2Verify } from 'hash-wasm'
import { EngineError } from '../../../engine/errors.ts'
import { passwordQueueMax, passwordWaitMsMax } from '../../../engine/limits.ts'
import { type HashRequester, openPasswordPool } from '../../../engine/passwords/passwords.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const STRANGER: HashRequester = { network: '192.0.2.1', class: 'logIn' }

test('hashes a password with argon2id in a worker thread and verifies the password', async () => {
  const pool = openPasswordPool(new ManualClock())
  try {
    const encoded = await pool.hash('correct horse', STRANGER)
    assert.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(await pool.verify('correct horse', encoded, STRANGER), true)
    assert.equal(await pool.verify('wrong horse', encoded, STRANGER), false)
    assert.equal(await pool.verify('', encoded, STRANGER), false)
    assert.equal(await pool.verify('correct horse', 'no hash at all', STRANGER), false)
  } finally {
    await pool.close()
  }
})

test('refuses a password task that waited too long in the queue, and finishes a running task', async () => {
  const clock = new ManualClock()
  const begun: string[] = []
  const ends: (() => void)[] = []
  const pool = openPasswordPool(clock, {
    run: (task) => {
      begun.push(task.password)
      return new Promise((resolve) => ends.push(() => resolve({ kind: 'verified', isRight: true })))
    },
    close: async () => undefined,
  })
  const endOne = async () => {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [slow, late, ...others] = ['slow', 'late', 'late too'].map((text) =>
    pool.verify(text, '', STRANGER),
  )
  const refusals = Promise.allSettled([late, ...others])
  clock.advance(passwordWaitMsMax)
  const inTime = pool.verify('in time', '', STRANGER)
  clock.advance(1)
  await endOne()
  assert.equal(await slow, true, 'a running task has no time limit')
  for (const one of await refusals) {
    assert.ok(one.status === 'rejected' && one.reason instanceof EngineError)
    assert.equal(one.reason.code, 'UNAVAILABLE')
    assert.ok((one.reason.retryAfterSeconds ?? 0) >= 1)
  }
  await endOne()
  assert.equal(await inTime, true)
  assert.deepEqual(begun, ['slow', 'in time'])
})

test('provides a valid decoy hash of equal cost that matches no password', async () => {
  const pool = openPasswordPool(new ManualClock())
  try {
    const shape = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/
    assert.match(pool.decoyHash, shape)
    assert.match(await pool.hash('correct horse', STRANGER), shape)
    assert.equal(await pool.verify('correct horse', pool.decoyHash, STRANGER), false)
    // The reference implementation rejects a malformed hash, and returns false for a different valid hash.
    assert.equal(await argon2Verify({ password: 'x', hash: pool.decoyHash }), false)
    await assert.rejects(argon2Verify({ password: 'x', hash: pool.decoyHash.slice(0, 40) }))
  } finally {
    await pool.close()
  }
})

test('refuses password tasks beyond the queue limit and completes the accepted tasks', async () => {
  const pool = openPasswordPool(new ManualClock())
  try {
    const tries = await Promise.allSettled(
      Array.from({ length: 90 }, (_, index) =>
        pool.verify('x', 'broken', {
          network: `n ${index}`,
          class: index % 2 === 0 ? 'known' : 'logIn',
        }),
      ),
    )
    const refused = tries.flatMap((item) => (item.status === 'rejected' ? [item.reason] : []))
    assert.ok(
      refused.length > 0 && tries.length - refused.length >= 2 * passwordQueueMax,
      `${refused.length} refused`,
    )
    assert.ok(
      refused.every((error) => error instanceof EngineError && error.code === 'UNAVAILABLE'),
    )
  } finally {
    await pool.close()
  }
})

/** A task ends when the test calls `endOne`. `begun` contains the passwords of started tasks. */
function openHeldPool() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const pool = openPasswordPool(new ManualClock(), {
    run: (task) => {
      begun.push(task.password)
      return new Promise((resolve) => ends.push(() => resolve({ kind: 'verified', isRight: true })))
    },
    close: async () => undefined,
  })
  const endOne = async () => {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const endAll = async () => {
    while (ends.length > 0) await endOne()
  }
  return { pool, begun, endOne, endAll }
}

test('verifies at most one password of every other network before it verifies a waiting client’s password', async () => {
  const { pool, begun, endAll } = openHeldPool()
  const attacker: HashRequester = { network: '2001:db8:0::/48', class: 'logIn' }
  const flood = Array.from({ length: 300 }, (_, n) => pool.verify(`attack ${n}`, '', attacker))
  const settled = Promise.allSettled(flood)
  const bystander = pool.verify('bystander', '', STRANGER)
  const existing = pool.verify('known', '', { network: '198.51.100.7', class: 'known' })
  await endAll()
  assert.deepEqual(await Promise.all([bystander, existing]), [true, true])
  assert.deepEqual(begun.slice(0, 4).sort(), ['attack 0', 'attack 1', 'bystander', 'known'])
  const refused = (await settled).filter(({ status }) => status === 'rejected')
  assert.ok(refused.length >= 299 - passwordQueueMax)
})

test('verifies the password of a known client next when unknown clients fill the queue', async () => {
  for (const earlierCount of [1, 2]) {
    const { pool, begun, endAll, endOne } = openHeldPool()
    const flood = Array.from({ length: 8 }, (_, n) =>
      pool.verify(`attack ${n}`, '', { network: `2001:db8:${n}::/48`, class: 'logIn' }),
    )
    for (let count = 0; count < earlierCount; count += 1) await endOne()
    const existing = pool.verify('known', '', { network: '192.0.2.9', class: 'known' })
    await endAll()
    assert.deepEqual(await Promise.all([...flood, existing]), Array(9).fill(true))
    assert.equal(begun.indexOf('known'), earlierCount + 1)
  }
})

test('verifies passwords of unknown clients at log-in while clients of 50 networks sign up repeatedly', async () => {
  const { pool, begun, endAll, endOne } = openHeldPool()
  const attacks: Promise<unknown>[] = []
  const signUpFromAllNetworks = () => {
    for (let n = 0; n < 50; n += 1) {
      const requester: HashRequester = { network: `2001:db8:${n}::/48`, class: 'signUp' }
      attacks.push(pool.hash('attack', requester).catch(() => undefined))
    }
  }
  signUpFromAllNetworks()
  const logIns = Array.from({ length: 9 }, (_, n) =>
    pool.verify(`log-in ${n}`, '', { network: `198.51.100.${n}`, class: 'logIn' }),
  )
  for (let count = 0; count < 18; count += 1) {
    signUpFromAllNetworks()
    await endOne()
  }
  const first = begun.slice(1, 19)
  assert.equal(first.filter((password) => password.startsWith('log-in')).length, 9)
  await endAll()
  assert.deepEqual(await Promise.all(logIns), Array(9).fill(true))
  await Promise.all(attacks)
})

test('hashes passwords of sign-ups while clients of 50 networks log in repeatedly', async () => {
  const { pool, begun, endAll } = openHeldPool()
  const logIns = Array.from({ length: 50 }, (_, n) =>
    pool.verify('attack', '', { network: `2001:db8:${n}::/48`, class: 'logIn' }),
  )
  const settled = Promise.allSettled(logIns)
  const signUp = pool.hash('sign-up', { network: '198.51.100.7', class: 'signUp' })
  const ended = Promise.allSettled([signUp])
  await endAll()
  assert.ok(begun.indexOf('sign-up') <= 2)
  await Promise.all([settled, ended])
})

test('refuses the newest task of the network with the most waiting tasks when the password queue is full', async () => {
  const { pool, begun, endAll } = openHeldPool()
  const flood = Array.from({ length: 40 }, (_, n) => pool.verify(`attack ${n}`, '', STRANGER))
  const settled = Promise.allSettled(flood)
  const others = Array.from({ length: 8 }, (_, n) =>
    pool.verify(`other ${n}`, '', { network: `198.51.100.${n}`, class: 'logIn' }),
  )
  await endAll()
  assert.deepEqual(await Promise.all(others), Array(8).fill(true))
  assert.equal(begun.filter((password) => password.startsWith('other')).length, 8)
  await settled
})
