// Storage contract: webhooks and the outbox. NaiveBox is the reference implementation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { priceMicros, timeMs } from '../../../engine/units.ts'
import {
  type Delivery,
  type DeliveryStatus,
  webhookNumber,
} from '../../../engine/webhooks/webhook.ts'
import { EVENT_TYPES } from '../../../http/webhooks/types/event-types.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { NOON_MS } from '../../support/worlds/stored.ts'
import {
  ALL_FILTERS,
  NaiveBox,
  newDelivery,
  plain,
  webhook,
} from '../../support/worlds/stored-webhooks.ts'
import type { StorageUnderTest } from '../storage.ts'

const [ONE, TWO] = [webhookNumber(1), webhookNumber(2)]
const ATTEMPT_KINDS = ['first', 'retry'] as const

export function webhookContract({ open, settle }: StorageUnderTest): void {
  test('stores and replaces webhooks, and returns webhooks in order of creation', async () => {
    let storage = await open()
    const full = webhook('full', {
      eventTypes: [...EVENT_TYPES],
      filters: ALL_FILTERS,
      description: 'my hook',
      isActive: false,
      disabledReason: 'failing',
      previousSecrets: [
        { secret: 'b2xk', untilMs: timeMs(NOON_MS + 2) },
        { secret: 'b2xkZXI=', untilMs: timeMs(NOON_MS + 1) },
      ],
    })
    const [first, second, third] = await Promise.all([
      storage.webhooks.create(webhook('plain')),
      storage.webhooks.create(full),
      storage.webhooks.create(webhook('third')),
    ])
    assert.deepEqual([first?.number, second?.number, third?.number], [1, 2, 3])
    storage = await settle(storage)
    assert.deepEqual([...storage.webhooks.all()], [first, second, third])
    const changed = { ...first, description: 'changed', isActive: false }
    await storage.webhooks.put(changed)
    storage = await settle(storage)
    assert.deepEqual([...storage.webhooks.all()], [changed, second, third])
  })

  test('never assigns the number of a removed webhook to a new webhook', async () => {
    let storage = await open()
    for (let round = 1; round <= 5; round += 1) {
      const made = await storage.webhooks.create(webhook(`w${round}`))
      assert.equal(made.number, round)
      storage = await settle(storage)
      await storage.webhooks.remove(made)
      await storage.webhooks.remove(made)
      storage = await settle(storage)
      assert.deepEqual([...storage.webhooks.all()], [])
    }
  })

  test('does not restore a removed webhook when a change of the webhook arrives after the removal', async () => {
    let storage = await open()
    const made = await storage.webhooks.create(webhook('gone'))
    await storage.webhooks.remove(made)
    await storage.webhooks.put({ ...made, description: 'late' })
    storage = await settle(storage)
    assert.deepEqual([...storage.webhooks.all()], [])
  })

  test('creates one delivery per event and webhook, numbers deliveries from 1, and stores the body unchanged', async () => {
    let storage = await open()
    const body = Buffer.alloc(20_000, 'é\u0000')
    const made = storage.outbox.create(ONE, newDelivery('evt_a', { body }))
    assert.equal(made?.number, 1)
    assert.equal(storage.outbox.create(ONE, newDelivery('evt_a')), null)
    storage = await settle(storage)
    assert.equal(storage.outbox.create(ONE, newDelivery('evt_a')), null)
    assert.equal(storage.outbox.create(TWO, newDelivery('evt_a'))?.number, 1)
    const long = `evt_${'x'.repeat(900)}`
    assert.equal(
      storage.outbox.create(ONE, newDelivery(long, { body: new Uint8Array() }))?.number,
      2,
    )
    assert.equal(storage.outbox.create(ONE, newDelivery(`${long}y`))?.number, 3)
    storage = await settle(storage)
    assert.equal(storage.outbox.create(ONE, newDelivery(long)), null)
    assert.deepEqual(plain(storage.outbox.get(ONE, 1)), plain(made))
    assert.equal(storage.outbox.numberOf(ONE, `${long}y`), 3)
    assert.equal(storage.outbox.numberOf(TWO, long), null)
    assert.equal(storage.outbox.get(ONE, 2)?.body.length, 0)
    assert.equal(storage.outbox.get(ONE, 4), null)
    assert.equal(storage.outbox.get(webhookNumber(3), 1), null)
  })

  test('returns due deliveries after a given position, sorted by attempt kind, due time and number', async () => {
    let storage = await open()
    const dueAt = (id: string, offsetMs: number) =>
      storage.outbox.create(ONE, newDelivery(id, { dueAtMs: timeMs(NOON_MS + offsetMs) }))
    for (const [id, offsetMs] of [
      ['a', 5],
      ['b', 0],
      ['c', 5],
      ['d', 7],
    ] as const)
      dueAt(id, offsetMs)
    storage.outbox.create(TWO, newDelivery('a'))
    storage = await settle(storage)
    const due = (
      variant: 'first' | 'retry',
      after: { at: number; number: number } | null,
      limit = 9,
    ) =>
      storage.outbox
        .due({
          webhook: ONE,
          attemptKind: variant,
          after: after && { dueAtMs: timeMs(NOON_MS + after.at), number: after.number },
          limit,
        })
        .map(({ dueAtMs, number }) => [dueAtMs - NOON_MS, number])
    const all = [
      [0, 2],
      [5, 1],
      [5, 3],
      [7, 4],
    ]
    assert.deepEqual(due('first', null), all)
    assert.deepEqual(due('first', null, 2), all.slice(0, 2))
    assert.deepEqual(due('first', null, 0), [])
    assert.deepEqual(due('first', { at: 5, number: 1 }), all.slice(2))
    assert.deepEqual(due('first', { at: 5, number: 2 }), all.slice(2))
    assert.deepEqual(due('first', { at: 7, number: 4 }), [])
    change(storage, 1, { attempts: 1, dueAtMs: timeMs(NOON_MS + 9) })
    change(storage, 2, { attempts: 2, dueAtMs: null })
    change(storage, 3, { status: 'delivered', attempts: 1, dueAtMs: null })
    storage = await settle(storage)
    assert.deepEqual(due('first', null), [[7, 4]])
    assert.deepEqual(due('retry', null), [[9, 1]])
  })

  test('updates delivery counts when a status changes, and stores the outcome of failed attempts', async () => {
    let storage = await open()
    for (const id of ['a', 'b', 'c', 'd', 'e']) storage.outbox.create(ONE, newDelivery(id))
    const last = {
      atMs: timeMs(NOON_MS + 1),
      durationMs: 12.5,
      status: 503,
      error: 'é'.repeat(200),
    }
    const unsubscribed = { ...last, status: null }
    const answer = {
      headers: [['content-type', 'text/plain'] as const, ['server', ''] as const],
      body: Uint8Array.of(0, 255, 13),
      isCut: true,
    }
    change(storage, 1, { status: 'delivered', attempts: 1, dueAtMs: null, last: unsubscribed })
    change(storage, 2, { status: 'exhausted', attempts: 8, dueAtMs: null, last })
    storage = await settle(storage)
    change(storage, 3, { status: 'dropped', dueAtMs: null })
    change(storage, 4, { attempts: 1, last: { ...last, answer } })
    change(storage, 99, { status: 'delivered' })
    storage = await settle(storage)
    const counts = { created: 5, delivered: 1, exhausted: 1, dropped: 1, pending: 2 }
    assert.deepEqual(storage.outbox.state(ONE).counts, counts)
    assert.equal(storage.outbox.state(ONE).failingSinceMs, null)
    assert.deepEqual(storage.outbox.get(ONE, 2)?.last, last)
    assert.deepEqual(storage.outbox.get(ONE, 1)?.last, unsubscribed)
    const { answer: retained, ...others } = storage.outbox.get(ONE, 4)?.last ?? {}
    assert.deepEqual(others, last)
    assert.deepEqual({ ...retained, body: Uint8Array.from(retained?.body ?? []) }, answer)
    change(storage, 2, { status: 'pending', attempts: 0, dueAtMs: timeMs(NOON_MS) })
    storage = await settle(storage)
    const again = { ...counts, exhausted: 0, pending: 3 }
    assert.deepEqual(storage.outbox.state(ONE).counts, again)
    const first = storage.outbox.due({ webhook: ONE, attemptKind: 'first', after: null, limit: 9 })
    assert.deepEqual(
      first.map(({ number }) => number),
      [2, 5],
    )
  })

  test('lists deliveries newest first, filtered by status and below a given number, without bodies', async () => {
    let storage = await open()
    const statuses: readonly DeliveryStatus[] = ['pending', 'delivered', 'exhausted', 'dropped']
    for (let count = 0; count < 40; count += 1) {
      storage.outbox.create(ONE, newDelivery(`e${count}`))
      const status = statuses[count % 4] ?? 'pending'
      if (status !== 'pending') change(storage, count + 1, { status, dueAtMs: null })
      if (count === 20) storage = await settle(storage)
    }
    storage = await settle(storage)
    const numbers = (status: DeliveryStatus | null, before: number | null, limit: number) =>
      storage.outbox.list({ webhook: ONE, status, before, limit }).map((one) => {
        assert.equal('body' in one, false)
        return one.number
      })
    assert.deepEqual(numbers(null, null, 3), [40, 39, 38])
    assert.deepEqual(numbers(null, 3, 9), [2, 1])
    assert.deepEqual(numbers('exhausted', 31, 2), [27, 23])
    assert.deepEqual(numbers('pending', null, 2), [37, 33])
    assert.deepEqual(numbers('pending', 1, 2), [])
    assert.deepEqual(numbers('delivered', null, 0), [])
    assert.equal(storage.outbox.oldestPending(ONE)?.number, 1)
    change(storage, 1, { status: 'dropped', dueAtMs: null })
    assert.equal(storage.outbox.oldestPending(ONE)?.number, 5)
    storage = await settle(storage)
    assert.equal(storage.outbox.oldestPending(ONE)?.number, 5)
    change(storage, 2, { status: 'pending' })
    assert.equal(storage.outbox.oldestPending(ONE)?.number, 2)
    assert.equal(storage.outbox.oldestPending(TWO), null)
  })

  test('removes finished deliveries beyond a number and an age in batches, oldest first, without changing counts', async () => {
    let storage = await open()
    for (let count = 1; count <= 30; count += 1) {
      const createdAtMs = timeMs(NOON_MS + count)
      storage.outbox.create(ONE, newDelivery(`e${count}`, { createdAtMs }))
      if (count % 3 !== 0) change(storage, count, { status: 'delivered', dueAtMs: null })
    }
    storage = await settle(storage)
    const counts = { created: 30, delivered: 20, exhausted: 0, dropped: 0, pending: 10 }
    const limits = { webhook: ONE, finishedMax: 12, beforeMs: timeMs(0), rowsMax: 3 }
    const answers = [1, 2, 3].map(() => storage.outbox.prune(limits))
    assert.deepEqual(answers, [true, true, false])
    storage = await settle(storage)
    assert.deepEqual(storage.outbox.state(ONE).counts, counts)
    assert.equal(
      storage.outbox.list({ webhook: ONE, status: 'delivered', before: null, limit: 99 }).length,
      12,
    )
    assert.equal(
      storage.outbox.list({ webhook: ONE, status: 'pending', before: null, limit: 99 }).length,
      10,
    )
    const aged = { ...limits, beforeMs: timeMs(NOON_MS + 29), rowsMax: 99 }
    assert.equal(storage.outbox.prune(aged), false)
    storage = await settle(storage)
    const left = storage.outbox.list({ webhook: ONE, status: 'delivered', before: null, limit: 99 })
    assert.deepEqual(
      left.map(({ number }) => number),
      [29],
    )
    assert.deepEqual(storage.outbox.state(ONE).counts, counts)
    assert.equal(storage.outbox.create(ONE, newDelivery('e29')), null)
    assert.equal(
      storage.outbox.create(ONE, newDelivery('e28'))?.number,
      31,
      'the delivery’s event is removed with its row',
    )
    assert.equal(storage.outbox.prune({ ...limits, webhook: TWO }), false)
  })

  test('removes the deliveries of one webhook in batches, and lists each webhook that has deliveries', async () => {
    let storage = await open()
    for (const number of [ONE, TWO]) {
      for (let count = 1; count <= 20; count += 1) {
        storage.outbox.create(number, newDelivery(`e${count}`))
      }
      storage.outbox.putLastPrice(number, 7, priceMicros(5))
    }
    change(storage, 1, { status: 'delivered', dueAtMs: null })
    storage.outbox.putLastPrice(webhookNumber(9), 7, priceMicros(5))
    storage = await settle(storage)
    assert.deepEqual([...storage.outbox.webhooks()], [1, 2, 9])
    let calls = 1
    for (; storage.outbox.clear(ONE, 7); calls += 1) {
      assert.ok(calls < 50)
      assert.deepEqual(
        [...storage.outbox.webhooks()],
        [1, 2, 9],
        'a webhook is listed until its last row is deleted',
      )
      storage = await settle(storage)
    }
    assert.ok(calls > 2)
    storage = await settle(storage)
    assert.deepEqual([...storage.outbox.webhooks()], [2, 9])
    const none = { created: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0 }
    assert.deepEqual(storage.outbox.state(ONE).counts, none)
    assert.equal(storage.outbox.lastPrice(ONE, 1), null)
    assert.equal(
      storage.outbox.due({ webhook: ONE, attemptKind: 'first', after: null, limit: 9 }).length,
      0,
    )
    assert.equal(storage.outbox.create(ONE, newDelivery('e1'))?.number, 1)
    assert.equal(storage.outbox.state(TWO).counts.pending, 20)
    assert.equal(storage.outbox.clear(webhookNumber(77), 5), false)
  })

  test('adds throttled events to the dropped count, and counts the bytes of pending deliveries', async () => {
    let storage = await open()
    assert.equal(storage.outbox.throttle(ONE, 3), true)
    const body = Buffer.alloc(700, 'x')
    for (const id of ['a', 'b', 'c']) storage.outbox.create(ONE, newDelivery(id, { body }))
    assert.equal(storage.outbox.throttle(ONE, 4), true)
    change(storage, 1, { status: 'delivered', dueAtMs: null })
    change(storage, 2, { status: 'dropped', dueAtMs: null })
    storage = await settle(storage)
    const counts = { created: 10, delivered: 1, exhausted: 0, dropped: 8, pending: 1 }
    assert.deepEqual(storage.outbox.state(ONE), {
      ...{ counts, throttledCount: 7, pendingBytes: 700, failingSinceMs: null },
    })
    change(storage, 1, { status: 'pending' })
    storage = await settle(storage)
    assert.equal(storage.outbox.state(ONE).pendingBytes, 1_400)
    for (const number of [1, 3]) change(storage, number, { status: 'delivered', dueAtMs: null })
    const limits = { webhook: ONE, finishedMax: 1, beforeMs: timeMs(0), rowsMax: 99 }
    assert.equal(storage.outbox.prune(limits), false)
    storage = await settle(storage)
    const query = { webhook: ONE, status: null, before: null, limit: 99 } as const
    assert.equal(storage.outbox.list(query).length, 1, 'throttled events have no stored rows')
    const after = { ...counts, delivered: 2, pending: 0, dropped: 8 }
    assert.deepEqual(storage.outbox.state(ONE).counts, after)
    assert.equal(storage.outbox.state(ONE).pendingBytes, 0)
  })

  test('stores the start time of failures and the last sent price of each market for each webhook', async () => {
    let storage = await open()
    storage.outbox.putFailingSince(ONE, timeMs(NOON_MS))
    for (let market = 3_000; market > 0; market -= 1) {
      storage.outbox.putLastPrice(ONE, market, priceMicros(market))
    }
    storage.outbox.putLastPrice(TWO, 1, priceMicros(1_000_000))
    storage = await settle(storage)
    storage.outbox.putLastPrice(ONE, 2, priceMicros(0))
    storage.outbox.removeLastPrice(ONE, 3)
    storage.outbox.removeLastPrice(ONE, 3_001)
    storage.outbox.putFailingSince(TWO, timeMs(5))
    storage.outbox.putFailingSince(TWO, null)
    storage = await settle(storage)
    const markets = [1, 2, 3, 4, 3_000, 3_001]
    const prices = markets.map((market) => storage.outbox.lastPrice(ONE, market))
    assert.deepEqual(prices, [1, 0, null, 4, 3_000, null])
    assert.equal(storage.outbox.lastPrice(TWO, 1), 1_000_000)
    assert.equal(storage.outbox.lastPrice(TWO, 2), null)
    assert.equal(storage.outbox.state(ONE).failingSinceMs, NOON_MS)
    assert.equal(storage.outbox.state(TWO).failingSinceMs, null)
  })

  test('stores the same deliveries as a plain array after changes in any order', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        let storage = await open()
        const naive = new NaiveBox()
        let createdAt = NOON_MS
        for (const { kind, event, number, atMs, status, count } of steps) {
          const dueAtMs = timeMs(NOON_MS + atMs)
          if (kind === 'create') {
            createdAt += atMs
            const made = newDelivery(`e${event}`, { dueAtMs, createdAtMs: timeMs(createdAt) })
            assert.deepEqual(plain(storage.outbox.create(ONE, made)), plain(naive.create(made)))
          } else if (kind === 'prune') {
            const limits = {
              finishedMax: number,
              beforeMs: timeMs(NOON_MS + event),
              rowsMax: count,
            }
            const isMore = storage.outbox.prune({ webhook: ONE, ...limits })
            assert.equal(isMore, naive.prune(limits))
          } else if (kind === 'settle') storage = await settle(storage)
          else {
            const pending = { status: 'pending', dueAtMs, last: null } as const
            const last = { atMs: dueAtMs, durationMs: 1, status: 200, error: null }
            const finished = { status, dueAtMs: null, attempts: count, last } as const
            const redone = { ...pending, attempts: kind === 'redo' ? 0 : count + 1 }
            const set = kind === 'finish' ? finished : redone
            const found = naive.rows[number - 1]?.delivery ?? newDelivery('none')
            const update: Delivery = { ...found, ...set, number }
            storage.outbox.update(ONE, update)
            naive.update(update)
          }
        }
        assertSame(storage, naive)
        storage = await settle(storage)
        assertSame(storage, naive)
      }),
      { numRuns: 25 },
    )
  })
}

/** The steps map each random number to an existing row. */
const STEPS = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'create',
      'create',
      'create',
      'finish',
      'retry',
      'redo',
      'prune',
      'settle',
    ),
    event: fc.nat(25),
    number: fc.integer({ min: 1, max: 20 }),
    atMs: fc.nat(6),
    status: fc.constantFrom<DeliveryStatus>('delivered', 'exhausted', 'dropped'),
    count: fc.nat(4),
  }),
  { maxLength: 60 },
)

function assertSame({ outbox }: Storage, naive: NaiveBox): void {
  assert.deepEqual(outbox.state(ONE).counts, naive.counts())
  for (const attemptKind of ATTEMPT_KINDS) {
    assert.deepEqual(
      outbox.due({ webhook: ONE, attemptKind, after: null, limit: 99 }),
      naive.due(attemptKind),
    )
  }
  for (const status of [null, 'pending', 'delivered', 'exhausted', 'dropped'] as const) {
    const listed = outbox.list({ webhook: ONE, status, before: null, limit: 99 })
    const expected = naive.list(status)
    assert.deepEqual(
      listed.map(({ number }) => number),
      expected.map(({ number }) => number),
    )
    for (const one of expected) {
      assert.deepEqual(plain(outbox.get(ONE, one.number)), plain(one))
    }
  }
  const oldest = naive.list('pending').at(-1)?.number ?? null
  assert.equal(outbox.oldestPending(ONE)?.number ?? null, oldest)
}

/** Does nothing if webhook ONE has no delivery with this number. */
function change({ outbox }: Storage, number: number, set: Partial<Delivery>): void {
  const existing = outbox.get(ONE, number) ?? outbox.get(ONE, 1)
  assert.ok(existing !== null)
  outbox.update(ONE, { ...existing, number, ...set })
}
