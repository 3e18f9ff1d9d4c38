import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pack } from 'msgpackr'
import { type Bucket, LogError } from '../../../engine/cluster/cluster-log.ts'
import { type Lease, takeLease } from '../../../engine/cluster/lease.ts'
import { silentLog } from '../../../engine/process/log.ts'
import type { FaultyLog } from '../../support/fakes/faulty-log.ts'
import { FaultyLogServer } from '../../support/fakes/faulty-log.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

class Rig {
  readonly clock = new ManualClock()
  readonly server = new FaultyLogServer(this.clock)
  readonly leases = new Map<string, Lease>()
  readonly deposed: string[] = []
  forgottenCount = 0

  /** Waits for the lease, then renews it. */
  async stand(holder: string): Promise<FaultyLog> {
    const log = this.server.connect()
    const bucket = await log.bucket('lease')
    const onRecordLost = () => {
      this.forgottenCount += 1
    }
    const parts = { bucket, holder, clock: this.clock, log: silentLog, onRecordLost }
    void takeLease(parts, new AbortController().signal).then((lease) => {
      if (lease === null) return
      this.leases.set(holder, lease)
      lease.startRenewing(() => this.deposed.push(holder))
    })
    await this.pass(10)
    return log
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10)
      await nextTurn()
    }
  }

  get leaders() {
    return [...this.leases.keys()]
  }
}

test('grants the lease to one engine, then to the next engine with a higher term after 5 s or a release', async () => {
  const rig = new Rig()
  const one = await rig.stand('one')
  await rig.stand('two')
  await rig.stand('three')
  await rig.pass(60_000)
  assert.deepEqual(rig.leaders, ['one'])
  one.setLink('down')
  await rig.pass(4_000)
  assert.deepEqual(rig.leaders, ['one'], 'no engine takes the lease before it expires')
  await rig.pass(3_000)
  assert.equal(rig.leases.size, 2, 'one of the two other engines took the lease')
  const second = rig.leaders.at(-1) ?? ''
  await rig.leases.get(second)?.release()
  await rig.pass(1_100)
  assert.equal(rig.leases.size, 3, 'a released lease is taken at once')
  const terms = [...rig.leases.values()].map(({ term }) => term)
  const [first = 0] = terms
  assert.ok(
    first * 1_000 > rig.clock.nowMs() - 120_000,
    'the first term is the Unix time in seconds',
  )
  assert.deepEqual(
    terms,
    [...new Set(terms)].sort((one, other) => one - other),
    'each term is higher than the previous term',
  )
})

test('never assigns a lease term twice, even if the log lost the record of the lease', async () => {
  const rig = new Rig()
  await rig.stand('one')
  const before = rig.leases.get('one')?.term ?? 0
  await rig.leases.get('one')?.release()
  rig.server.loseData()
  await rig.pass(2_000)
  await rig.stand('two')
  await rig.pass(1_000)
  assert.deepEqual(rig.leaders, ['one', 'two'])
  assert.ok((rig.leases.get('two')?.term ?? 0) > before)
})

test('confirms the leader when the log loses its data, because the leader writes the lease record a second time', async () => {
  const rig = new Rig()
  await rig.stand('one')
  await rig.stand('two')
  await rig.pass(2_000)
  rig.server.loseData()
  assert.equal(await rig.leases.get('one')?.isHeld(), true)
  rig.server.loseData()
  await rig.pass(20_000)
  assert.deepEqual(rig.leaders, ['one'])
  assert.deepEqual(rig.deposed, [])
  assert.equal(rig.forgottenCount, 2)
})

test('grants the lease to a standby when the log lost its data and the leader is down', async () => {
  const rig = new Rig()
  const one = await rig.stand('one')
  await rig.stand('two')
  await rig.pass(2_000)
  one.setLink('down')
  rig.server.loseData()
  await rig.pass(7_000)
  assert.deepEqual(rig.leaders, ['one', 'two'])
  const [first, second] = [...rig.leases.values()]
  assert.ok((second?.term ?? 0) > (first?.term ?? 0))
})

test('deposes a lease holder once when a rival holds the lease, and not when the holder’s own renewal was unanswered', async () => {
  const rig = new Rig()
  const one = await rig.stand('one')
  await rig.stand('two')
  const bucket = await rig.server.connect().bucket('lease')
  const entry = await bucket.get('leader')
  assert.ok(entry?.value !== null && entry !== null)
  await bucket.put('leader', entry.value)
  await rig.pass(3_000)
  assert.deepEqual(rig.deposed, [], 'a new revision by the same holder does not depose it')
  assert.equal(await rig.leases.get('one')?.isHeld(), true)
  one.setLink('down')
  await rig.pass(8_000)
  assert.deepEqual(rig.leaders, ['one', 'two'])
  one.setLink('up')
  await rig.pass(5_000)
  assert.deepEqual(rig.deposed, ['one'])
  assert.equal(await rig.leases.get('one')?.isHeld(), false)
  assert.equal(await rig.leases.get('two')?.isHeld(), true)
})

test('does not depose the lease holder while the log is unreachable', async () => {
  const rig = new Rig()
  const [one, two] = [await rig.stand('one'), await rig.stand('two')]
  for (const log of [one, two]) log.setLink('down')
  await rig.pass(60_000)
  // The lease was not renewed for a minute, and the standby may reconnect first.
  two.setLink('up')
  await rig.pass(3_000)
  one.setLink('up')
  await rig.pass(10_000)
  assert.deepEqual(rig.leaders, ['one'])
  assert.deepEqual(rig.deposed, [])
  assert.equal(await rig.leases.get('one')?.isHeld(), true)
})

test('waits longer before it takes an expired lease on a busy machine, and never takes a renewed lease', async () => {
  const rig = new Rig()
  const one = await rig.stand('one')
  await rig.stand('two')
  const slowly = async (checks: number) => {
    for (let check = 0; check < checks; check += 1) {
      rig.clock.advance(4_000)
      for (let tick = 0; tick < 10; tick += 1) await nextTurn()
    }
  }
  await slowly(20)
  assert.deepEqual(rig.leaders, ['one'], 'the lease is renewed')
  one.setLink('down')
  await slowly(3)
  assert.deepEqual(rig.leaders, ['one'], 'a standby that checks rarely waits longer')
  await slowly(3)
  assert.deepEqual(rig.leaders, ['one', 'two'])
})

test('checks the lease after a pause if a rival could have taken the lease, and not after shorter pauses', async () => {
  const rig = new Rig()
  await rig.stand('one')
  const lease = rig.leases.get('one')
  assert.ok(lease !== undefined)
  await rig.pass(10_000)
  assert.equal(lease.confirm(), null)
  rig.clock.stall(3_000)
  assert.equal(lease.confirm(), null, 'no other engine can have taken the lease')
  await rig.pass(2_000)
  rig.clock.stall(6_000)
  const confirming = lease.confirm()
  assert.notEqual(confirming, null)
  await rig.pass(2_000)
  assert.equal(await confirming, true)
  assert.equal(lease.confirm(), null)
})

test('reports the lease as lost if a rival took the lease during a pause', async () => {
  const rig = new Rig()
  await rig.stand('one')
  const lease = rig.leases.get('one')
  assert.ok(lease !== undefined)
  const bucket = await rig.server.connect().bucket('lease')
  await bucket.put('leader', pack(['two', lease.term + 1]))
  rig.clock.stall(6_000)
  const confirming = lease.confirm()
  assert.notEqual(confirming, null)
  await rig.pass(2_000)
  assert.equal(await confirming, false)
  assert.deepEqual(rig.deposed, ['one'])
  assert.equal(await lease.confirm(), false)
})

test('repeats the read of the lease after a pause until the log answers', async () => {
  const rig = new Rig()
  const inner = await rig.server.connect().bucket('lease')
  let failureCount = 0
  const bucket: Bucket = {
    get: (key) => {
      if (failureCount === 0) return inner.get(key)
      failureCount -= 1
      return Promise.reject(new LogError('down', 'connection lost'))
    },
    put: (key, value) => inner.put(key, value),
    replace: (key, value, revision) => inner.replace(key, value, revision),
    remove: (key) => inner.remove(key),
    watch: (watcher) => inner.watch(watcher),
  }
  const parts = { bucket, holder: 'one', clock: rig.clock, log: silentLog }
  const taking = takeLease(parts, new AbortController().signal)
  await rig.pass(100)
  const lease = await taking
  assert.ok(lease !== null)
  lease.startRenewing(() => rig.deposed.push('one'))
  await inner.put('leader', pack(['two', lease.term + 1]))
  failureCount = 3
  rig.clock.stall(6_000)
  const confirming = lease.confirm()
  await rig.pass(2_000)
  assert.equal(await confirming, false)
})

test('stays leader when the answers to its lease reads arrive after later renewals', async () => {
  const rig = new Rig()
  const inner = await rig.server.connect().bucket('lease')
  let isLate = false
  // A sealed bucket returns no value for a record that is older than its last written record.
  const late = async (key: string) => ({ key, value: null, revision: 1 })
  const bucket: Bucket = {
    get: (key) => (isLate ? late(key) : inner.get(key)),
    put: (key, value) => inner.put(key, value),
    replace: (key, value, revision) => inner.replace(key, value, revision),
    remove: (key) => inner.remove(key),
    watch: (watcher) => inner.watch(watcher),
  }
  const parts = { bucket, holder: 'one', clock: rig.clock, log: silentLog }
  const taking = takeLease(parts, new AbortController().signal)
  await rig.pass(100)
  const lease = await taking
  assert.ok(lease !== null)
  lease.startRenewing(() => rig.deposed.push('one'))
  await rig.pass(3_000)
  isLate = true
  assert.equal(await lease.isHeld(), true)
  assert.deepEqual(rig.deposed, [])
})
