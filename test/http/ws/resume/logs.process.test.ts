import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { MarketView } from '../../../../actors/views.ts'
import { timeMs } from '../../../../engine/units.ts'
import { type Message, StreamClient } from '../../../support/clients/stream-client.ts'
import type { FakeEngine, FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'

type StoredTrade = ReturnType<MarketView['trades']>[number]

const isLong = process.env.TEST_LONG === '1'
const clock = new ManualClock()
let server: ApiServer
const markets: FakeMarket[] = []
const market = (index: number): FakeMarket => {
  const found = markets[index % markets.length]
  assert.ok(found !== undefined)
  return found
}

/** Creates two earlier runs, and stores messages of the current run that the ring buffer no longer contains. */
function publishEarlierRuns(engine: FakeEngine): void {
  for (let index = 0; index < 4; index += 1) {
    markets.push(engine.add(`m${index}`, { venue: index === 3 ? 'b' : 'a' }))
  }
  for (const { ago, count, end } of [
    { ago: 2, count: 17, end: 17 },
    // The server was killed before it committed the last trade of this run.
    { ago: 1, count: 11, end: 11 },
  ]) {
    const run = engine.tradeLog.addRun(ago, end)
    for (let offset = 1; offset <= count; offset += 1) {
      engine.tradeLog.addTrade(market(offset * 7), run, { offset, seq: offset })
    }
  }
  for (let index = 0; index < 9; index += 1) market(index).trade()
}

before(async () => {
  server = await openApiServer({ clock, before: publishEarlierRuns })
  for (let index = 0; index < 13; index += 1) market(index * 5).trade()
})
after(() => server.stop())

/** Every sent trade in the form in which a client should receive it. */
function sentTrades() {
  const runs = server.engine.tradeLog.runs()
  return runs.flatMap((run) =>
    markets
      .flatMap(({ ref, stored }) => stored.map((trade) => ({ ref, trade })))
      .filter(({ trade }) => trade.run === run.number)
      .sort((one, other) => Number(one.trade.offset) - Number(other.trade.offset))
      .map(({ ref, trade }) => ({ run, epoch: run.epoch, ref, trade })),
  )
}

interface Target {
  readonly name: string
  readonly command: Readonly<Record<string, unknown>>
  readonly has: (ref: MarketView['ref']) => boolean
}

const targets = (): readonly Target[] => {
  const [one, two] = [market(0).ref.id, market(3).ref.id]
  return [
    { name: 'single', command: { market_ids: [one] }, has: ({ id }) => id === one },
    { name: 'two', command: { market_ids: [one, two] }, has: ({ id }) => id === one || id === two },
    { name: 'venue', command: { platform: 'venue_a' }, has: ({ venue }) => venue === 'a' },
    { name: '*', command: { market_ids: ['*'] }, has: () => true },
  ]
}

const shown = (message: Message) => [message.market_id, message.epoch, message.offset, message.seq]
const isEnd = ({ type }: Message) =>
  type === 'resumed' || type === 'synced' || type === 'resume_limited'
const count = (messages: readonly Message[], type: string) =>
  messages.filter((message) => message.type === type).length

/** Resumes and returns all messages up to the final reply. */
async function resume(
  client: StreamClient,
  command: Readonly<Record<string, unknown>>,
): Promise<{ readonly messages: readonly Message[]; readonly end: Message }> {
  // Stays below the command limit and below the time limit without a subscription.
  clock.advance(120)
  const from = client.messages.length
  client.send({ action: 'subscribe', id: from, channel: 'trades', ...command })
  const end = await client.next((message) => isEnd(message) && message.id === from)
  return { messages: client.messages.slice(from, client.messages.indexOf(end)), end }
}

async function leave(client: StreamClient, { command }: Target): Promise<void> {
  await client.ask(
    { action: 'unsubscribe', id: 'x', channel: 'trades', ...command },
    'unsubscribed',
  )
}

describe('resume of the trades channel', () => {
  test('replays exactly the missed trades in order from every offset of every engine run, then sends live trades', async () => {
    const { tradeLog, publisher } = server.engine
    for (const target of targets()) {
      const client = await StreamClient.open(server.port)
      for (const { number, epoch, endOffset } of tradeLog.runs()) {
        const last = endOffset ?? publisher.offset('trades')
        for (let offset = 0; offset <= last; offset += 1) {
          const expected = sentTrades().filter(
            ({ run, ref, trade }) =>
              target.has(ref) &&
              (run.number > number || (run.number === number && Number(trade.offset) > offset)),
          )
          const { messages, end } = await resume(client, {
            ...target.command,
            since: { epoch, offset },
          })
          const trades = messages.filter(({ type }) => type === 'trade')
          assert.deepEqual(
            trades.map(shown),
            expected.map((published) => [
              published.ref.id,
              published.epoch,
              published.trade.offset,
              published.trade.seq,
            ]),
            `${target.name} since ${epoch} ${offset}`,
          )
          assert.equal(count(messages, 'gap'), 0)
          const { type, replayed, offset: newest } = end
          const now = publisher.offset('trades')
          assert.deepEqual(
            [type, end.epoch, replayed, newest],
            ['resumed', 'k3f9c2', trades.length, now],
          )
          await leave(client, target)
        }
      }
      await resume(client, { ...target.command, since: { epoch: 'old1', offset: 4 } })
      const before = client.messages.length
      for (const index of [0, 1, 3]) market(index).trade()
      await client.ask({ action: 'ping', id: 'live' }, 'pong')
      const wanted = [0, 1, 3].filter((index) => target.has(market(index).ref))
      assert.equal(count(client.messages.slice(before), 'trade'), wanted.length)
      await client.close()
    }
  })

  test('sends a gap of unknown start, then synced, when a client resumes with an unknown epoch or a future offset', async () => {
    const { publisher } = server.engine
    const cases = [
      { epoch: 'nobody', offset: 0 },
      { epoch: 'nobody', offset: 1e9 },
      { epoch: 'k3f9c2', offset: publisher.offset('trades') + 1_000 },
      { epoch: 'k3f9c2', offset: Number.MAX_SAFE_INTEGER },
      { epoch: 'old1', offset: 1e9 },
    ]
    for (const target of targets()) {
      for (const since of cases) {
        const client = await StreamClient.open(server.port)
        const { messages, end } = await resume(client, { ...target.command, since })
        const gaps = messages.filter(({ type }) => type === 'gap')
        assert.equal(gaps.length, target.name === 'two' || target.name === '*' ? 2 : 1)
        assert.ok(gaps.every(({ from_ms, to_ms }) => from_ms === null && to_ms === clock.nowMs()))
        assert.deepEqual([end.type, end.offset], ['synced', publisher.offset('trades')])
        market(0).trade()
        await client.ofType('trade')
        await client.close()
      }
    }
  })

  test('reports no gap to a client that received more trades of a killed engine run than were stored', async () => {
    const client = await StreamClient.open(server.port)
    const since = { epoch: 'old1', offset: 15 }
    const { messages, end } = await resume(client, { market_ids: ['*'], since })
    assert.equal(count(messages, 'gap'), 0)
    assert.equal(count(messages, 'trade'), server.engine.publisher.offset('trades'))
    assert.equal(end.type, 'resumed')
    await client.close()
  })

  test('reports expired trades as a gap, and replays the remaining trades', async () => {
    const { tradeLog } = server.engine
    const published = sentTrades().filter(({ epoch }) => epoch === 'old2')
    const hidden = new Set<StoredTrade>()
    for (const [first, last] of [
      [1, 3],
      [8, 9],
      [16, 17],
    ] as const) {
      for (const { trade } of published.slice(first - 1, last)) hidden.add(trade)
    }
    for (const one of markets) {
      const retained = one.stored.filter((trade) => !hidden.has(trade))
      one.stored.splice(0, one.stored.length, ...retained)
    }
    const [run] = tradeLog.runs()
    const next = tradeLog.runs()[1]
    assert.ok(run !== undefined && next !== undefined)
    for (const [offset, range] of [
      // From the start of the run, since no earlier message can be read, to the start of the next run.
      [0, [run.startedAtMs, next.startedAtMs]],
      [4, [published[6]?.trade.timeMs, next.startedAtMs]],
      [12, [published[14]?.trade.timeMs, next.startedAtMs]],
      [17, null],
    ] as const) {
      const client = await StreamClient.open(server.port)
      const since = { epoch: 'old2', offset }
      const { messages, end } = await resume(client, { platform: 'venue_b', since })
      const gaps = messages.filter(({ type }) => type === 'gap')
      assert.deepEqual(
        gaps.map(({ platform, from_ms, to_ms }) => [platform, from_ms, to_ms]),
        range === null ? [] : [['venue_b', ...range]],
      )
      assert.equal(end.type, 'resumed')
      const expected = sentTrades().filter(
        ({ ref, trade, epoch }) =>
          ref.venue === 'b' && (epoch !== 'old2' || Number(trade.offset) > offset),
      )
      assert.equal(count(messages, 'trade'), expected.length)
      await client.close()
    }
  })

  test('sends to a resuming client the losses that were announced while the client was disconnected', async () => {
    const { tradeLog, publisher, catalog } = server.engine
    const [, old] = tradeLog.runs()
    assert.ok(old !== undefined)
    const [fromMs, toMs] = [timeMs(1_000), timeMs(2_000)]
    tradeLog.addLoss(old.number, 6, { venue: 'a', market: null, fromMs, toMs, count: 4 })
    const position = { epoch: 'k3f9c2', offset: publisher.offset('trades') }
    const platform = catalog.names.platform('b')
    publisher.publish({
      ...{ kind: 'gap', channel: 'trades', venue: 'b', platform },
      ...{ market: market(3).ref, fromMs: timeMs(3_000), toMs: timeMs(4_000), count: null },
    })
    market(3).trade()
    const gapsOf = async (command: Readonly<Record<string, unknown>>) => {
      const client = await StreamClient.open(server.port)
      const { messages } = await resume(client, command)
      await client.close()
      return messages
        .filter(({ type }) => type === 'gap')
        .map((gap) => [gap.platform ?? gap.market_id, gap.from_ms, gap.count])
    }
    const both = [
      ['venue_a', 1_000, 4],
      [market(3).ref.id, 3_000, undefined],
    ]
    const single = { market_ids: [market(0).ref.id] }
    assert.deepEqual(await gapsOf({ market_ids: ['*'], since: { epoch: 'old1', offset: 6 } }), both)
    assert.deepEqual(await gapsOf({ market_ids: ['*'], since: { epoch: 'old1', offset: 7 } }), [
      both[1],
    ])
    assert.deepEqual(await gapsOf({ ...single, since: { epoch: 'old1', offset: 6 } }), [both[0]])
    assert.deepEqual(await gapsOf({ ...single, since: position }), [])
    assert.deepEqual(await gapsOf({ platform: 'venue_b', since: position }), [both[1]])
    const later = { epoch: 'k3f9c2', offset: publisher.offset('trades') }
    assert.deepEqual(await gapsOf({ platform: 'venue_b', since: later }), [])
    tradeLog.lost.length = 0
  })
})

describe('replay limit of one command', () => {
  for (const missed of isLong ? [9_999, 10_000, 10_001, 20_003] : [10_000, 10_001]) {
    test(`replays ${missed} missed trades of two engine runs, divided into parts when the number is above the limit`, async (t) => {
      const own = new ManualClock()
      let traded: FakeMarket | null = null
      const many = await openApiServer({
        clock: own,
        before: (engine) => {
          traded = engine.add('many')
          const run = engine.tradeLog.addRun(1, 9_990)
          for (let offset = 1; offset <= 9_990; offset += 1) {
            engine.tradeLog.addTrade(traded, run, { offset, seq: offset })
          }
          for (let index = 9_990; index < missed; index += 1) {
            traded.trade({ timeMs: timeMs(index), ordinal: 0 })
          }
        },
      })
      t.after(() => many.stop())
      const client = await StreamClient.open(many.port)
      const partsMax = Math.ceil(missed / 10_000)
      let since = { epoch: 'old1', offset: 0 }
      let parts = 0
      for (;;) {
        parts += 1
        assert.ok(
          parts <= partsMax,
          'the client receives every trade in the smallest number of parts',
        )
        const command = { action: 'subscribe', id: parts, channel: 'trades', market_ids: ['*'] }
        client.send({ ...command, since })
        const end = await client.next((message) => isEnd(message) && message.id === parts)
        if (end.type === 'resumed') break
        assert.equal(end.type, 'resume_limited')
        since = { epoch: String(end.epoch), offset: Number(end.offset) }
      }
      assert.equal(parts, partsMax)
      const published = client.messages.filter(({ type }) => type === 'trade').map(shown)
      assert.equal(published.length, missed)
      assert.equal(new Set(published.map(String)).size, missed)
      assert.equal(count(client.messages, 'gap'), 0)
    })
  }
})
