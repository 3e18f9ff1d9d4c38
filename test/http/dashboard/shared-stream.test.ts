import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { connect, type StreamEvent } from '../../../http/client/connect.ts'
import {
  type FromStream,
  SharedStream,
  type ToStream,
} from '../../../http/dashboard/shared-stream.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import { bid, level } from '../../support/worlds/builders.ts'

let server: ApiServer
before(async () => {
  server = await openApiServer({ clock: new ManualClock() })
})
after(() => server.stop())

/** `emit` injects an event. `endPause` ends the pause after a post of books. */
function openShared() {
  const pauses: (() => void)[] = []
  let openedCount = 0
  let notify: (event: StreamEvent) => void = () => undefined
  const stream = new SharedStream({
    after: (_, action) => {
      pauses.push(action)
      return () => undefined
    },
    open: (onEvent) => {
      openedCount += 1
      notify = onEvent
      return connect({ url: server.origin, apiKey: 'ann-key', WebSocket, onEvent })
    },
  })
  const openTab = () => {
    const received: FromStream[] = []
    let wake: () => void = () => undefined
    const send: (command: ToStream) => void = stream.attach((one) => {
      received.push(one)
      wake()
    })
    const until = async (holds: () => boolean) => {
      while (!holds()) await new Promise<void>((resolve) => (wake = resolve))
    }
    const events = (type: StreamEvent['type']) =>
      received.flatMap((one) =>
        one.kind === 'event' && one.event.type === type ? [one.event] : [],
      )
    const views = () => received.flatMap((one) => (one.kind === 'book' ? [one.view] : []))
    const isReady = (id: number) => received.some((one) => one.kind === 'ready' && one.id === id)
    return { received, send, until, events, views, isReady }
  }
  const endPause = () => {
    for (const action of pauses.splice(0)) action()
  }
  return {
    stream,
    openTab,
    endPause,
    emit: (event: StreamEvent) => notify(event),
    opened: () => openedCount,
  }
}

const sockets = (): number =>
  [...server.engine.accounts.accounts.values()].reduce(
    (sum, { socketCount }) => sum + socketCount,
    0,
  )

describe('stream that browser tabs share', () => {
  test('shares one stream connection between browser tabs until the last tab closes', async () => {
    const rain = server.engine.add('rain')
    const snow = server.engine.add('snow')
    rain.replace([level(0.4, 10)], [level(0.5, 20)])
    const { stream, openTab, endPause, opened } = openShared()
    const [one, other] = [openTab(), openTab()]
    assert.equal(opened(), 0, 'no subscription, no connection')
    const marketIds = [rain.ref.id]
    one.send({ kind: 'follow', id: 1, request: { channel: 'orderbook', marketIds } })
    await one.until(() => one.isReady(1) && one.views().length > 0)
    other.send({ kind: 'follow', id: 7, request: { channel: 'orderbook', marketIds } })
    assert.deepEqual(other.views().at(-1), one.views().at(-1))
    other.send({ kind: 'follow', id: 8, request: { channel: 'trades', marketIds: [snow.ref.id] } })
    await other.until(() => other.isReady(7) && other.isReady(8))
    snow.trade()
    await other.until(() => other.events('trade').length === 1)
    rain.change(bid(0.41, 5))
    await one.until(() => {
      endPause()
      return one.views().at(-1)?.bids[0]?.price === 0.41
    })
    assert.deepEqual(other.views().at(-1)?.bids, one.views().at(-1)?.bids)
    assert.deepEqual(one.events('trade'), [], 'trades go only to the tab that follows them')
    assert.deepEqual([opened(), sockets()], [1, 1])
    one.send({ kind: 'leave' })
    rain.change(bid(0.42, 5))
    await other.until(() => {
      endPause()
      return other.views().at(-1)?.bids[0]?.price === 0.42
    })
    assert.notEqual(one.views().at(-1)?.bids[0]?.price, 0.42)
    assert.equal(stream.tabCount, 1)
    other.send({ kind: 'leave' })
    while (sockets() > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(stream.tabCount, 0)
  })

  test('sends the current connection and feed states to a new tab, and merges book changes that arrive within one pause', async () => {
    const hail = server.engine.add('hail')
    hail.replace([level(0.4, 10)], [level(0.5, 20)])
    const { openTab, endPause, emit } = openShared()
    const one = openTab()
    one.send({ kind: 'follow', id: 1, request: { channel: 'orderbook', marketIds: [hail.ref.id] } })
    await one.until(() => one.isReady(1) && one.events('status').length > 1)
    endPause()
    const late = openTab()
    assert.equal(late.events('state').length, 1)
    assert.deepEqual(late.events('status'), one.events('status'))
    endPause()
    const before = one.received.length
    for (const seq of [1, 2, 3]) emit(update(hail.ref.id, seq))
    const counts = () =>
      one.received
        .slice(before)
        .flatMap((received) => (received.kind === 'book' ? [received.count] : []))
    assert.deepEqual(counts(), [1])
    endPause()
    assert.deepEqual(counts(), [1, 2])
    one.send({ kind: 'leave' })
    late.send({ kind: 'leave' })
  })

  test('detaches a tab that misses several heartbeats, and does not detach a tab that acknowledges heartbeats', async () => {
    const { stream, openTab, emit } = openShared()
    const [awake, asleep] = [openTab(), openTab()]
    for (const tab of [awake, asleep]) {
      tab.send({ kind: 'follow', id: 1, request: { channel: 'trades', all: true } })
    }
    await awake.until(() => awake.isReady(1))
    for (let counter = 0; counter < 9; counter += 1) {
      emit({ type: 'heartbeat', timestamp_ms: 0, counter, epoch: 'e' })
      awake.send({ kind: 'seen' })
    }
    assert.equal(awake.events('heartbeat').length, 9)
    assert.equal(asleep.events('heartbeat').length, 4)
    assert.equal(asleep.received.at(-1)?.kind, 'dropped')
    const count = asleep.received.length
    asleep.send({ kind: 'follow', id: 2, request: { channel: 'whales', all: true } })
    emit({ type: 'heartbeat', timestamp_ms: 0, counter: 9, epoch: 'e' })
    assert.deepEqual([asleep.received.length, stream.tabCount], [count, 1])
    awake.send({ kind: 'leave' })
  })

  test('opens a closed stream connection with all subscriptions when a new session begins', async () => {
    const { openTab, opened } = openShared()
    server.engine.accounts.make('ends', { socketsMax: 5 })
    const tab = openTab()
    tab.send({ kind: 'follow', id: 1, request: { channel: 'trades', all: true } })
    await tab.until(() => tab.isReady(1))
    tab.send({ kind: 'again' })
    assert.equal(opened(), 1, 'an open connection is not reopened')
    const id = [...server.engine.accounts.accounts.keys()][0]
    assert.ok(id !== undefined)
    for (const watcher of server.engine.accounts.watchers) watcher.onTokensEnded?.(id)
    for (const watcher of server.engine.accounts.watchers)
      watcher.onRevoked?.(server.engine.accounts.keys(id)[0]?.id ?? assert.fail())
    await tab.until(() =>
      tab.events('state').some((event) => event.type === 'state' && event.state === 'closed'),
    )
    const receivedCount = tab.received.length
    tab.send({ kind: 'again' })
    await tab.until(() =>
      tab.received.slice(receivedCount).some((one) => one.kind === 'ready' && one.id === 1),
    )
    assert.equal(opened(), 2)
    tab.send({ kind: 'leave' })
  })
})

function update(marketId: string, seq: number): StreamEvent {
  const data = { bids: [], asks: [] }
  return {
    ...{
      type: 'update',
      channel: 'orderbook',
      market_id: marketId,
      epoch: 'e',
      offset: seq,
      seq,
      data,
    },
    ...{ timestamp_ms: 0, received_ms: 0, published_ms: 0 },
  }
}
