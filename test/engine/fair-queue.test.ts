import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, type Requester } from '../../engine/fair-queue.ts'

const times = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

function served(queue: FairQueue<string>): readonly string[] {
  const order: string[] = []
  for (let item = queue.next(); item !== null; item = queue.next()) order.push(item)
  return order
}

test('serves requesters in rotation, regardless of how many items one requester adds', () => {
  const queue = new FairQueue<string>(64)
  for (const number of times(20)) queue.add(['flood', '10.0.0.1'], `flood ${number}`)
  for (const number of times(2)) queue.add(['other', '10.0.0.2'], `other ${number}`)
  const order = served(queue).slice(0, 4)
  assert.deepEqual(order, ['flood 1', 'other 1', 'flood 2', 'other 2'])
})

const attackers: Readonly<Record<string, (number: number) => Requester>> = {
  'ten accounts of one address': (number) => [`account ${number}`, '10.0.0.1'],
  'one account at ten addresses': (number) => ['account', `10.0.1.${number}`],
}
for (const [name, requesterOf] of Object.entries(attackers)) {
  test(`assigns ${name} at most one share of the queue`, () => {
    const queue = new FairQueue<string>(64)
    for (const number of times(10)) queue.add(requesterOf(number), `flood ${number}`)
    for (const number of times(3)) queue.add(['other', '10.0.0.2'], `other ${number}`)
    const order = served(queue).slice(0, 6)
    assert.deepEqual(
      order.map((item) => item.split(' ')[0]),
      ['flood', 'other', 'flood', 'other', 'flood', 'other'],
    )
  })
}

test('drops the newest item of the requester with the most queued items when the queue is full', () => {
  const queue = new FairQueue<string>(4)
  for (const number of times(4)) queue.add(['flood'], `flood ${number}`)
  assert.equal(queue.isFull(['flood']), true)
  assert.equal(queue.add(['flood'], 'flood 5'), 'flood 5')
  assert.equal(queue.add(['other'], 'other 1'), 'flood 4')
  assert.equal(queue.add(['other'], 'other 2'), 'flood 3')
  assert.equal(queue.add(['other'], 'other 3'), 'other 3')
  assert.deepEqual([queue.size, served(queue)], [4, ['flood 1', 'other 1', 'flood 2', 'other 2']])
})

test('serves a waiting requester after at most 2 × capacity dequeues, regardless of how many requesters arrive later', () => {
  const queue = new FairQueue<string>(8)
  queue.note(['other'])
  queue.add(['other'], 'other')
  const order: (string | null)[] = []
  for (const number of times(16)) {
    queue.add([`new ${number}`], `new ${number}`)
    order.push(queue.next())
  }
  assert.ok(order.includes('other'), order.join(', '))
})

test('serves the requester with the lowest load first, and skips requesters with infinite load', () => {
  const queue = new FairQueue<string>(4)
  queue.add(['many'], 'many')
  queue.add(['few'], 'few')
  const load = (requester: Requester) => (requester.includes('many') ? 2 : 1)
  assert.equal(queue.next(load), 'few')
  assert.equal(
    queue.next(() => Number.POSITIVE_INFINITY),
    null,
  )
  assert.equal(queue.remove('many'), true)
  assert.equal(queue.remove('many'), false)
})
