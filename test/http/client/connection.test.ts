import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { delayMs } from '../../../http/client/back-off.ts'
import { connect } from '../../../http/client/connect.ts'
import { EventQueue } from '../../../http/client/event-queue.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { openRig } from './rig.ts'

const ONE = 'venue_a_One'

describe('connection of the stream client', () => {
  test('waits before a reconnect for the delay that belongs to the server’s close code', () => {
    const end = (code: number, status: number | null = null) => ({ code, reason: '', status })
    const half = () => 0.5
    for (const code of [4000, 4010]) assert.equal(delayMs(end(code), 0, half), null)
    assert.equal(delayMs(end(1006, 401), 0, half), null)
    assert.equal(delayMs(end(1001), 0, half), 5000)
    assert.equal(
      delayMs(end(1001), 0, () => 0.999),
      9990,
    )
    assert.equal(delayMs(end(4009), 0, half), 45_000)
    for (const code of [1006, 4001, 4008, 4011, 4012, 1000]) {
      assert.equal(delayMs(end(code), 0, half), 250)
      const delays = [1, 2, 3, 7, 50].map((attempt) => delayMs(end(code), attempt, half))
      assert.deepEqual(delays, [750, 1500, 3000, 22_500, 22_500])
    }
  })

  for (const code of [1001, 4001, 4008, 4009, 4011, 4012, 1006]) {
    test(`reconnects and resumes after close code ${code}`, async () => {
      const rig = await openRig()
      await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
      rig.server.trade(ONE, 't1')
      await rig.settle()
      if (code === 1006) rig.server.cutAll()
      else rig.server.closeAll(code)
      await rig.until(() => rig.client.state === 'waiting')
      assert.equal(rig.of('state').at(-1)?.code, code)
      rig.server.trade(ONE, 't2')
      await rig.comeBack()
      await rig.settle()
      assert.deepEqual(
        rig.of('trade').map(({ data }) => data.id),
        ['t1', 't2'],
      )
    })
  }

  for (const code of [4000, 4010]) {
    test(`stays disconnected and leaves no timers running after close code ${code}`, async () => {
      const rig = await openRig()
      rig.server.script = () => true
      const { ready } = rig.client.subscribe({ channel: 'trades', marketIds: [ONE] })
      rig.server.closeAll(code)
      await rig.until(() => rig.client.state === 'closed')
      assert.equal((await ready).rejected[0]?.code, 'CLOSED')
      assert.equal(rig.clock.timerCount, 0)
      assert.equal(rig.server.connectionCount, 1)
    })
  }

  test('reconnects on the next subscribe after the server closed the connection for lack of subscriptions', async () => {
    const rig = await openRig()
    rig.server.closeAll(4001)
    await rig.until(() => rig.client.state === 'waiting')
    assert.equal(rig.clock.timerCount, 0)
    const { ready } = rig.client.subscribe({ channel: 'trades', marketIds: [ONE] })
    assert.deepEqual((await ready).accepted, [ONE])
    assert.equal(rig.server.connectionCount, 2)
  })

  test('disconnects from a silent server after two and a half heartbeat intervals', async () => {
    const rig = await openRig({ random: () => 0.5 })
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    rig.server.isMute = true
    rig.clock.advance(2500)
    rig.clock.advance(12_499)
    assert.equal(rig.client.state, 'live')
    rig.clock.advance(1)
    assert.equal(rig.client.state, 'waiting')
    rig.server.isMute = false
    rig.server.trade(ONE, 't1')
    await rig.comeBack()
    await rig.settle()
    assert.equal(rig.of('trade').length, 1)
  })

  test('waits longer after each failed connection attempt, and resets the delay on a heartbeat', async () => {
    const rig = await openRig()
    const delays: unknown[] = []
    for (let tick = 0; tick < 4; tick += 1) {
      rig.server.cutAll()
      await rig.until(() => rig.client.state === 'waiting')
      delays.push(rig.of('state').at(-1)?.retry_ms)
      await rig.comeBack()
    }
    assert.deepEqual(delays, [0, 500, 1000, 2000])
    rig.server.heartbeat()
    await rig.settle()
    rig.server.cutAll()
    await rig.until(() => rig.client.state === 'waiting')
    assert.equal(rig.of('state').at(-1)?.retry_ms, 0)
  })

  test('requests a ticket per connection instead of sending the key in the URL, stops on 401, and retries other failures', async () => {
    const answers: (() => Promise<string>)[] = []
    let requestCount = 0
    const rig = await openRig({
      ticket: () => {
        requestCount += 1
        return answers.shift()?.() ?? Promise.resolve(`t ${requestCount}`)
      },
    })
    const { server, client, clock } = rig
    client.subscribe({ channel: 'trades', all: true })
    await rig.settle()
    const refusal = (status: number) => () => Promise.reject(Object.assign(new Error(), { status }))
    answers.push(refusal(0), refusal(503), () => new Promise<string>(() => {}))
    server.cutAll()
    for (const reason of ['no ticket was given', 'refused with status 503', 'no ticket came']) {
      await rig.retry()
      if (reason === 'no ticket came') {
        await rig.until(() => client.state === 'connecting')
        // A subscription during the ticket request must not open a second connection.
        client.subscribe({ channel: 'whales', all: true })
        clock.advance(10_000)
      }
      await rig.until(() => rig.of('state').at(-1)?.reason === reason)
    }
    await rig.comeBack()
    assert.deepEqual(server.urls, ['/v1/ws?batch=on&ticket=t+1', '/v1/ws?batch=on&ticket=t+5'])
    answers.push(refusal(401))
    server.cutAll()
    await rig.retry()
    await rig.until(() => client.state === 'closed')
  })

  test('does not compare its offset with heartbeats while missed messages are still arriving', async () => {
    const rig = await openRig()
    await rig.client.subscribe({ channel: 'trades', all: true }).ready
    rig.server.heartbeat({ catching_up: true })
    await rig.until(() => rig.client.state === 'catching_up')
    rig.server.heartbeat()
    await rig.until(() => rig.client.state === 'live')
    assert.equal(rig.server.connectionCount, 1)
  })
})

describe('disconnects at each step of the stream protocol', () => {
  const steps = ['connected', 'subscribed', 'snapshot', 'synced', 'update'] as const
  for (const step of steps) {
    for (const channel of ['orderbook', 'trades'] as const) {
      test(`loses no message of ${channel} when disconnected right after ${step}`, async () => {
        const rig = await openRig()
        const { ready } = rig.client.subscribe({ channel, marketIds: [ONE] })
        let isCut = false
        const cutAfter = (type: string): void => {
          if (type !== step || isCut) return
          isCut = true
          rig.server.cutAll()
        }
        const { send } = rig.server
        rig.server.send = (peer, message) => {
          if (peer.socket.readyState !== WebSocket.OPEN) return
          send.call(rig.server, peer, message)
          cutAfter(String(message.type))
        }
        if (step === 'connected') rig.server.cutAll()
        await rig.server.until(() => isCut || rig.client.state === 'live')
        await rig.settle()
        assert.deepEqual((await ready).accepted, [ONE])
        for (let tick = 1; tick <= 3; tick += 1) {
          rig.server.trade(ONE, `t${tick}`)
          rig.server.change(ONE, 'bids', tick * 1000, 1)
        }
        await rig.settle()
        await rig.settle()
        if (channel === 'trades') {
          assert.deepEqual(
            rig.of('trade').map(({ data }) => data.id),
            ['t1', 't2', 't3'],
          )
        } else {
          assert.deepEqual(rig.client.book(ONE)?.bids, rig.server.books.get(ONE)?.levels('bids'))
          assert.equal(rig.client.book(ONE)?.isInSync, true)
        }
        assert.deepEqual(rig.of('gap'), [])
      })
    }
  }
})

describe('event consumers of the stream client', () => {
  test('yields events in order to an async iterator until the client is closed', async () => {
    const rig = await openRig()
    const seen: string[] = []
    const reading = (async () => {
      for await (const event of rig.client) seen.push(event.type)
    })()
    await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    rig.server.trade(ONE, 't1')
    await rig.settle()
    rig.client.close()
    rig.client.close()
    await reading
    assert.deepEqual(seen, ['subscribed', 'synced', 'trade', 'pong', 'state'])
    assert.equal(rig.clock.timerCount, 0)
    const late = await rig.client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    assert.equal(late.rejected[0]?.code, 'CLOSED')
    assert.equal(await rig.client.ping(), null)
  })

  test('reports the number of missed events to a slow consumer at the place of the missed events', async () => {
    const queue = new EventQueue(3, () => {})
    for (let number = 1; number <= 10; number += 1)
      queue.push({ type: 'fault', reason: `${number}` })
    const taken: unknown[] = []
    const take = async () => {
      const { value } = await queue.next()
      taken.push(value?.type === 'gap' ? value.lost : value?.reason)
    }
    for (let tick = 0; tick < 4; tick += 1) await take()
    queue.push({ type: 'fault', reason: 'after' })
    await take()
    assert.deepEqual(taken, ['1', '2', '3', 7, 'after'])
    queue.end()
    assert.equal((await queue.next()).done, true)
  })

  test('calls the remaining event handlers when one handler throws', async () => {
    const rig = await openRig()
    const thrown: unknown[] = []
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (error) => thrown.push(error.message))
    const client = connect({
      url: rig.server.url,
      WebSocket,
      clock: new ManualClock(),
      onEvent: (event) => {
        if (event.type === 'trade') throw new Error('mine')
      },
    })
    await client.subscribe({ channel: 'trades', marketIds: [ONE] }).ready
    rig.server.trade(ONE, 't1')
    await client.ping()
    client.close()
    for (const listener of before) process.on('uncaughtException', listener)
    assert.deepEqual(thrown, ['mine'])
    assert.equal(client.position('trades')?.offset, 1)
  })

  test('accepts http, https and wss URLs, and throws at once for an invalid URL', async () => {
    const urls: string[] = []
    class Refusing extends WebSocket {
      constructor(url: string) {
        urls.push(url)
        super('ws://127.0.0.1:1')
      }
    }
    const clock = new ManualClock()
    for (const url of ['http://h:1', 'wss://h/v1/ws', 'https://h/prefix/ws']) {
      connect({ url, apiKey: 'k&', encoding: 'msgpack', WebSocket: Refusing, clock }).close()
    }
    assert.deepEqual(urls, [
      'ws://h:1/v1/ws?api_key=k%26&encoding=msgpack&batch=on',
      'wss://h/v1/ws?api_key=k%26&encoding=msgpack&batch=on',
      'wss://h/prefix/ws?api_key=k%26&encoding=msgpack&batch=on',
    ])
    connect({ url: 'http://h:1', batch: false, WebSocket: Refusing, clock }).close()
    connect({ url: 'http://h:1', decode: () => null, WebSocket: Refusing, clock }).close()
    assert.deepEqual(urls.slice(3), ['ws://h:1/v1/ws', 'ws://h:1/v1/ws'])
    assert.throws(() => connect({ url: 'ftp://h', WebSocket: Refusing, clock }), TypeError)
    assert.throws(() => connect({ url: 'nonsense', WebSocket: Refusing, clock }), TypeError)
  })
})
