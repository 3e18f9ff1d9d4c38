import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { MarketView } from '../../../../actors/views.ts'
import { ringBookUpdatesMax } from '../../../../engine/limits.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { type Message, RebuiltBooks, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { bid, level } from '../../../support/worlds/builders.ts'

/** Number of updates before the first subscription. They are no longer cached. */
const EARLY = 5

/** A market's book at an offset. If the book was replaced later, updates cannot be applied to it. */
interface Known {
  readonly seq: number
  readonly levels: { bids: readonly Level[]; asks: readonly Level[] }
}
type Level = ReturnType<FakeMarket['naive']['levels']>[number]

const clock = new ManualClock()
let apiServer: ApiServer
const markets: FakeMarket[] = []
/** The books of all markets right after each offset. */
const past: Map<string, Known>[] = []
/** Offsets at which each market's book was replaced. */
const replacedAt = new Map<string, number[]>()

function note(): void {
  const { publisher } = apiServer.engine
  past[publisher.offset('orderbook')] = new Map(
    markets.map(({ ref, naive }) => [
      ref.id,
      {
        seq: publisher.latest('orderbook', ref.number).seq,
        levels: { bids: naive.levels('bid'), asks: naive.levels('ask') },
      },
    ]),
  )
}

before(async () => {
  apiServer = await openApiServer({
    clock,
    before: (engine) => {
      for (let index = 0; index < 5; index += 1) {
        markets.push(engine.add(`m${index}`, { venue: index < 3 ? 'a' : 'b' }))
      }
      for (let offset = 1; offset <= EARLY; offset += 1) markets[0]?.change(bid(0.1, offset))
    },
  })
  const random = seededRandom('past', 1)
  note()
  for (let step = 0; step < 60; step += 1) {
    // The last market does not change, so the server must not send messages about it.
    const chosen = random.pick(markets.slice(0, 4))
    const offset = apiServer.engine.publisher.offset('orderbook')
    if (step > 5 && random.next() < 0.1) {
      chosen.replace([level(0.2, random.below(9) + 1)], [level(0.8, 4)], 'venue_gap')
      replacedAt.set(chosen.ref.id, [...(replacedAt.get(chosen.ref.id) ?? []), offset])
    } else chosen.change(bid(0.01 * (1 + random.below(40)), random.below(4)))
    note()
  }
})
after(() => apiServer.stop())

const targets = () => {
  const ids = markets.map(({ ref }) => ref.id)
  const has =
    (...wanted: readonly number[]) =>
    (ref: MarketView['ref']) =>
      wanted.some((index) => ids[index] === ref.id)
  return [
    { command: { market_ids: ids.slice(0, 1) }, has: has(0) },
    { command: { market_ids: [ids[1], ids[3], ids[4]] }, has: has(1, 3, 4) },
    { command: { platform: 'venue_a' }, has: has(0, 1, 2) },
    { command: { market_ids: ['*'] }, has: () => true },
  ]
}

/** A client that has the books of an offset. */
function clientBooks(offset: number, has: (ref: MarketView['ref']) => boolean): RebuiltBooks {
  const rebuilt = new RebuiltBooks()
  for (const { ref } of markets) {
    const book = past[offset]?.get(ref.id)
    if (book === undefined || !has(ref)) continue
    const sideOf = (levels: readonly Level[]) =>
      new Map(levels.map(({ price, size }) => [Number(price), Number(size)]))
    rebuilt.seqs.set(ref.id, book.seq)
    rebuilt.books.set(ref.id, {
      bids: sideOf(book.levels.bids),
      asks: sideOf(book.levels.asks),
    })
  }
  return rebuilt
}

function assertTrue(rebuilt: RebuiltBooks, has: (ref: MarketView['ref']) => boolean, of: string) {
  const { publisher } = apiServer.engine
  assert.deepEqual(rebuilt.defects, [], of)
  for (const { ref, naive } of markets.filter(({ ref }) => has(ref))) {
    const truth = { bids: naive.levels('bid'), asks: naive.levels('ask') }
    assert.deepEqual(rebuilt.levels(ref.id), truth, `${of} ${ref.id}`)
    assert.equal(rebuilt.seqs.get(ref.id), publisher.latest('orderbook', ref.number).seq)
  }
}

async function resume(client: StreamClient, command: Readonly<Record<string, unknown>>) {
  clock.advance(120)
  const id = client.messages.length
  client.send({ action: 'subscribe', id, channel: 'orderbook', ...command })
  const end = await client.next(
    (message) => message.id === id && (message.type === 'resumed' || message.type === 'synced'),
  )
  const messages = client.messages.slice(id, client.messages.indexOf(end))
  return { end, messages: messages.filter(({ channel, type }) => channel && type !== 'subscribed') }
}

const idsOf = (messages: readonly Message[], type: string) =>
  messages.filter((message) => message.type === type).map((message) => String(message.market_id))

describe('resume of the orderbook channel', () => {
  test('resumes books from every offset, and sends snapshots for replaced books and no others', async () => {
    const { publisher } = apiServer.engine
    const newest = publisher.offset('orderbook')
    for (const [index, { command, has }] of targets().entries()) {
      const client = await StreamClient.open(apiServer.port)
      for (let offset = EARLY; offset <= newest; offset += 1) {
        const of = `target ${index} since ${offset}`
        const since = { epoch: 'k3f9c2', offset }
        const { end, messages } = await resume(client, { ...command, since })
        const rebuilt = clientBooks(offset, has)
        for (const message of messages) rebuilt.read(message)
        assertTrue(rebuilt, has, of)
        const isReplaced = (id: string) => (replacedAt.get(id) ?? []).some((at) => at >= offset)
        const expected = markets.filter(({ ref }) => has(ref) && isReplaced(ref.id))
        const names = expected.map(({ ref }) => ref.id).toSorted()
        assert.deepEqual(idsOf(messages, 'resync').toSorted(), names, of)
        assert.deepEqual(idsOf(messages, 'snapshot').toSorted(), names, of)
        assert.ok(
          idsOf(messages, 'update').every((id) => !isReplaced(id)),
          'snapshots replace updates',
        )
        const offsets = messages
          .filter(({ type }) => type === 'update')
          .map((one) => Number(one.offset))
        assert.deepEqual(
          offsets,
          offsets.toSorted((one, other) => one - other),
        )
        assert.deepEqual(
          [end.type, end.replayed, end.epoch, end.offset],
          ['resumed', offsets.length, 'k3f9c2', newest],
        )
        await client.ask(
          { action: 'unsubscribe', id: 'x', channel: 'orderbook', ...command },
          'unsubscribed',
        )
      }
      await client.close()
    }
  })

  test('sends live book updates from the event-loop tick in which the replay is complete', async () => {
    const { publisher } = apiServer.engine
    for (const { command, has } of targets()) {
      const client = await StreamClient.open(apiServer.port)
      const offset = publisher.offset('orderbook') - 3
      const rebuilt = clientBooks(offset, has)
      await resume(client, { ...command, since: { epoch: 'k3f9c2', offset } })
      for (const one of markets) {
        one.change(bid(0.07, offset))
        note()
      }
      await client.ask({ action: 'ping', id: 'live' }, 'pong')
      for (const message of client.messages) rebuilt.read(message)
      assertTrue(rebuilt, has, 'live')
      assert.equal(
        idsOf(client.messages, 'update').filter((id) => rebuilt.seqs.has(id)).length,
        idsOf(client.messages, 'update').length,
      )
      await client.close()
    }
  })

  test('sends resync, snapshot and synced for every market when the cache lacks the updates after the client’s offset', async () => {
    const { publisher } = apiServer.engine
    for (const [since, reason] of [
      [{ epoch: 'k3f9c2', offset: EARLY - 1 }, 'slow_consumer'],
      [{ epoch: 'k3f9c2', offset: publisher.offset('orderbook') + 100 }, 'slow_consumer'],
      [{ epoch: 'k3f9c2', offset: Number.MAX_SAFE_INTEGER }, 'slow_consumer'],
      [{ epoch: 'old1', offset: EARLY }, 'restart'],
      [{ epoch: 'garbage', offset: 0 }, 'restart'],
    ] as const) {
      for (const { command, has } of targets()) {
        const client = await StreamClient.open(apiServer.port)
        const { end, messages } = await resume(client, { ...command, since })
        const names = markets.filter(({ ref }) => has(ref)).map(({ ref }) => ref.id)
        const received = messages.map(({ type, market_id, reason: why }) => [type, market_id, why])
        assert.deepEqual(
          received,
          names.flatMap((id) => [
            ['resync', id, reason],
            ['snapshot', id, undefined],
          ]),
        )
        assert.deepEqual([end.type, end.offset], ['synced', publisher.offset('orderbook')])
        const rebuilt = new RebuiltBooks()
        markets[0]?.change(bid(0.05, publisher.offset('orderbook')))
        await client.ask({ action: 'ping', id: 'live' }, 'pong')
        for (const message of client.messages) rebuilt.read(message)
        assertTrue(rebuilt, has, JSON.stringify(since))
        await client.close()
      }
    }
  })

  test('sends the current state of prices and depth on a first subscribe, and on a second subscribe with since', async () => {
    const client = await StreamClient.open(apiServer.port)
    const market_ids = [markets[0]?.ref.id]
    markets[0]?.reprice(440_000)
    for (const since of [null, { epoch: 'k3f9c2', offset: 0 }, { epoch: 'x', offset: 5 }]) {
      for (const [channel, type] of [
        ['prices', 'price'],
        ['depth', 'depth'],
      ] as const) {
        const from = client.messages.length
        const command = { action: 'subscribe', id: from, channel, market_ids }
        await client.ask(since === null ? command : { ...command, since }, 'synced')
        assert.equal(idsOf(client.messages.slice(from), type).length, 1)
      }
    }
    await client.close()
  })
})

describe('limits of cached book updates', () => {
  const count = ringBookUpdatesMax
  for (const [name, missed] of [
    ['one message less than the cache holds', count - 1],
    ['as many messages as the cache holds', count],
    ['one message more than the cache holds', count + 1],
  ] as const) {
    test(`resumes with updates if the updates are cached, and otherwise with resync and snapshot: ${name}`, async () => {
      const own = await openApiServer({ clock: new ManualClock() })
      const [busy, quiet] = [own.engine.add('busy'), own.engine.add('quiet')]
      for (const one of [busy, quiet]) one.replace([level(0.4, 1)], [level(0.6, 1)])
      // An update after the replacements, so that the newest offset is above theirs.
      quiet.change(bid(0.2, 1))
      const client = await StreamClient.open(own.port)
      const command = { action: 'subscribe', channel: 'orderbook', market_ids: ['*'] }
      const synced = await client.ask({ ...command, id: 1 }, 'synced')
      await client.ask({ ...command, action: 'unsubscribe', id: 2 }, 'unsubscribed')
      for (let index = 0; index < missed; index += 1) busy.change(bid(0.3, 1 + (index % 7)))
      const since = { epoch: String(synced.epoch), offset: Number(synced.offset) }
      client.send({ ...command, id: 3, since })
      const end = await client.next(
        ({ id, type }) => id === 3 && (type === 'resumed' || type === 'synced'),
      )
      const isStored = missed <= count
      const counts = ['update', 'resync', 'snapshot'].map(
        (type) => idsOf(client.messages.slice(client.messages.indexOf(synced)), type).length,
      )
      assert.deepEqual(counts, isStored ? [missed, 0, 0] : [0, 2, 2])
      assert.equal(end.type, isStored ? 'resumed' : 'synced')
      const rebuilt = new RebuiltBooks()
      for (const message of client.messages) rebuilt.read(message)
      assert.deepEqual(rebuilt.defects, [])
      for (const { ref, naive } of [busy, quiet]) {
        const truth = { bids: naive.levels('bid'), asks: naive.levels('ask') }
        assert.deepEqual(rebuilt.levels(ref.id), truth)
      }
      await client.close()
      await own.stop()
    })
  }
})
