// The fake server checks batch ids and expected sequences like JetStream.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  ackEveryMs,
  type Connection,
  NatsPublisher,
} from '../../../engine/cluster/nats-publisher.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'

const SUBJECT = 'tb.books'
const EXPECTED = ['Expected-Last-Sequence', 'Expected-Last-Msg-Id']
const WRONG_LAST_SEQUENCE = 10_071
type Callback = Parameters<Connection['subscribe']>[1]['callback']

/** Holds acknowledgements until the test releases them. */
class StreamServer implements Connection {
  readonly ids = new Map<string, number>()
  last = 0
  lastId = ''
  asked = 0
  #callback: Callback = () => undefined
  readonly #answers: (() => void)[] = []

  subscribe(_: string, { callback }: { readonly callback: Callback }): void {
    this.#callback = callback
  }

  publish(...[, , { reply, headers }]: Parameters<Connection['publish']>): void {
    const reported = new Map(
      [
        ...Buffer.from(headers.encode())
          .toString()
          .matchAll(/^Nats-(.*): (.*)\r$/gm),
      ].map(([, name, value]) => [name, value]),
    )
    const [id = '', after, behind] = ['Msg-Id', ...EXPECTED].map((name) => reported.get(name))
    const existing = this.ids.get(id)
    const isBehind = Number(after) === this.last && (behind ?? this.lastId) === this.lastId
    const isRefused = existing === undefined && !isBehind
    if (existing === undefined && !isRefused) {
      this.last += 1
      this.lastId = id
      this.ids.set(id, this.last)
    }
    if (reply === undefined) return
    this.asked += 1
    const answer = isRefused
      ? { error: { err_code: WRONG_LAST_SEQUENCE, description: 'wrong last sequence' } }
      : { seq: this.ids.get(id), stream: 'TB_books' }
    const json = () => JSON.parse(JSON.stringify(answer))
    this.#answers.push(() => this.#callback(null, { subject: reply, json }))
  }

  answer(): void {
    for (const answer of this.#answers.splice(0)) answer()
  }
}

function rig() {
  const [server, clock] = [new StreamServer(), new ManualClock()]
  const publisher = new NatsPublisher(server, clock, 4_000, 'inbox')
  const published: (number | string)[] = []
  const publish = (id: number, after: number, isAlone = false): void => {
    published[id] = 'waits'
    publisher
      .publish(SUBJECT, {
        bytes: Uint8Array.of(id),
        id: String(id),
        after,
        isAckedSeparately: isAlone,
      })
      .then((sequence) => (published[id] = sequence))
      .catch((error: { readonly reason: string }) => (published[id] = error.reason))
  }
  const pass = async (ms: number) => {
    clock.advance(ms)
    server.answer()
    await nextTurn()
  }
  return { server, publisher, published, publish, pass }
}

test('requests acknowledgements for the first and the newest batch of a burst, and for no batch between', async () => {
  const { server, published, publish, pass } = rig()
  for (let id = 0; id < 100; id += 1) publish(id, id)
  await pass(0)
  assert.equal(server.asked, 1)
  assert.deepEqual([published[0], published[1]], [1, 'waits'])
  await pass(ackEveryMs)
  assert.equal(server.asked, 2)
  assert.deepEqual(
    published,
    Array.from({ length: 100 }, (_, id) => id + 1),
  )
  assert.equal(server.last, 100, 'the batch that was sent twice is stored once')
  // Pauses separate these batches, so each of them requests an acknowledgement.
  for (let id = 100; id < 103; id += 1) {
    publish(id, id)
    await pass(ackEveryMs * 3)
  }
  assert.deepEqual([server.asked, published.slice(100)], [5, [101, 102, 103]])
  // In a steady flow of batches, only one acknowledgement is requested every few milliseconds.
  for (let id = 103; id < 303; id += 1) {
    publish(id, id)
    await pass(0.5)
  }
  await pass(ackEveryMs * 2)
  assert.ok(server.asked - 5 <= 100 / ackEveryMs + 2, `${server.asked - 5} asked`)
  assert.deepEqual(
    published,
    Array.from({ length: 303 }, (_, id) => id + 1),
  )
})

test('rejects every publish call whose batch a negative acknowledgement covers', async () => {
  const { server, published, publish, pass } = rig()
  publish(0, 0)
  publish(1, 1)
  await pass(ackEveryMs)
  // A second writer has taken the sequence that batch 2 expects.
  server.last += 1
  server.lastId = 'of another'
  for (let id = 2; id < 6; id += 1) publish(id, id)
  await pass(0)
  await pass(ackEveryMs * 2)
  assert.deepEqual(published, [1, 2, 'fenced', 'fenced', 'fenced', 'fenced'])
  // All batches are sent again. The server recognises stored batches by their ids.
  for (let id = 0; id < 6; id += 1) publish(id, id + 1, true)
  await pass(0)
  assert.deepEqual(published, [1, 2, 4, 5, 6, 7])
  assert.equal(server.last, 7)
})

test('requests a separate acknowledgement for a batch whose sequence does not follow the previous batch', async () => {
  const { server, publisher, published, publish, pass } = rig()
  publish(0, 0)
  publish(1, 1)
  publish(2, 7)
  await pass(ackEveryMs)
  assert.deepEqual([published[0], published[1], published[2]], [1, 2, 'fenced'])
  // The acknowledgement of batch 3 does not confirm earlier batches.
  publish(3, 2)
  await pass(ackEveryMs * 2)
  server.ids.set('5', 1)
  publish(4, 3)
  publish(5, 4)
  await pass(ackEveryMs * 2)
  assert.deepEqual(published.slice(3), [3, 4, 1])
  server.ids.set('8', 1)
  publish(6, 4)
  publish(7, 5)
  publish(8, 6)
  await pass(ackEveryMs * 2)
  assert.deepEqual(published.slice(6), [5, 'down', 1])
  publish(9, server.last)
  publish(10, server.last)
  publisher.stop()
  await nextTurn()
  assert.deepEqual(published.slice(9), ['down', 'down'])
})
