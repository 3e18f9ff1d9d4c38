// Publisher process of the fan-out bench. The command line selects our complete API server with a fake engine, a bare
// uWebSockets.js app, or the package `ws`. The latter two publish one constant message.

import { systemClock } from '../../engine/clock.ts'
import type { BookUpdate } from '../../engine/events.ts'
import { silentLog } from '../../engine/process/log.ts'
import { seededRandom } from '../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../engine/units.ts'
import { createServer } from '../../http/server.ts'
import { bookUpdate } from '../../http/ws/channels/orderbook.ts'
import { JsonEncoder } from '../../http/ws/encode/json.ts'
import { MsgpackEncoder } from '../../http/ws/encode/msgpack.ts'
import { FakeEngine } from '../../test/support/fakes/engine.ts'
import { openBroadcast } from '../bare-app.ts'
import { processorMicros, serve } from '../in-child.ts'
import { sharedMs } from '../latency-recorder.ts'

export type ContestantName = 'ours' | 'bare' | 'ws'

export type Encoding = 'json' | 'msgpack'

/** Tick `n` is due at `startMs + n * intervalMs`, even if earlier ticks were late. */
export interface Plan {
  /** Measured with `sharedMs` (bench/latency-recorder.ts). */
  readonly startMs: number
  readonly tickCount: number
  readonly perRound: number
  readonly intervalMs: number
}

const MARKETS = 20
/** Number of changed levels per update, distributed as in recorded streams of venue a. */
const CHANGE_COUNTS = [1, 1, 1, 1, 1, 1, 2, 2, 3, 4]
const CHECKSUM = 2_774_021_532
const HOST = '127.0.0.1'

interface Contestant {
  readonly port: number
  readonly frame: Uint8Array
  readonly marketIds: readonly string[]
  readonly warmUpCount: number
  publish(count: number): void
}

async function ours(encoding: Encoding): Promise<Contestant> {
  const clock = systemClock
  const engine = new FakeEngine(clock)
  const { publisher, catalog, metrics } = engine
  engine.accounts.make('bench', { requestsPerMinute: 1_000_000_000, socketsMax: 100_000 })
  const markets = Array.from({ length: MARKETS }, (_, index) => {
    const venue = index % 2 === 0 ? 'a' : 'b'
    return engine.add(`bench-market-${index}-of-the-fan-out`, { venue }).ref
  })
  const listening = {
    host: HOST,
    port: 0,
    corsOrigins: [],
    trustedProxies: [],
    isMetricsPublic: false,
  }
  const parts = { engine, publisher, clock, log: silentLog, metrics }
  const webhookPolicy = { allowsHttp: false, allowsPrivate: false }
  const server = await createServer({ ...parts, ...listening, webhookPolicy })
  engine.register(server)
  const random = seededRandom('fan-out', 4)
  const changes = Array.from({ length: 1_000 }, () =>
    Array.from({ length: random.pick(CHANGE_COUNTS) }, () => ({
      side: random.pick(['bid', 'ask'] as const),
      price: priceMicros((1 + random.below(99)) * 10_000),
      size: sizeMicros(random.below(5_000_000) * 1_000),
    })),
  )
  let count = 0
  const next = (): BookUpdate => {
    const market = markets[count % MARKETS]
    const some = changes[count % changes.length]
    if (market === undefined || some === undefined) throw new Error('nothing to publish')
    count += 1
    const stamp = publisher.stamp('orderbook', market.number)
    const nowMs = clock.nowMs()
    const checksum = stamp.seq % 50 === 0 ? CHECKSUM : null
    const times = { venueTimeMs: nowMs, receivedAtMs: nowMs }
    return { kind: 'book', market, ...stamp, ...times, changes: some, checksum }
  }
  const written = { epoch: publisher.epoch, catalog, nowMs: () => clock.nowMs() }
  const encoder = encoding === 'json' ? new JsonEncoder(written) : new MsgpackEncoder(written)
  // Warm-up with messages of typical sizes, before the first subscriber connects.
  const frames = changes.map(() => {
    const update = next()
    publisher.publish(update)
    return Buffer.from(bookUpdate(encoder, update))
  })
  const meanBytes = frames.reduce((sum, { length }) => sum + length, 0) / frames.length
  const distance = ({ length }: Buffer): number => Math.abs(length - meanBytes)
  frames.sort((one, other) => distance(one) - distance(other))
  return {
    port: server.port,
    // A message of mean size, so that all publishers send equally many bytes.
    frame: frames[0] ?? Buffer.alloc(0),
    marketIds: markets.map(({ id }) => id),
    warmUpCount: count,
    publish: (messages) => {
      for (let index = 0; index < messages; index += 1) publisher.publish(next())
    },
  }
}

async function bare(encoding: Encoding, frame: Buffer, isBatched: boolean): Promise<Contestant> {
  const { app, listen } = await openBroadcast()
  const isBinary = encoding === 'msgpack'
  const framed = (count: number): string | Uint8Array => {
    if (isBinary) return new Uint8Array(Buffer.concat(Array.from({ length: count }, () => frame)))
    return isBatched
      ? `[${Array.from({ length: count }, () => String(frame)).join(',')}]`
      : String(frame)
  }
  const frames = new Map<number, string | Uint8Array>()
  const port = await listen()
  const publish = (messages: number) => {
    const inFrame = isBatched ? messages : 1
    const message = frames.get(inFrame) ?? framed(inFrame)
    frames.set(inFrame, message)
    for (let done = 0; done < messages; done += inFrame) app.publish('all', message, isBinary)
  }
  return { port, frame, marketIds: [], warmUpCount: 0, publish }
}

async function broadcasting(encoding: Encoding, frame: Buffer): Promise<Contestant> {
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({ host: HOST, port: 0, perMessageDeflate: false })
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('cannot listen')
  const binary = encoding === 'msgpack'
  const publish = (messages: number) => {
    for (let index = 0; index < messages; index += 1) {
      for (const client of server.clients) {
        if (client.readyState === client.OPEN) client.send(frame, { binary })
      }
    }
  }
  return { port: address.port, frame, marketIds: [], warmUpCount: 0, publish }
}

let contestant: Contestant | null = null
let publishedCount = 0

/** Publishes each tick of the plan in its own event-loop tick, at its planned time or later. */
function publish(
  { startMs, tickCount, perRound, intervalMs }: Plan,
  publishSome: (count: number) => void,
): void {
  let tick = 0
  const step = (): void => {
    const waitMs = startMs + tick * intervalMs - sharedMs()
    if (waitMs > 0) return void setTimeout(step, Math.ceil(waitMs))
    publishSome(perRound)
    publishedCount += perRound
    tick += 1
    if (tick < tickCount) setImmediate(step)
  }
  step()
}

const [, , name] = process.argv

export const api = serve({
  /**
   * `frame`: the constant message in Base64. Our server ignores it. `isBatched`: all messages of a tick are sent as one
   * frame. Returns a message of typical size in Base64.
   */
  async open(encoding: Encoding, frame: string | null, isBatched: boolean) {
    const constant = Buffer.from(frame ?? '', 'base64')
    if (name === 'ours') contestant = await ours(encoding)
    else if (name === 'bare') contestant = await bare(encoding, constant, isBatched)
    else contestant = await broadcasting(encoding, constant)
    const { port, marketIds, warmUpCount } = contestant
    publishedCount = warmUpCount
    return { port, marketIds, frame: Buffer.from(contestant.frame).toString('base64') }
  },
  /** Processor time and number of published messages since the start. */
  look: () => ({ processorMicros: processorMicros(), publishedCount }),
  publish(plan: Plan): void {
    if (contestant !== null) publish(plan, contestant.publish)
  },
})
