import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeliveryRotation } from '../../../actors/webhooks/delivery-rotation.ts'
import { DeliveryQueue } from '../../../actors/webhooks/queue.ts'
import { type AccountId, accountId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { webhookNumber } from '../../../engine/webhooks/webhook.ts'
import { MemoryOutbox } from '../../support/reference/memory.ts'
import { webhook } from '../../support/worlds/stored-webhooks.ts'

const outbox = new MemoryOutbox()

/** The name contains account, number and host: `a1x` is webhook 1 of account `a` at host `x`. */
function queueOf(name: string): DeliveryQueue {
  const [account = '', number = '', host = ''] = name
  const url = `https://${host}.example.com/${name}`
  const record = { ...webhook(name, { accountId: accountId(account), url }) }
  return new DeliveryQueue({ ...record, number: webhookNumber(Number(number)) }, outbox, new Set())
}

const nameOf = (queue: DeliveryQueue | null) => queue?.webhook.id.slice('wh_'.length) ?? null

class FakeCapacity {
  readonly fullAccounts = new Set<AccountId>()
  readonly fullHosts = new Set<string>()
  hasCapacityForAccount = (account: AccountId) => !this.fullAccounts.has(account)
  hasCapacityForHost = (host: string) => !this.fullHosts.has(host)
}

const all = (rotation: DeliveryRotation) => {
  const names: string[] = []
  for (let queue = rotation.take(true); queue !== null; queue = rotation.take(true)) {
    names.push(nameOf(queue) ?? '')
    rotation.releaseHost(queue.host)
  }
  return names
}

test('rotates attempts over accounts, then over each account’s hosts, then over the webhooks at each host', () => {
  const rotation = new DeliveryRotation(new FakeCapacity())
  for (const name of ['a1x', 'a2x', 'a3x', 'a4y', 'b1x', 'c1z', 'c2z']) rotation.add(queueOf(name))
  assert.deepEqual(all(rotation), ['a1x', 'b1x', 'c1z', 'a4y', 'c2z', 'a2x', 'a3x'])
})

test('skips a host at its attempt limit, and assigns the host’s next attempts to each account in turn', () => {
  const capacity = new FakeCapacity()
  const rotation = new DeliveryRotation(capacity)
  const host = queueOf('a1x').host
  capacity.fullHosts.add(host)
  for (const name of ['a1x', 'a2x', 'b1x', 'c1x', 'c2y']) rotation.add(queueOf(name))
  assert.equal(nameOf(rotation.take(true)), 'c2y')
  assert.equal(rotation.take(true), null)
  const order: (string | null)[] = []
  for (let count = 0; count < 4; count += 1) {
    capacity.fullHosts.delete(host)
    rotation.releaseHost(host)
    order.push(nameOf(rotation.take(true)))
    capacity.fullHosts.add(host)
    assert.equal(rotation.take(true), null)
  }
  assert.deepEqual(order, ['a1x', 'b1x', 'c1x', 'a2x'])
})

test('assigns a host’s free attempt to a different account when the next account is at its attempt limit', () => {
  const capacity = new FakeCapacity()
  const rotation = new DeliveryRotation(capacity)
  const first = queueOf('a1x')
  capacity.fullHosts.add(first.host)
  for (const queue of [first, queueOf('b1x')]) rotation.add(queue)
  assert.equal(rotation.take(true), null)
  capacity.fullAccounts.add(first.webhook.accountId)
  capacity.fullHosts.delete(first.host)
  rotation.releaseHost(first.host)
  assert.equal(nameOf(rotation.take(true)), 'b1x')
  assert.equal(rotation.take(true), null)
  capacity.fullAccounts.clear()
  rotation.releaseAccount(first.webhook.accountId)
  assert.equal(nameOf(rotation.take(true)), 'a1x')
})

test('does not check a blocked account until its own limit or its host has a free attempt', () => {
  const capacity = new FakeCapacity()
  const rotation = new DeliveryRotation(capacity)
  const [blocked, fullAccounts] = [1_000, 100]
  for (let account = 0; account < blocked; account += 1) {
    const record = webhook(`blocked${account}`, {
      accountId: accountId(`blocked${account}`),
      url: 'https://full.example.com/',
    })
    const queue = new DeliveryQueue(
      { ...record, number: webhookNumber(account + 1) },
      outbox,
      new Set(),
    )
    capacity.fullHosts.add(queue.host)
    if (account < fullAccounts) capacity.fullAccounts.add(queue.webhook.accountId)
    rotation.add(queue)
  }
  assert.equal(rotation.take(true), null)
  let checkCount = 0
  const counted = <Key>(hasCapacity: (key: Key) => boolean) => {
    return (key: Key) => {
      checkCount += 1
      return hasCapacity(key)
    }
  }
  capacity.hasCapacityForAccount = counted(capacity.hasCapacityForAccount)
  capacity.hasCapacityForHost = counted(capacity.hasCapacityForHost)
  const bystander = queueOf('b1x')
  for (let count = 0; count < 10; count += 1) {
    rotation.add(bystander)
    assert.equal(rotation.take(true), bystander)
    assert.equal(rotation.take(true), null)
  }
  assert.ok(checkCount <= 50, `${checkCount} checks for 20 calls`)
})

test('assigns a host’s free attempts to waiting accounts before an account that repeatedly adds webhooks', () => {
  const capacity = new FakeCapacity()
  const rotation = new DeliveryRotation(capacity)
  const [busy, others] = [queueOf('a1x'), ['b1x', 'c1x', 'd1x'].map(queueOf)]
  const { host } = busy
  capacity.fullHosts.add(host)
  for (const queue of others) rotation.add(queue)
  const order: (string | null)[] = []
  for (let count = 0; count < 4; count += 1) {
    rotation.add(busy)
    assert.equal(rotation.take(true), null)
    rotation.add(queueOf('a2x'))
    capacity.fullHosts.delete(host)
    rotation.releaseHost(host)
    order.push(nameOf(rotation.take(true)))
    capacity.fullHosts.add(host)
  }
  assert.deepEqual(order, ['b1x', 'c1x', 'd1x', 'a1x'])
})

test('returns the same next webhooks as the reference implementation for random limits and changes', () => {
  const names = ['a', 'b', 'c'].flatMap((account) =>
    ['1x', '2x', '3y', '4z'].map((rest) => `${account}${rest}`),
  )
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom('turns', seed)
    const capacity = new FakeCapacity()
    const rotation = new DeliveryRotation(capacity)
    const queues = names.map(queueOf)
    const waiting = new Set<DeliveryQueue>()
    for (let step = 0; step < 300; step += 1) {
      const queue = random.pick(queues)
      const { accountId: account } = queue.webhook
      const kind = random.below(8)
      if (kind < 3) {
        rotation.add(queue)
        waiting.add(queue)
      } else if (kind === 3) assert.equal(rotation.remove(queue), waiting.delete(queue))
      else if (kind === 4) capacity.fullHosts.add(queue.host)
      else if (kind === 5) capacity.fullAccounts.add(account)
      else if (kind === 6 && capacity.fullHosts.delete(queue.host)) rotation.releaseHost(queue.host)
      else if (kind === 7 && capacity.fullAccounts.delete(account)) rotation.releaseAccount(account)
      if (step % 3 > 0) continue
      const isOpen = ({ webhook: { accountId: id }, host }: DeliveryQueue) =>
        capacity.hasCapacityForAccount(id) && capacity.hasCapacityForHost(host)
      const taken = rotation.take(true)
      const [any] = [...waiting].filter(isOpen)
      assert.equal(taken === null, any === undefined, `seed ${seed}, step ${step}`)
      if (taken === null) continue
      assert.ok(waiting.delete(taken) && isOpen(taken))
      if (capacity.hasCapacityForHost(taken.host)) rotation.releaseHost(taken.host)
    }
  }
})
