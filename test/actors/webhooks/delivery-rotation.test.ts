// The order in which webhooks of several accounts and hosts send.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeliveryRotation } from '../../../actors/webhooks/delivery-rotation.ts'
import { DeliveryQueue } from '../../../actors/webhooks/queue.ts'
import { type AccountId, accountId } from '../../../engine/ids.ts'
import { seededRandom } from '../../../engine/random.ts'
import { webhookNumber } from '../../../engine/webhooks/webhook.ts'
import { MemoryOutbox } from '../../support/twins/memory/outbox.ts'
import { webhook } from '../../support/worlds/stored-webhooks.ts'

const outbox = new MemoryOutbox()

/** A webhook such as `a1x`: account, number, host. */
function queueOf(name: string): DeliveryQueue {
  const [account = '', number = '', host = ''] = name
  const url = `https://${host}.example.com/${name}`
  const record = { ...webhook(name, { accountId: accountId(account), url }) }
  return new DeliveryQueue({ ...record, number: webhookNumber(Number(number)) }, outbox, new Set())
}

const nameOf = (queue: DeliveryQueue | null) => queue?.webhook.id.slice('wh_'.length) ?? null

class Room {
  readonly fullAccounts = new Set<AccountId>()
  readonly fullHosts = new Set<string>()
  hasCapacityForAccount = (account: AccountId) => !this.fullAccounts.has(account)
  hasCapacityForHost = (host: string) => !this.fullHosts.has(host)
}

const all = (turns: DeliveryRotation) => {
  const names: string[] = []
  for (let queue = turns.take(true); queue !== null; queue = turns.take(true)) {
    names.push(nameOf(queue) ?? '')
    turns.releaseHost(queue.host)
  }
  return names
}

test('rotates over accounts, then the hosts of an account, then its webhooks for a host', () => {
  const turns = new DeliveryRotation(new Room())
  for (const name of ['a1x', 'a2x', 'a3x', 'a4y', 'b1x', 'c1z', 'c2z']) turns.add(queueOf(name))
  assert.deepEqual(all(turns), ['a1x', 'b1x', 'c1z', 'a4y', 'c2z', 'a2x', 'a3x'])
})

test('skips a full host and gives its next attempts to the accounts in rotation', () => {
  const room = new Room()
  const turns = new DeliveryRotation(room)
  const host = queueOf('a1x').host
  room.fullHosts.add(host)
  for (const name of ['a1x', 'a2x', 'b1x', 'c1x', 'c2y']) turns.add(queueOf(name))
  assert.equal(nameOf(turns.take(true)), 'c2y')
  assert.equal(turns.take(true), null)
  const order: (string | null)[] = []
  for (let count = 0; count < 4; count += 1) {
    room.fullHosts.delete(host)
    turns.releaseHost(host)
    order.push(nameOf(turns.take(true)))
    room.fullHosts.add(host)
    assert.equal(turns.take(true), null)
  }
  assert.deepEqual(order, ['a1x', 'b1x', 'c1x', 'a2x'])
})

test('gives the attempt of a host to another account when the next one has all its attempts running', () => {
  const room = new Room()
  const turns = new DeliveryRotation(room)
  const first = queueOf('a1x')
  room.fullHosts.add(first.host)
  for (const queue of [first, queueOf('b1x')]) turns.add(queue)
  assert.equal(turns.take(true), null)
  room.fullAccounts.add(first.webhook.accountId)
  room.fullHosts.delete(first.host)
  turns.releaseHost(first.host)
  assert.equal(nameOf(turns.take(true)), 'b1x')
  assert.equal(turns.take(true), null)
  room.fullAccounts.clear()
  turns.releaseAccount(first.webhook.accountId)
  assert.equal(nameOf(turns.take(true)), 'a1x')
})

test('selects a webhook whenever a naive search finds one, whatever is full, added or removed', () => {
  const names = ['a', 'b', 'c'].flatMap((account) =>
    ['1x', '2x', '3y', '4z'].map((rest) => `${account}${rest}`),
  )
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom('turns', seed)
    const room = new Room()
    const turns = new DeliveryRotation(room)
    const queues = names.map(queueOf)
    const waiting = new Set<DeliveryQueue>()
    for (let step = 0; step < 300; step += 1) {
      const queue = random.pick(queues)
      const { accountId: account } = queue.webhook
      const kind = random.below(8)
      if (kind < 3) {
        turns.add(queue)
        waiting.add(queue)
      } else if (kind === 3) assert.equal(turns.remove(queue), waiting.delete(queue))
      else if (kind === 4) room.fullHosts.add(queue.host)
      else if (kind === 5) room.fullAccounts.add(account)
      else if (kind === 6 && room.fullHosts.delete(queue.host)) turns.releaseHost(queue.host)
      else if (kind === 7 && room.fullAccounts.delete(account)) turns.releaseAccount(account)
      if (step % 3 > 0) continue
      const isOpen = ({ webhook: { accountId: id }, host }: DeliveryQueue) =>
        room.hasCapacityForAccount(id) && room.hasCapacityForHost(host)
      const taken = turns.take(true)
      const [any] = [...waiting].filter(isOpen)
      assert.equal(taken === null, any === undefined, `seed ${seed}, step ${step}`)
      if (taken === null) continue
      assert.ok(waiting.delete(taken) && isOpen(taken))
      if (room.hasCapacityForHost(taken.host)) turns.releaseHost(taken.host)
    }
  }
})
