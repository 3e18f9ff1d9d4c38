// Damages messages at random. Afterwards the client's data must equal the server's, and each loss must be reported.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { connect, type StreamEvent } from '../../../http/client/connect.ts'
import { openApiServer } from '../../support/rigs/api-server.ts'
import { ask, bid, level } from '../../support/worlds/builders.ts'
import { openRig, type Rig } from './rig.ts'

const MARKETS = ['venue_a_0', 'venue_a_1', 'venue_b_2', 'venue_b_3']
const SEEDS = process.env.TEST_LONG === '1' ? 200 : 3
const FLOWS = ['trades', 'whales', 'lifecycle'] as const

class EventBook {
  readonly bids = new Map<number, number>()
  readonly asks = new Map<number, number>()
  seq = 0

  apply(event: StreamEvent & { type: 'snapshot' | 'update' }): void {
    if (event.type === 'snapshot') {
      this.bids.clear()
      this.asks.clear()
    } else
      assert.equal(
        event.seq,
        this.seq + 1,
        'a delivered update follows the previous one without a gap',
      )
    this.seq = event.seq
    for (const side of ['bids', 'asks'] as const) {
      for (const { price, size } of event.data[side]) {
        if (size === 0) this[side].delete(Math.round(price * 1e6))
        else this[side].set(Math.round(price * 1e6), Math.round(size * 1e6))
      }
    }
  }
}

function turn(rig: Rig, random: Random, number: number): void {
  const { server } = rig
  const market = random.pick(MARKETS)
  const kind = random.below(100)
  if (kind < 50) {
    const side = random.pick(['bids', 'asks'] as const)
    server.change(market, side, random.below(30) * 10_000, random.below(4) * 1_000_000)
  } else if (kind < 70) server.trade(market, `t${number}`)
  else if (kind < 80) server.trade(market, `w${number}`, 'whales')
  else if (kind < 86) server.lifecycle(market, `l${number}`)
  else if (kind < 90) server.replace(market)
  else if (kind < 95) server.heartbeat()
  else if (kind < 98) server.cutAll()
  else if (kind < 99) server.restart()
  else server.closeAll(random.pick([1001, 4008, 4011]))
}

async function calm(rig: Rig): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await rig.settle()
    // A final undamaged message of each market reveals each gap before it.
    for (const market of MARKETS) {
      rig.server.change(market, 'bids', 990_000, (round + 1) * 1_000_000)
      rig.server.trade(market, `end-${round}-${market}`)
      rig.server.trade(market, `whale-${round}-${market}`, 'whales')
      rig.server.lifecycle(market, `event-${round}-${market}`)
    }
    rig.server.heartbeat()
    await rig.settle()
    await rig.settle()
  }
}

function assertCorrect(rig: Rig): void {
  const gaps = rig.of('gap')
  for (const market of MARKETS) {
    const view = rig.client.book(market)
    const truth = rig.server.books.get(market)
    assert.deepEqual(view?.bids, truth?.levels('bids'), market)
    assert.deepEqual(view?.asks, truth?.levels('asks'), market)
    const own = new EventBook()
    let isGap = true
    let epoch = ''
    for (const event of rig.events) {
      if (event.type === 'gap' && event.channel === 'orderbook') {
        if (event.market_id === market) isGap = true
      } else if (
        (event.type === 'snapshot' || event.type === 'update') &&
        event.market_id === market
      ) {
        const isJump = event.type === 'snapshot' && (event.seq !== own.seq || event.epoch !== epoch)
        assert.ok(!isJump || isGap, `${market} jumps to ${event.seq} without a word`)
        own.apply(event)
        isGap = false
        epoch = event.epoch
      }
    }
    assert.deepEqual([...own.bids].sort(), [...(truth?.bids ?? [])].sort())
  }
  for (const channel of FLOWS) {
    const type = ({ trades: 'trade', whales: 'whale', lifecycle: 'lifecycle' } as const)[channel]
    const handed = rig.of(type).map(({ epoch, market_id, seq }) => `${epoch} ${market_id} ${seq}`)
    const unique = new Set(handed)
    assert.equal(unique.size, handed.length, `${channel}: nothing twice`)
    const own = gaps.filter((gap) => gap.channel === channel)
    const isPublished = (row: { market_id: string; seq?: unknown }): boolean =>
      own.some(({ market_id, from_seq, to_seq }) => {
        const seq = Number(row.seq)
        return market_id === row.market_id && seq >= (from_seq ?? 0) && seq <= (to_seq ?? 0)
      })
    const log = rig.server.logs[channel] ?? []
    // A client cannot detect the loss of the last messages before a restart, because no later message has their epoch.
    const isLast = (row: (typeof log)[number]): boolean =>
      row.epoch !== rig.server.epoch &&
      !log.some(({ epoch, market_id, offset, seq }) => {
        const isLater = epoch === row.epoch && market_id === row.market_id && offset > row.offset
        return isLater && unique.has(`${epoch} ${market_id} ${seq}`)
      })
    const missing = log
      .filter((row) => !isLast(row))
      .filter((row) => !unique.has(`${row.epoch} ${row.market_id} ${row.seq}`) && !isPublished(row))
      .map((row) => `${row.epoch} ${row.market_id} ${row.seq}`)
    // A gap with cause `replay_short` has the number of missing messages but does not name them.
    const short = own.filter(({ cause }) => cause === 'replay_short')
    const lostCount = short.reduce((sum, { lost }) => sum + (lost ?? 0), 0)
    assert.ok(
      missing.length <= lostCount,
      `${channel}: missing ${missing.join(', ')}, reported ${lostCount}`,
    )
  }
}

describe('stream client with random damage', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const encoding = seed % 3 === 0 ? 'msgpack' : 'json'
    const isComplete = seed % 2 === 0
    test(`has correct books and trades and reports every loss when messages are randomly damaged (seed ${seed})`, async () => {
      const random = seededRandom('client', seed)
      const rig = await openRig({ markets: MARKETS, encoding, random: random.next })
      const target = isComplete ? { all: true } : { marketIds: MARKETS }
      for (const channel of ['orderbook', ...FLOWS] as const) {
        await rig.client.subscribe({ channel, ...target }).ready
      }
      rig.server.damage = () => {
        const roll = random.below(100)
        return roll < 3 ? 'drop' : roll < 6 ? 'twice' : roll < 8 ? 'hold' : 'send'
      }
      for (let number = 0; number < 300; number += 1) {
        turn(rig, random, number)
        if (number % 15 === 14) await rig.settle()
      }
      rig.server.damage = () => 'send'
      await calm(rig)
      assertCorrect(rig)
    })
  }
})

describe('stream client with the real API server', () => {
  for (const encoding of ['json', 'msgpack'] as const) {
    test(`receives books, trades and prices from the real API server in ${encoding}`, async () => {
      const apiServer = await openApiServer()
      const one = apiServer.engine.add('one')
      one.replace([level(0.4, 100), level(0.3, 1)], [level(0.5, 50)])
      const events: StreamEvent[] = []
      const client = connect({
        url: apiServer.origin,
        apiKey: 'ann-key',
        encoding,
        WebSocket,
        onEvent: (event) => events.push(event),
      })
      after(async () => {
        client.close()
        await apiServer.stop()
      })
      const id = one.ref.id
      const channels = ['orderbook', 'trades', 'prices'] as const
      for (const channel of channels) {
        const answer = await client.subscribe({ channel, marketIds: [id.toUpperCase()] }).ready
        assert.deepEqual(answer, { accepted: [id], rejected: [] })
      }
      for (let price = 0; price < 60; price += 1) {
        one.change(bid(0.2 + price / 1000, price + 0.5), ask(0.6, price))
      }
      const trade = one.trade()
      one.reprice(450_000)
      await client.ping()
      const view = client.book(id)
      const truth = one.book()
      const dollars = (levels: typeof truth.bids) =>
        levels.map(({ price, size }) => ({ price: price / 1e6, size: size / 1e6 }))
      assert.deepEqual(view?.bids, dollars(truth.bids))
      assert.deepEqual(view?.asks, dollars(truth.asks))
      assert.equal(view?.seq, truth.seq)
      const ids = events.flatMap((event) => (event.type === 'trade' ? event.data.id : []))
      assert.deepEqual(ids, [trade.nativeId])
      assert.equal(
        events.some((event) => event.type === 'price' && event.data.price === 0.45),
        true,
      )
      assert.deepEqual(
        events.filter(({ type }) => type === 'gap' || type === 'fault'),
        [],
      )
    })
  }
})
