import { constants, sign } from 'node:crypto'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { silentLog } from '../../../engine/process/log.ts'
import { seededRandom } from '../../../engine/random.ts'
import { timeMs } from '../../../engine/units.ts'
import { Faults } from '../../../engine/venues/simulator/faults.ts'
import { SimHalts } from '../../../engine/venues/simulator/kalshi/exchange.ts'
import { startKalshiServer } from '../../../engine/venues/simulator/kalshi/server.ts'
import type { SimFault, SimGame, World } from '../../../engine/venues/simulator/model.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { privateKey, publicKey } from '../fakes/rsa-pair.ts'
import { StubWorld } from '../worlds/kalshi-world.ts'

export const KEY_ID = 'test-key'
const PUBLIC_PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString()

/** Each header and the signing key can be made invalid. */
export function signedHeaders(fields: {
  method?: string
  path: string
  keyId?: string
  timestamp?: string
  salt?: number
}): Record<string, string> {
  const timestamp = fields.timestamp ?? '1790010000000'
  const text = Buffer.from(`${timestamp}${fields.method ?? 'GET'}${fields.path}`)
  const signature = sign('sha256', text, {
    key: privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: fields.salt ?? 32,
  })
  return {
    'KALSHI-ACCESS-KEY': fields.keyId ?? KEY_ID,
    'KALSHI-ACCESS-TIMESTAMP': timestamp,
    'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
  }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

export async function startStub(options: {
  world: World
  clock: ManualClock
  faults?: Faults
  port?: number
}) {
  const faults = options.faults ?? noFaults()
  const server = await startKalshiServer({
    world: options.world,
    faults,
    clock: options.clock,
    halts: new SimHalts({ faults, random: seededRandom('kalshi stub') }),
    log: silentLog,
    host: '127.0.0.1',
    port: options.port ?? 0,
    keys: new Map([[KEY_ID, PUBLIC_PEM]]),
  })
  const base = `http://127.0.0.1:${server.port}`
  return {
    port: server.port,
    stop: () => server.stop(),
    /** `path` is relative to /trade-api/v2. */
    async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
      // Advances the clock so that the token bucket never limits requests.
      options.clock.advance(50)
      const response = await fetch(`${base}/trade-api/v2${path}`, { headers })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') === true
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? record(JSON.parse(text)) : {},
      }
    },
    connect: () => StreamClient.open(server.port),
  }
}

/** One event has two markets. The first market has levels on both sides. */
export async function twoMarkets(t: TestContext, faults?: Faults) {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const event = world.addEvent('KXTEST-26')
  const first = world.addMarket(event, 'A')
  const second = world.addMarket(event, 'B')
  world.setLevels(first, [
    ['bid', 44, 10],
    ['bid', 43, 7.25],
    ['ask', 46, 3],
    ['ask', 47, 5],
  ])
  world.setLevels(second, [['ask', 90, 1]])
  const venue = await startStub({ world, clock, ...(faults === undefined ? {} : { faults }) })
  t.after(() => venue.stop())
  return { clock, world, first, second, event, venue }
}

const TEAM = {
  name: 'Detroit Lions',
  location: 'Detroit',
  nickname: 'Lions',
  polymarketCode: 'det',
}
const GAME: SimGame = {
  sport: 'nfl',
  league: 'nfl',
  startMs: timeMs(Date.UTC(2026, 10, 22, 18)),
  date: '2026-11-22',
  away: { ...TEAM, kalshiCode: 'DET' },
  home: { ...TEAM, name: 'Cincinnati Bengals', location: 'Cincinnati', kalshiCode: 'CIN' },
}

/** A game of two markets, a politics event and a combo. */
export async function gameDay(t: TestContext, faults?: Faults) {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const venue = await startStub({ world, clock, ...(faults === undefined ? {} : { faults }) })
  t.after(() => venue.stop())
  const game = world.addEvent('KXNFLGAME-26NOV22DETCIN', {
    topic: 'sports',
    category: 'Sports',
    tags: ['Football'],
    game: GAME,
  })
  const strike = { type: 'structured' as const, floor: null, cap: null }
  const det = world.addMarket(game, 'DET', { strike, sportsMarketType: 'moneyline' })
  const cin = world.addMarket(game, 'CIN', { strike, sportsMarketType: 'moneyline' })
  world.setLevels(det, [
    ['bid', 44, 10],
    ['bid', 43, 7.25],
    ['ask', 46, 3],
  ])
  const politics = world.addEvent('KXPRES-28')
  const combo = world.addEvent('KXMVENFL-S1')
  return { clock, world, venue, game, det, cin, politics, combo }
}

const noFaults = (): Faults => new Faults([], seededRandom('none'))

/** While `isOn`, these faults occur at every opportunity. */
export class ScriptedFaults extends Faults {
  readonly #faults: ReadonlySet<SimFault>
  isOn = false

  constructor(...faults: readonly SimFault[]) {
    super([], seededRandom('scripted'))
    this.#faults = new Set(faults)
  }

  override strikes(fault: SimFault): boolean {
    return this.isOn && this.#faults.has(fault)
  }
}

export type Message = Record<string, unknown>

class StreamClient {
  readonly socket: WebSocket
  readonly #inbox: Message[] = []
  #wake: (() => void) | null = null
  #nextId = 1

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data) => {
      this.#inbox.push(record(JSON.parse(String(data))))
      this.#wake?.()
    })
  }

  static async open(port: number): Promise<StreamClient> {
    const path = '/trade-api/ws/v2'
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
      headers: signedHeaders({ path }),
    })
    const client = new StreamClient(socket)
    await once(socket, 'open')
    return client
  }

  /** Returns the id of the command. */
  send(cmd: string, params?: Record<string, unknown>): number {
    const id = this.#nextId
    this.#nextId += 1
    this.socket.send(JSON.stringify({ id, cmd, ...(params === undefined ? {} : { params }) }))
    return id
  }

  async take(count: number): Promise<Message[]> {
    while (this.#inbox.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#inbox.splice(0, count)
  }

  async next(): Promise<Message> {
    const [message] = await this.take(1)
    return message ?? {}
  }

  /** Returns all messages until the answer to `list_subscriptions`. */
  async drain(): Promise<Message[]> {
    const id = this.send('list_subscriptions')
    for (;;) {
      const end = this.#inbox.findIndex((message) => message.id === id)
      if (end >= 0) return this.#inbox.splice(0, end + 1).slice(0, -1)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

/** Returns an empty object for any other value, so that a test fails at the missing field. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}

export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : []
}
