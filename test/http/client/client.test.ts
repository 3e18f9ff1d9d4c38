import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openRig, type Rig } from './rig.ts'

const ONE = 'venue_a_One'
const TWO = 'venue_a_Two'

const sinces = (rig: Rig) =>
  rig.server.commands
    .filter(({ action }) => action === 'subscribe')
    .map(({ connection, since }) => ({ connection, since: since ?? null }))

const tradeIds = (rig: Rig) => rig.of('trade').map(({ data }) => data.id)

describe('subscriptions of the stream client', () => {
  test('resolves `ready` of a subscription with the canonical market ids and the rejected market ids', async () => {
    const rig = await openRig()
    const request = { channel: 'trades', marketIds: ['VENUE_A_ONE', 'venue_a_None'] } as const
    const answer = await rig.client.subscribe(request).ready
    assert.deepEqual(answer, {
      accepted: [ONE],
      rejected: [{ market_id: 'venue_a_None', code: 'UNKNOWN_MARKET' }],
    })
    rig.server.trade(ONE, 't1')
    await rig.settle()
    assert.deepEqual(tradeIds(rig), ['t1'])
  })

  test('subscribes to market ids in batches of 100, and sends fewer commands than the server’s rate limit allows', async () => {
    const markets = Array.from({ length: 2050 }, (_, index) => `venue_a_${index}`)
    const rig = await openRig({ markets })
    const { ready } = rig.client.subscribe({ channel: 'trades', marketIds: markets })
    await rig.server.until(() => rig.server.commands.length === 16)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(rig.server.commands.length, 16)
    rig.clock.advance(1000)
    assert.equal((await ready).accepted.length, 2050)
    const sizes = rig.server.commands.map(
      ({ market_ids }) => Array.isArray(market_ids) && market_ids.length,
    )
    assert.deepEqual(sizes, [...Array.from({ length: 20 }, () => 100), 50])
  })

  for (const hasId of [true, false]) {
    test(`resends a command that the server rejects with RATE_LIMITED (id in the error: ${hasId})`, async () => {
      const rig = await openRig()
      let refusals = 2
      rig.server.script = (command, peer) => {
        if (refusals === 0) return false
        refusals -= 1
        const id = hasId ? command.id : null
        rig.server.send(peer, { type: 'error', id, code: 'RATE_LIMITED', message: 'slowly' })
        return true
      }
      const { ready } = rig.client.subscribe({ channel: 'trades', marketIds: [ONE] })
      for (let refused = 1; refused <= 2; refused += 1) {
        await rig.until(() => rig.of('error').length === refused)
        rig.clock.advance(1100)
      }
      assert.deepEqual((await ready).accepted, [ONE])
    })
  }

  test('detects with a ping that the reply to a command was lost, and resends the command', async () => {
    const rig = await openRig()
    let isFirst = true
    rig.server.script = ({ action }) => {
      const isLost = action === 'subscribe' && isFirst
      if (isLost) isFirst = false
      return isLost
    }
    const { ready } = rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE] })
    await rig.server.until(() => rig.server.commands.length === 1)
    for (let second = 0; second < 10; second += 1) {
      rig.server.heartbeat()
      await rig.until(() => rig.of('heartbeat').length === second + 1)
      rig.clock.advance(2500)
    }
    assert.deepEqual((await ready).accepted, [ONE])
  })

  test('sends an unsubscribe for a shared market when the last of two subscriptions to the market ends', async () => {
    const rig = await openRig()
    const first = rig.client.subscribe({ channel: 'trades', marketIds: [ONE, TWO] })
    const second = rig.client.subscribe({ channel: 'trades', marketIds: [ONE] })
    await Promise.all([first.ready, second.ready])
    first.unsubscribe()
    first.unsubscribe()
    await rig.settle()
    rig.server.trade(ONE, 't1')
    rig.server.trade(TWO, 't2')
    await rig.settle()
    assert.deepEqual(tradeIds(rig), ['t1'])
    second.unsubscribe()
    await rig.settle()
    const outs = rig.server.commands.filter(({ action }) => action === 'unsubscribe')
    assert.deepEqual(
      outs.map(({ market_ids }) => market_ids),
      [[TWO], [ONE]],
    )
  })

  test('stays subscribed to a market when an overlapping wildcard subscription ends', async () => {
    const rig = await openRig()
    const single = rig.client.subscribe({ channel: 'trades', marketIds: [ONE] })
    await single.ready
    const wildcard = rig.client.subscribe({ channel: 'trades', all: true })
    await wildcard.ready
    wildcard.unsubscribe()
    await rig.settle()
    rig.server.trade(TWO, 't2')
    rig.server.trade(ONE, 't1')
    await rig.settle()
    assert.deepEqual(tradeIds(rig), ['t1'])
  })
})

for (const encoding of ['json', 'msgpack'] as const) {
  describe(`books of the stream client in ${encoding}`, () => {
    test('rebuilds the server’s book from a snapshot and updates', async () => {
      const rig = await openRig({ encoding })
      rig.server.change(ONE, 'bids', 420_000, 100_000_000)
      await rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE] }).ready
      for (let tick = 1; tick <= 120; tick += 1) {
        rig.server.change(
          ONE,
          tick % 2 ? 'asks' : 'bids',
          100_000 + tick * 3001,
          (tick % 5) * 123_456,
        )
      }
      await rig.settle()
      const view = rig.client.book(ONE)
      const truth = rig.server.books.get(ONE)
      assert.deepEqual(view?.bids, truth?.levels('bids'))
      assert.deepEqual(view?.asks, truth?.levels('asks'))
      assert.equal(view?.seq, 121)
      assert.equal(view?.isInSync, true)
      assert.deepEqual(rig.of('gap'), [])
      assert.equal(rig.of('update')[0]?.received_ms, 1_795_000_000_005)
    })

    test('reports a gap in seq once, drops later updates of the book, and requests a snapshot', async () => {
      const rig = await openRig({ encoding })
      await rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE, TWO] }).ready
      rig.server.damage = ({ seq, type }) => (type === 'update' && seq === 2 ? 'drop' : 'send')
      for (let price = 1; price <= 5; price += 1) rig.server.change(ONE, 'bids', price * 1000, 1000)
      await rig.until(() => rig.of('gap').length === 1)
      await rig.settle()
      const { cause, from_seq, to_seq, market_id, state_follows } = rig.of('gap')[0] ?? {}
      assert.deepEqual(
        [cause, from_seq, to_seq, market_id, state_follows],
        ['seq_hole', 2, 3, ONE, true],
      )
      assert.equal(rig.of('gap').length, 1)
      assert.deepEqual(
        rig.of('update').map(({ seq }) => seq),
        [1],
      )
      assert.deepEqual(rig.client.book(ONE)?.bids, rig.server.books.get(ONE)?.levels('bids'))
      assert.equal(rig.client.book(ONE)?.isInSync, true)
    })

    test('reports a mismatch of the book checksum, and requests a snapshot', async () => {
      const rig = await openRig({ encoding })
      await rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE] }).ready
      for (let tick = 1; tick <= 49; tick += 1) rig.server.change(ONE, 'bids', tick, 1)
      await rig.settle()
      // Changes the server's book without a message, so the client's levels are wrong although its seq is right.
      rig.server.books.get(ONE)?.bids.set(777_000, 5)
      rig.server.change(ONE, 'bids', 60, 1)
      await rig.until(() => rig.of('gap').length === 1)
      await rig.settle()
      assert.equal(rig.of('gap')[0]?.cause, 'checksum')
      assert.deepEqual(rig.client.book(ONE)?.bids, rig.server.books.get(ONE)?.levels('bids'))
    })
  })
}

describe('reconnects of the stream client', () => {
  test('resumes synced subscriptions from the last offset, and repeats all other subscriptions without an offset', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE] }).ready
    rig.server.change(ONE, 'bids', 1000, 1)
    await rig.settle()
    rig.server.script = ({ market_ids }) => Array.isArray(market_ids) && market_ids.includes(TWO)
    rig.client.subscribe({ channel: 'orderbook', marketIds: [TWO] })
    await rig.server.until(() => rig.server.commands.at(-1)?.action === 'subscribe')
    rig.server.script = () => false
    rig.server.cutAll()
    await rig.until(() => rig.client.state === 'waiting')
    rig.server.change(ONE, 'bids', 2000, 1)
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(
      sinces(rig).filter(({ connection }) => connection === 2),
      [
        { connection: 2, since: { epoch: 'e1', offset: 1 } },
        { connection: 2, since: null },
      ],
    )
    assert.deepEqual(
      rig.of('update').map(({ seq }) => seq),
      [1, 2],
    )
    assert.deepEqual(rig.of('gap'), [])
    assert.equal(rig.client.book(TWO)?.isInSync, true)
  })

  test('resumes from the same offset when several resumes in a row are interrupted', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE, TWO] }).ready
    rig.server.trade(ONE, 't1')
    await rig.settle()
    rig.server.cutAll()
    await rig.until(() => rig.client.state === 'waiting')
    for (let number = 2; number <= 9; number += 1)
      rig.server.trade(number % 2 ? ONE : TWO, `t${number}`)
    for (let stop = 0; stop <= 8; stop += 1) {
      rig.server.script = ({ id, action, channel }, peer) => {
        if (action !== 'subscribe') return false
        const log = rig.server.logs.trades ?? []
        rig.server.send(peer, {
          type: 'subscribed',
          id,
          channel,
          accepted: [ONE, TWO],
          rejected: [],
        })
        for (const row of log.slice(1, 1 + stop)) rig.server.send(peer, row)
        peer.socket.close(1001)
        return true
      }
      await rig.retry()
      await rig.until(
        () => rig.of('state').filter(({ state }) => state === 'waiting').length === stop + 2,
      )
    }
    rig.server.script = () => false
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(tradeIds(rig), ['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9'])
    const resumes = sinces(rig).filter(({ connection }) => connection > 1)
    assert.equal(resumes.length, 10)
    for (const { since } of resumes) assert.deepEqual(since, { epoch: 'e1', offset: 1 })
    assert.deepEqual(rig.of('gap'), [])
  })

  test('continues a resume that the server sends in parts at the end of the last part, even after another disconnect', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', all: true }).ready
    rig.server.trade(ONE, 't1')
    await rig.settle()
    rig.server.cutAll()
    await rig.until(() => rig.client.state === 'waiting')
    for (let number = 2; number <= 12; number += 1) rig.server.trade(ONE, `t${number}`)
    rig.server.replayMax = 3
    rig.server.script = ({ since }, peer) => {
      if (JSON.stringify(since) !== '{"epoch":"e1","offset":7}' || rig.server.connectionCount > 2)
        return false
      peer.socket.terminate()
      return true
    }
    await rig.retry()
    await rig.server.until(() => rig.server.connectionCount === 2 && rig.server.peers.size === 0)
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(
      tradeIds(rig),
      Array.from({ length: 12 }, (_, index) => `t${index + 1}`),
    )
    const offsets = sinces(rig).map(({ since }) => since)
    assert.deepEqual(offsets, [
      null,
      ...[1, 4, 7, 7, 10].map((offset) => ({ epoch: 'e1', offset })),
    ])
    assert.deepEqual(rig.client.position('trades'), { epoch: 'e1', offset: 12 })
  })

  for (const channel of ['trades', 'whales'] as const) {
    test(`delivers each trade exactly once to the application when the server is killed (${channel})`, async () => {
      const rig = await openRig()
      await rig.client.subscribe({ channel, marketIds: [ONE, TWO] }).ready
      rig.server.trade(ONE, 't1', channel)
      rig.server.trade(ONE, 't2', channel)
      await rig.settle()
      // The trade was sent but not committed, so the next run fetches t2 from the venue again.
      rig.server.logs[channel]?.pop()
      rig.server.restart()
      rig.server.trade(ONE, 't2', channel)
      rig.server.trade(TWO, 't3', channel)
      await rig.comeBack()
      rig.server.trade(ONE, 't4', channel)
      await rig.settle()
      const ids = rig.of(channel === 'trades' ? 'trade' : 'whale').map(({ data }) => data.id)
      assert.deepEqual(ids, ['t1', 't2', 't3', 't4'])
      assert.deepEqual(rig.of('gap'), [])
      assert.equal(rig.client.position(channel)?.epoch, 'e2')
    })
  }

  test('recovers a lost trade by resuming from the offset before the trade', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE, TWO] }).ready
    rig.server.trade(ONE, 't1')
    rig.server.damage = ({ offset }) => (offset === 2 ? 'drop' : 'send')
    rig.server.trade(ONE, 't2')
    rig.server.trade(TWO, 't3')
    rig.server.damage = () => 'send'
    rig.server.trade(ONE, 't4')
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(tradeIds(rig).sort(), ['t1', 't2', 't3', 't4'])
    assert.deepEqual(sinces(rig).at(-1)?.since, { epoch: 'e1', offset: 1 })
    assert.deepEqual(rig.of('gap'), [])
  })

  test('reports one gap for a trade that a resume does not return', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'whales', marketIds: [ONE] }).ready
    rig.server.trade(ONE, 't1', 'whales')
    rig.server.damage = ({ seq, type }) => (type === 'whale' && seq === 2 ? 'drop' : 'send')
    for (const id of ['t2', 't3', 't4']) rig.server.trade(ONE, id, 'whales')
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(
      rig.of('whale').map(({ data }) => data.id),
      ['t1', 't3', 't4'],
    )
    const gaps = rig.of('gap').map(({ cause, lost }) => [cause, lost])
    assert.deepEqual(gaps, [['seq_hole', 1]])
  })

  test('recovers lost wildcard messages when a heartbeat has a higher offset than the client', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', all: true }).ready
    rig.server.damage = () => 'drop'
    rig.server.trade(ONE, 't1')
    rig.server.damage = () => 'send'
    rig.server.heartbeat()
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(tradeIds(rig), ['t1'])
    assert.deepEqual(rig.of('gap'), [])
  })

  test('recovers the last message of a single-market subscription when the message was lost', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    await rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE] }).ready
    rig.server.trade(ONE, 't1')
    rig.server.change(ONE, 'bids', 1000, 1)
    rig.server.damage = () => 'drop'
    rig.server.trade(ONE, 't2')
    rig.server.change(ONE, 'bids', 2000, 1)
    rig.server.damage = () => 'send'
    for (let beat = 0; beat < 6; beat += 1) rig.server.heartbeat()
    await rig.comeBack()
    await rig.settle()
    assert.deepEqual(tradeIds(rig), ['t1', 't2'])
    assert.equal(rig.client.book(ONE)?.bids.length, 2)
  })

  test('reports a gap once when the server announces the gap twice', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    const gap = { type: 'gap', channel: 'trades', market_id: ONE, from_ms: null, to_ms: 7 }
    rig.server.cutAll()
    rig.server.script = (command, peer) => {
      if (command.action !== 'subscribe') return false
      const { id, channel } = command
      rig.server.send(peer, { type: 'subscribed', id, channel, accepted: [ONE], rejected: [] })
      rig.server.send(peer, gap)
      if (rig.server.connectionCount === 2) peer.socket.close(1001)
      else rig.server.send(peer, { type: 'synced', id, channel, epoch: 'e1', offset: 50 })
      return true
    }
    await rig.until(() => rig.client.state === 'waiting')
    await rig.retry()
    await rig.until(() => rig.of('gap').length === 1)
    await rig.comeBack()
    assert.equal(rig.of('gap').length, 1)
    assert.deepEqual(rig.client.position('trades'), { epoch: 'e1', offset: 50 })
    assert.equal(rig.of('gap')[0]?.cause, 'lost')
  })

  test('reports the complete range of a gap that grows while the client’s resume is interrupted', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    const gap = { type: 'gap', channel: 'trades', market_id: ONE, from_ms: null }
    rig.server.cutAll()
    rig.server.script = (command, peer) => {
      if (command.action !== 'subscribe') return false
      const { id, channel } = command
      const { connectionCount } = rig.server
      rig.server.send(peer, { type: 'subscribed', id, channel, accepted: [ONE], rejected: [] })
      rig.server.send(peer, { ...gap, to_ms: connectionCount * 10 })
      if (connectionCount < 4) peer.socket.close(1001)
      else rig.server.send(peer, { type: 'synced', id, channel, epoch: 'e1', offset: 50 })
      return true
    }
    while (rig.server.connectionCount < 4) await rig.comeBack()
    await rig.settle()
    const gaps = rig.of('gap').map(({ from_ms, to_ms }) => [from_ms, to_ms])
    assert.deepEqual(gaps, [
      [null, 20],
      [20, 30],
      [30, 40],
    ])
  })

  test('reports each replacement of a book when resumes are interrupted', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'orderbook', marketIds: [ONE] }).ready
    rig.server.cutAll()
    rig.server.script = ({ id, action, channel }, peer) => {
      if (action !== 'subscribe' || rig.server.connectionCount === 4) return false
      const resync = { type: 'resync', channel, market_id: ONE, reason: 'venue_gap' }
      rig.server.change(ONE, 'bids', 500_000, rig.server.connectionCount * 1_000_000)
      rig.server.send(peer, { type: 'subscribed', id, channel, accepted: [ONE], rejected: [] })
      rig.server.send(peer, resync)
      rig.server.send(peer, rig.server.snapshot(ONE))
      peer.socket.close(1001)
      return true
    }
    while (rig.server.connectionCount < 4) await rig.comeBack()
    await rig.settle()
    const causes = rig.of('gap').map(({ cause }) => cause)
    assert.deepEqual(causes, ['venue_gap', 'venue_gap'])
    assert.equal(rig.of('snapshot').length, 3)
    assert.equal(rig.client.book(ONE)?.isInSync, true)
  })

  test('reports one gap when the server sends several resyncs before a snapshot', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'orderbook', all: true }).ready
    const resync = { type: 'resync', channel: 'orderbook', market_id: ONE, reason: 'slow_consumer' }
    rig.server.publish(resync)
    rig.server.publish(resync)
    await rig.settle()
    assert.equal(rig.client.book(ONE)?.isInSync, false)
    rig.server.replace(ONE)
    await rig.settle()
    assert.deepEqual(
      rig.of('gap').map(({ cause }) => cause),
      ['slow_consumer'],
    )
    assert.equal(rig.client.book(ONE)?.isInSync, true)
  })

  test('reports after a resync that a market has no candle, and reports no gap before the next candle', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'candles', marketIds: [ONE] }).ready
    const head = { channel: 'candles', market_id: ONE }
    rig.server.publish({ ...head, type: 'resync', reason: 'slow_consumer' })
    const times = { timestamp_ms: null, received_ms: null, published_ms: 1 }
    const position = { epoch: rig.server.epoch, offset: 0, seq: 0 }
    rig.server.publish({ ...head, type: 'candle', ...position, ...times, data: null })
    rig.server.state('candles', ONE)
    await rig.settle()
    assert.deepEqual(
      rig.of('candle').map(({ seq, data }) => [seq, data === null]),
      [
        [0, false],
        [0, true],
        [1, false],
      ],
    )
    assert.deepEqual(
      rig.of('gap').map(({ cause }) => cause),
      ['slow_consumer'],
    )
    assert.deepEqual(rig.of('fault'), [])
  })

  test('reports the number of missed prices in a gap, and no number if the subscription conflates prices', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'prices', marketIds: [ONE] }).ready
    const options = { conflate_ms: 250 }
    await rig.client.subscribe({ channel: 'prices', marketIds: [TWO], options }).ready
    rig.server.state('prices', ONE)
    await rig.settle()
    rig.server.cutAll()
    await rig.until(() => rig.client.state === 'waiting')
    for (let tick = 0; tick < 4; tick += 1) rig.server.state('prices', ONE)
    for (let tick = 0; tick < 4; tick += 1) rig.server.state('prices', TWO)
    await rig.comeBack()
    await rig.settle()
    const gaps = rig
      .of('gap')
      .map(({ market_id, cause, from_seq, lost }) => [market_id, cause, from_seq, lost])
    assert.deepEqual(gaps, [[ONE, 'away', 2, 3]])
    const seqs = rig.of('price').map(({ market_id, seq }) => [market_id, seq])
    assert.deepEqual(seqs, [
      [ONE, 0],
      [TWO, 0],
      [ONE, 1],
      [ONE, 5],
      [TWO, 4],
    ])
  })

  test('reports a message that cannot be decoded, and recovers the lost trade with a resume', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    for (const { socket } of rig.server.peers) socket.send('{"type":"trade","chann')
    rig.server.trade(ONE, 't1')
    await rig.comeBack()
    await rig.settle()
    assert.equal(rig.of('fault').length, 1)
    assert.deepEqual(tradeIds(rig), ['t1'])
  })

  test('accepts a heartbeat that has an unknown field `data`', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    rig.server.heartbeat({ data: {} })
    rig.server.trade(ONE, 't1')
    await rig.settle()
    assert.equal(rig.of('heartbeat').length, 1)
    assert.deepEqual(tradeIds(rig), ['t1'])
  })
})
