// Compares connections with and without batching that receive the same messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchBytesMax, socketBufferBytesSoft, streamSliceMs } from '../../../../engine/limits.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import type { BatchedSocket, Socket } from '../../../../http/ws/fan-out/batches.ts'
import type { Form } from '../../../../http/ws/fan-out/channel-variants.ts'
import { Hub } from '../../../../http/ws/hub.ts'
import { Session } from '../../../../http/ws/session/session.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { bid, level } from '../../../support/worlds/builders.ts'
import { addMarkets, simulateActivity } from '../../../support/worlds/market-activity.ts'

type Given = string | ArrayBuffer | ArrayBufferView

const tick = () => new Promise((resolve) => setImmediate(resolve))

function bytesOf(message: unknown): Buffer {
  if (typeof message === 'string') return Buffer.from(message)
  assert.ok(message instanceof Uint8Array)
  return Buffer.from(message)
}

class FakeSocket implements Socket {
  readonly frames: Buffer[] = []
  readonly topics = new Set<string>()
  buffered = 0
  closeCode: number | null = null
  onClose = () => {}

  send(message: unknown): number {
    assert.equal(this.closeCode, null, 'nothing is sent to a closed socket')
    this.frames.push(bytesOf(message))
    return 1
  }
  subscribe(topic: unknown): boolean {
    this.topics.add(String(topic))
    return true
  }
  unsubscribe(topic: unknown): boolean {
    return this.topics.delete(String(topic))
  }
  getBufferedAmount(): number {
    assert.equal(this.closeCode, null)
    return this.buffered
  }
  cork(action: () => void): ReturnType<Socket['cork']> {
    action()
    return Object.create(null)
  }
  end(code = 1000): void {
    this.closeCode = code
    this.onClose()
  }
  close(): void {
    this.end(1006)
  }
}

interface Played {
  readonly socket: FakeSocket
  readonly session: Session
}

class World {
  readonly clock = new ManualClock()
  readonly engine = new FakeEngine(this.clock)
  readonly sockets = new Set<FakeSocket>()
  readonly hub: Hub
  publishCount = 0

  constructor() {
    const { engine, clock } = this
    engine.accounts.make('ann')
    const { publisher, metrics } = engine
    const topics = {
      numSubscribers: (topic: string) =>
        [...this.sockets].filter((socket) => socket.topics.has(topic)).length,
      publish: (topic: string, message: Given) => {
        this.publishCount += 1
        for (const socket of this.sockets) if (socket.topics.has(topic)) socket.send(message)
        return true
      },
    }
    this.hub = new Hub({ engine, publisher, clock, log: silentLog, metrics, topics })
    publisher.watch(this.hub)
  }

  get groupCount(): number {
    const topics = [...this.sockets].flatMap((socket) => [...socket.topics])
    return new Set(topics.filter((topic) => topic.startsWith('batch:'))).size
  }

  connect(form: Form, isBatched: boolean): Played {
    const { hub, engine } = this
    const caller = engine.accounts.callerOfKey('ann-key') ?? assert.fail()
    const socket = new FakeSocket()
    this.sockets.add(socket)
    const batched: BatchedSocket | null = isBatched ? hub.batches.open(socket, form) : null
    const ws = batched ?? socket
    const session = new Session({ id: 'c', caller, encoder: hub.encoder(form), ws, hub })
    socket.onClose = () => {
      this.sockets.delete(socket)
      batched?.leave()
      hub.remove(session)
    }
    hub.add(session)
    session.open()
    return { socket, session }
  }
}

/** The messages of all frames as one text without the brackets of batches. */
function joined(form: Form, frames: readonly Buffer[], isBatched: boolean): string {
  if (form === 'b') return Buffer.concat(frames).toString('latin1')
  if (!isBatched) return frames.map(String).join(',')
  for (const frame of frames) assert.ok(Array.isArray(JSON.parse(String(frame))))
  return frames.map((frame) => String(frame).slice(1, -1)).join(',')
}

/** Both connections send equal commands. */
class ConnectionPair {
  readonly form: Form
  readonly #world: World
  #plain: Played
  #batched: Played
  messageCount = 0
  frameCount = 0

  constructor(world: World, form: Form) {
    this.form = form
    this.#world = world
    this.#plain = world.connect(form, false)
    this.#batched = world.connect(form, true)
  }

  both(action: (played: Played) => void): void {
    if (this.#isClosed) return
    action(this.#plain)
    action(this.#batched)
  }

  get #isClosed(): boolean {
    return this.#plain.socket.closeCode !== null || this.#batched.socket.closeCode !== null
  }

  /** The position in the last reply about a channel, or null. */
  position(channel: string): unknown {
    if (this.form === 'b') return null
    const messages = this.#plain.socket.frames.map((frame) => JSON.parse(String(frame)))
    const last = messages.findLast(
      (message) => message.channel === channel && /synced|resumed/.test(message.type),
    )
    return last === undefined ? null : { epoch: last.epoch, offset: last.offset }
  }

  compare(): void {
    const { form } = this
    const [plain, batched] = [this.#plain.socket, this.#batched.socket]
    assert.equal(batched.closeCode, plain.closeCode)
    assert.equal(joined(form, batched.frames, true), joined(form, plain.frames, false))
    for (const frame of batched.frames) assert.ok(frame.length < 2 * batchBytesMax)
    this.messageCount += plain.frames.length
    this.frameCount += batched.frames.length
  }

  reconnect(): void {
    this.compare()
    this.both(({ socket }) => socket.close())
    this.#plain = this.#world.connect(this.form, false)
    this.#batched = this.#world.connect(this.form, true)
  }
}

const [STEPS, MESSAGES_MIN] = process.env.TEST_LONG === '1' ? [1_500, 5_000] : [500, 1_500]
const CHANNELS = ['orderbook', 'trades', 'prices', 'depth', 'whales', 'lifecycle']

function commandOf(random: Random, ids: readonly string[], pair: ConnectionPair): unknown {
  const roll = random.next()
  if (roll < 0.1) return { action: 'ping', id: 1 }
  if (roll < 0.2) return { action: 'list', id: 2 }
  if (roll < 0.3) return { action: 'snapshot', id: 3, market_ids: [random.pick(ids), 'venue_a_no'] }
  const some = Array.from({ length: 1 + random.below(6) }, () => random.pick(ids))
  const target = random.pick([{ market_ids: some }, { market_ids: some }, { platform: 'venue_a' }])
  const wide = random.next() < 0.15 ? { market_ids: ['*'] } : target
  const channel = random.pick(CHANNELS)
  if (roll < 0.45) return { action: 'unsubscribe', id: 4, channel, ...wide }
  const since = random.next() < 0.4 ? pair.position(channel) : null
  return { action: 'subscribe', id: 5, channel, ...wide, ...(since === null ? {} : { since }) }
}

for (const seed of [1, 2, 3]) {
  test(`sends the same bytes with and without batching in random runs (seed ${seed})`, async (t) => {
    const random = seededRandom('batches', seed)
    const world = new World()
    const markets = addMarkets(world.engine, 12, 3)
    for (const market of markets) market.replace([level(0.4, 1)], [level(0.6, 1)])
    const ids = markets.map(({ ref }) => ref.id)
    const all = Array.from(
      { length: 6 },
      (_, index) => new ConnectionPair(world, index % 3 === 0 ? 'b' : 'j'),
    )
    for (let step = 0; step < STEPS; step += 1) {
      for (let count = random.below(8); count > 0; count -= 1) simulateActivity(markets, random)
      const pair = random.pick(all)
      const roll = random.next()
      if (roll < 0.25) {
        const command = Buffer.from(JSON.stringify(commandOf(random, ids, pair)))
        pair.both(({ session }) => session.receive(command, false))
      } else if (roll < 0.29) {
        const buffered = random.pick([0, 0, 2 * socketBufferBytesSoft])
        pair.both(({ socket }) => {
          socket.buffered = buffered
        })
      } else if (roll < 0.3) {
        await tick()
        pair.reconnect()
      } else if (roll < 0.6) world.clock.advance(random.below(120))
      else if (roll < 0.9) await tick()
    }
    await tick()
    for (const pair of all) pair.compare()
    const sum = (of: (pair: ConnectionPair) => number) =>
      all.reduce((total, one) => total + of(one), 0)
    const counts = [sum(({ messageCount }) => messageCount), sum(({ frameCount }) => frameCount)]
    t.diagnostic(`${counts[0]} messages, ${counts[1]} frames`)
    assert.ok((counts[0] ?? 0) > MESSAGES_MIN, 'too few messages for a valid test')
    assert.ok((counts[1] ?? 0) * 2 < (counts[0] ?? 0))
    world.hub.stop()
  })
}

test('publishes all messages of a tick by one call of the library for all connections with the same topics', async () => {
  const world = new World()
  const [one, other] = addMarkets(world.engine, 2, 1)
  assert.ok(one !== undefined && other !== undefined)
  for (const market of [one, other]) market.replace([level(0.4, 1)], [])
  const all = Array.from({ length: 30 }, () => world.connect('j', true))
  for (const [index, { session }] of all.entries()) {
    const ids = [one.ref.id, other.ref.id]
    if (index % 2 === 0) ids.reverse()
    const command = {
      action: 'subscribe',
      id: 1,
      channels: ['orderbook', 'trades'],
      market_ids: ids,
    }
    session.receive(Buffer.from(JSON.stringify(command)), false)
  }
  await tick()
  world.hub.sweep()
  assert.equal(world.groupCount, 1)
  const before = all.map(({ socket }) => socket.frames.length)
  world.publishCount = 0
  for (let size = 1; size <= 20; size += 1) {
    one.change(bid(0.4, size))
    other.trade()
  }
  await tick()
  assert.equal(world.publishCount, 1)
  for (const [index, { socket }] of all.entries()) {
    const frames = socket.frames.slice(before[index])
    assert.equal(frames.length, 1)
    assert.equal(JSON.parse(String(frames[0])).length, 40)
  }
  // The connections that remain subscribed must still share one group.
  const command = { action: 'unsubscribe', id: 2, channel: 'trades', market_ids: [one.ref.id] }
  all[7]?.session.receive(Buffer.from(JSON.stringify(command)), false)
  world.hub.sweep()
  assert.equal(world.groupCount, 2)
  for (const { socket } of all) socket.close()
  world.hub.stop()
})

test('assigns connections to topic groups in time slices when many connections subscribe at once', async () => {
  const world = new World()
  const [market] = addMarkets(world.engine, 1, 1)
  assert.ok(market !== undefined)
  const count = 50
  for (let index = 0; index < count; index += 1) world.connect('j', true)
  const nowMs = world.clock.monotonicMs()
  let reads = 0
  // Each connection takes a quarter of a slice.
  world.clock.monotonicMs = () => nowMs + (reads++ * streamSliceMs) / 4
  const grouped = () =>
    [...world.sockets].filter(({ topics }) =>
      [...topics].some((topic) => topic.startsWith('batch:')),
    ).length
  world.hub.sweep()
  for (let turns = 0, before = grouped(); before < count; turns += 1, before = grouped()) {
    assert.ok(before > 0 && turns < count)
    await tick()
    assert.ok(grouped() - before <= 5)
  }
  world.hub.stop()
})

test('sends the answer to a command after earlier and before later published messages', async () => {
  const world = new World()
  const [market] = addMarkets(world.engine, 1, 1)
  assert.ok(market !== undefined)
  market.replace([level(0.4, 1)], [])
  const all = [world.connect('j', true), world.connect('j', true)]
  const notify = (played: Played | undefined, command: unknown) =>
    played?.session.receive(Buffer.from(JSON.stringify(command)), false)
  for (const played of all) {
    notify(played, { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] })
  }
  world.hub.sweep()
  await tick()
  const before = all.map(({ socket }) => socket.frames.length)
  market.change(bid(0.4, 2))
  notify(all[0], { action: 'ping', id: 2 })
  market.change(bid(0.4, 3))
  await tick()
  const types = all.map(({ socket }, index) =>
    socket.frames
      .slice(before[index])
      .flatMap((frame) =>
        JSON.parse(String(frame)).map((message: { type: string }) => message.type),
      ),
  )
  assert.deepEqual(types, [
    ['update', 'pong', 'update'],
    ['update', 'update'],
  ])
  world.hub.stop()
})

test('splits the messages of a tick into frames of about 64 KiB, and sends a longer message in one frame', async () => {
  const world = new World()
  const [market] = addMarkets(world.engine, 1, 1)
  assert.ok(market !== undefined)
  const deep = Array.from({ length: 900 }, (_, index) => level(0.0001 * (index + 1), 12.345678))
  market.replace(deep, [])
  const { session, socket } = world.connect('j', true)
  const command = { action: 'subscribe', id: 1, channel: 'orderbook', market_ids: ['*'] }
  session.receive(Buffer.from(JSON.stringify(command)), false)
  await tick()
  const before = socket.frames.length
  for (let size = 1; size <= 1_000; size += 1) market.change(bid(0.4, size))
  const changes = Array.from({ length: 2_000 }, (_, index) => bid(0.0001 * (index + 1), 7.654321))
  market.change(...changes)
  await tick()
  const frames = socket.frames.slice(before)
  const counts = frames.map((frame) => JSON.parse(String(frame)).length)
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1_001,
  )
  assert.equal(counts.at(-1), 1)
  for (const frame of frames.slice(0, -1)) assert.ok(frame.length < batchBytesMax * 1.02)
  assert.ok((frames.at(-1)?.length ?? 0) > batchBytesMax)
  world.hub.stop()
})
