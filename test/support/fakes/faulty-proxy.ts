// A TCP proxy with seeded faults. It delays, throttles, resets or half-opens connections. Forwarded data stays in order
// and unchanged.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type Random, seededRandom } from '../../../engine/random.ts'

/** The fault that ends a connection early. 'swallowed': data is read and discarded. */
type Ending = 'reset' | 'frozen' | 'swallowed' | 'none'

interface ProxyFaults {
  readonly delayMs: number
  /** Maximum random delay of a chunk in addition to `delayMs`. The order is preserved. */
  readonly jitterMs: number
  /** null: unlimited. */
  readonly bytesPerSecond: number | null
  readonly ending: Ending
  readonly lifeMs: number
}

const NO_FAULTS: ProxyFaults = {
  delayMs: 0,
  jitterMs: 0,
  bytesPerSecond: null,
  ending: 'none',
  lifeMs: 0,
}
const THROTTLED_BYTES_PER_SECOND = 65_536
/** Per direction. Above this limit the sender is not read. */
const BUFFERED_BYTES_MAX = 262_144

interface FaultyProxyOptions {
  /** Each connection is forwarded to a random port of these. */
  readonly targetPorts: readonly number[]
  readonly seed: string
  /** Maximum lifetime of a connection that ends early. */
  readonly lifeMsMax: number
  /** If true, resets are the only fault. Default: all faults. */
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

  /** Stops adding faults: new connections have none, and existing connections do not end early. */
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
    const faults = this.#isCalm ? NO_FAULTS : faultsOf(random, this.#options)
    if (faults.delayMs > 0) this.counts.delayed += 1
    if (faults.bytesPerSecond !== null) this.counts.throttled += 1
    const port = random.pick(this.#options.targetPorts)
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    const pair = new Pair(client, upstream, faults, random, {
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

/** A third of the connections does not end early. */
function faultsOf(
  random: Random,
  { lifeMsMax, onlyResets = false }: FaultyProxyOptions,
): ProxyFaults {
  if (onlyResets) return { ...NO_FAULTS, ending: 'reset', lifeMs: random.below(lifeMsMax) }
  const roll = random.next()
  const ending = roll < 0.33 ? 'none' : roll < 0.75 ? 'reset' : roll < 0.88 ? 'frozen' : 'swallowed'
  return {
    delayMs: random.next() < 0.5 ? random.below(150) : 0,
    jitterMs: random.next() < 0.5 ? random.below(100) : 0,
    bytesPerSecond: random.next() < 0.25 ? THROTTLED_BYTES_PER_SECOND : null,
    ending,
    // A fifth of the connections ends during the handshake or the first snapshots.
    lifeMs: random.next() < 0.2 ? random.below(300) : random.below(lifeMsMax),
  }
}

interface ProxyCounts {
  ended(ending: Ending): void
  passed(bytes: number): void
  gone(): void
}

class Pair {
  readonly #sockets: readonly [Socket, Socket]
  readonly #counts: ProxyCounts
  readonly #end: NodeJS.Timeout | null
  #isHalfOpen = false

  constructor(
    client: Socket,
    upstream: Socket,
    faults: ProxyFaults,
    random: Random,
    published: ProxyCounts,
  ) {
    this.#sockets = [client, upstream]
    this.#counts = published
    const down = new Pipe(upstream, client, faults, random, (bytes) => published.passed(bytes))
    const up = new Pipe(client, upstream, { ...faults, bytesPerSecond: null }, random, () => {})
    for (const socket of this.#sockets) {
      socket.on('error', () => {})
      socket.on('close', () => this.#closed(socket))
    }
    const { ending, lifeMs } = faults
    const end = () => {
      published.ended(ending)
      if (ending === 'reset') return this.#reset()
      this.#isHalfOpen = true
      for (const pipe of [down, up]) pipe.stop(ending === 'swallowed')
    }
    this.#end = ending === 'none' ? null : setTimeout(end, lifeMs)
  }

  /** Cancels the fault that would end the connection. A half-open connection stays half-open. */
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

  /** Closes the other socket too, unless the connection is half-open. */
  #closed(socket: Socket): void {
    this.spare()
    const other = this.#sockets[0] === socket ? this.#sockets[1] : this.#sockets[0]
    if (!this.#isHalfOpen) other.destroy()
    if (other.destroyed) this.#counts.gone()
  }
}

/** Forwards one direction. Each chunk has its own time, and the order is kept. */
class Pipe {
  readonly #source: Socket
  readonly #sink: Socket
  readonly #faults: ProxyFaults
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
    faults: ProxyFaults,
    random: Random,
    passed: (bytes: number) => void,
  ) {
    this.#source = source
    this.#sink = sink
    this.#faults = faults
    this.#random = random
    source.on('data', (chunk: Buffer) => {
      if (this.#isSwallowing) return
      passed(chunk.length)
      this.#push(chunk)
    })
    sink.on('drain', () => this.#balance())
  }

  /** Stops forwarding. With `isSwallowing` data is still read and discarded. */
  stop(isSwallowing: boolean): void {
    this.#isStopped = true
    this.#isSwallowing = isSwallowing
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (isSwallowing) this.#source.resume()
    else this.#source.pause()
  }

  #push(chunk: Buffer): void {
    const { delayMs, jitterMs, bytesPerSecond } = this.#faults
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
    const isFull = this.#underWay > BUFFERED_BYTES_MAX || this.#sink.writableNeedDrain
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
