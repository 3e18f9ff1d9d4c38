// A TCP proxy with seeded faults: each connection is delayed, throttled, reset after a while, or left half-open
// (frozen, or discarding data) without notifying its ends. Forwarded data stays in order and unchanged, as TCP
// guarantees.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type Random, seededRandom } from '../../../engine/random.ts'

/** How a connection ends early. */
type Ending = 'reset' | 'frozen' | 'swallowed' | 'none'

/** Faults of a connection. */
interface ProxyFaults {
  readonly delayMs: number
  /** Maximum additional random delay of each chunk; the order is preserved. */
  readonly jitterMs: number
  /** Null: unlimited. */
  readonly bytesPerSecond: number | null
  readonly ending: Ending
  readonly lifeMs: number
}

const FAIR: ProxyFaults = {
  delayMs: 0,
  jitterMs: 0,
  bytesPerSecond: null,
  ending: 'none',
  lifeMs: 0,
}
const THROTTLED_BYTES_PER_SECOND = 65_536
/** Buffered bytes of a direction above which the sender is not read. */
const UNDER_WAY_BYTES_MAX = 262_144

interface FaultyProxyOptions {
  /** Each connection goes to a random one of these. */
  readonly targetPorts: readonly number[]
  readonly seed: string
  /** A connection that ends early does so within this time. */
  readonly lifeMsMax: number
  /** Connections are forwarded without faults until they are reset; default: all faults. */
  readonly onlyResets?: boolean
}

export class FaultyProxy {
  readonly counts = {
    connections: 0,
    delayed: 0,
    throttled: 0,
    reset: 0,
    frozen: 0,
    swallowed: 0,
    bytes: 0,
  }
  readonly #options: FaultyProxyOptions
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  #isCalm = false

  constructor(options: FaultyProxyOptions) {
    this.#options = options
    this.#server = createServer({ noDelay: true }, (client) => this.#take(client))
  }

  static async open(options: FaultyProxyOptions): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(options)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Stops adding faults: new connections have none, and existing ones do not end early. */
  calm(): void {
    this.#isCalm = true
    for (const pair of this.#pairs) pair.spare()
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) pair.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #take(client: Socket): void {
    this.counts.connections += 1
    const random = seededRandom(this.#options.seed, 'connection', this.counts.connections)
    const weather = this.#isCalm ? FAIR : weatherOf(random, this.#options)
    if (weather.delayMs > 0) this.counts.delayed += 1
    if (weather.bytesPerSecond !== null) this.counts.throttled += 1
    const port = random.pick(this.#options.targetPorts)
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    const pair = new Pair(client, upstream, weather, random, {
      ended: (ending) => {
        if (ending !== 'none') this.counts[ending] += 1
      },
      passed: (bytes) => {
        this.counts.bytes += bytes
      },
      gone: () => this.#pairs.delete(pair),
    })
    this.#pairs.add(pair)
  }
}

/** A third of the connections is only delayed or has no fault; the others end early in one of three ways. */
function weatherOf(
  random: Random,
  { lifeMsMax, onlyResets = false }: FaultyProxyOptions,
): ProxyFaults {
  if (onlyResets) return { ...FAIR, ending: 'reset', lifeMs: random.below(lifeMsMax) }
  const roll = random.next()
  const ending = roll < 0.33 ? 'none' : roll < 0.75 ? 'reset' : roll < 0.88 ? 'frozen' : 'swallowed'
  return {
    delayMs: random.next() < 0.5 ? random.below(150) : 0,
    jitterMs: random.next() < 0.5 ? random.below(100) : 0,
    bytesPerSecond: random.next() < 0.25 ? THROTTLED_BYTES_PER_SECOND : null,
    ending,
    // Some end during their handshake or first snapshots.
    lifeMs: random.next() < 0.2 ? random.below(300) : random.below(lifeMsMax),
  }
}

interface ProxyCounts {
  ended(ending: Ending): void
  passed(bytes: number): void
  gone(): void
}

/** Two connected sockets. */
class Pair {
  readonly #sockets: readonly [Socket, Socket]
  readonly #told: ProxyCounts
  readonly #end: NodeJS.Timeout | null
  #isHalfOpen = false

  constructor(
    client: Socket,
    upstream: Socket,
    weather: ProxyFaults,
    random: Random,
    published: ProxyCounts,
  ) {
    this.#sockets = [client, upstream]
    this.#told = published
    const down = new Pipe(upstream, client, weather, random, (bytes) => published.passed(bytes))
    const up = new Pipe(client, upstream, { ...weather, bytesPerSecond: null }, random, () => {})
    for (const socket of this.#sockets) {
      socket.on('error', () => {})
      socket.on('close', () => this.#closed(socket))
    }
    const { ending, lifeMs } = weather
    const end = () => {
      published.ended(ending)
      if (ending === 'reset') return this.#reset()
      this.#isHalfOpen = true
      for (const pipe of [down, up]) pipe.stop(ending === 'swallowed')
    }
    this.#end = ending === 'none' ? null : setTimeout(end, lifeMs)
  }

  /** Cancels its early end; a half-open one stays half-open. */
  spare(): void {
    if (this.#end !== null) clearTimeout(this.#end)
  }

  destroy(): void {
    this.spare()
    for (const socket of this.#sockets) socket.destroy()
  }

  #reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Closes the other end too, unless the connection is half-open. */
  #closed(socket: Socket): void {
    this.spare()
    const other = this.#sockets[0] === socket ? this.#sockets[1] : this.#sockets[0]
    if (!this.#isHalfOpen) other.destroy()
    if (other.destroyed) this.#told.gone()
  }
}

/** One direction: chunks in order, each at its time. */
class Pipe {
  readonly #source: Socket
  readonly #sink: Socket
  readonly #weather: ProxyFaults
  readonly #random: Random
  readonly #queue: { readonly dueMs: number; readonly chunk: Buffer }[] = []
  #underWay = 0
  #lastDueMs = 0
  #timer: NodeJS.Timeout | null = null
  #isStopped = false
  #isSwallowing = false

  constructor(
    source: Socket,
    sink: Socket,
    weather: ProxyFaults,
    random: Random,
    passed: (bytes: number) => void,
  ) {
    this.#source = source
    this.#sink = sink
    this.#weather = weather
    this.#random = random
    source.on('data', (chunk: Buffer) => {
      if (this.#isSwallowing) return
      passed(chunk.length)
      this.#push(chunk)
    })
    sink.on('drain', () => this.#balance())
  }

  /** Stops forwarding; with `isSwallowing` data is still read. */
  stop(isSwallowing: boolean): void {
    this.#isStopped = true
    this.#isSwallowing = isSwallowing
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (isSwallowing) this.#source.resume()
    else this.#source.pause()
  }

  #push(chunk: Buffer): void {
    const { delayMs, jitterMs, bytesPerSecond } = this.#weather
    const nowMs = performance.now()
    const wireMs = bytesPerSecond === null ? 0 : (chunk.length / bytesPerSecond) * 1_000
    const jitter = jitterMs === 0 ? 0 : this.#random.below(jitterMs)
    this.#lastDueMs = Math.max(nowMs + delayMs + jitter, this.#lastDueMs + wireMs)
    this.#queue.push({ dueMs: this.#lastDueMs, chunk })
    this.#underWay += chunk.length
    this.#balance()
    this.#pump()
  }

  #balance(): void {
    if (this.#isStopped) return
    const isFull = this.#underWay > UNDER_WAY_BYTES_MAX || this.#sink.writableNeedDrain
    if (isFull) this.#source.pause()
    else if (this.#source.isPaused()) this.#source.resume()
  }

  #pump(): void {
    if (this.#isStopped || this.#timer !== null) return
    const nowMs = performance.now()
    for (;;) {
      const head = this.#queue[0]
      if (head === undefined) break
      if (head.dueMs > nowMs) {
        this.#timer = setTimeout(() => {
          this.#timer = null
          this.#pump()
        }, head.dueMs - nowMs)
        break
      }
      this.#queue.shift()
      this.#underWay -= head.chunk.length
      if (!this.#sink.destroyed) this.#sink.write(head.chunk)
    }
    this.#balance()
  }
}
