// The three servers of the rest bench and their client, each a separate process: the whole service over simulated
// venues that keep sending, and two others with responses copied from it. Chooses the requests and measures each
// server's processor time.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { Child } from '../child.ts'
import { check } from '../harness.ts'
import { equalLines, LiveService } from '../live-service.ts'
import { describeTarget } from '../target/target.ts'
import type {
  Contestant,
  LoadCommand,
  LoadReport,
  RequestedPath,
  ServedRoute,
  ServerCommand,
  ServerReport,
} from './messages.ts'

const MESSAGES_PER_SECOND = 200
/** Message rate and duration of the run that stores trades. */
const STORED_PER_SECOND = 3_000
const STORED_MS = 10_000
const CONNECTIONS = 64
const MICROS = 1_000_000
/** Rows of a page. */
const PAGE = 20
/** Headers of uWebSockets.js, Node and the protocol: each server writes its own. */
const OWN_HEADERS = ['date', 'connection', 'content-length', 'transfer-encoding', 'uwebsockets']

/** A route with its requests. */
export interface RequestedRoute extends ServedRoute {
  readonly name: string
  /** `hot`: a market's current record, which fastify serves too. `list`: of markets. `past`: a market's newest page. */
  readonly kind: 'hot' | 'list' | 'past'
  readonly requests: readonly RequestedPath[]
  /** Mean length of a response. */
  readonly bytes: number
}

/** A server's cost of a load. */
export interface Usage {
  readonly answerCount: number
  readonly comparedCount: number
  readonly processorMicros: number
  readonly tookMs: number
}

export interface FieldSize {
  readonly marketsPerVenue: number
  /** Number of requested markets. */
  readonly askedCount: number
  /** Tests only the last route of each kind. */
  readonly isShort: boolean
}

interface Row {
  readonly id: string
  readonly question: string
}
interface Page {
  readonly markets: readonly Row[]
}
/** Rows of a market's history; whether a candle is closed depends on the time of the request. */
interface PastPage {
  readonly trades?: readonly object[]
  readonly candles?: readonly { readonly closed: boolean }[]
}

export class RestField {
  readonly routes: readonly RequestedRoute[]
  readonly #service: LiveService
  readonly #children: Readonly<Record<'limit' | 'fastify', Child<ServerCommand, ServerReport>>>
  readonly #load: Child<LoadCommand, LoadReport>
  readonly #origins: Readonly<Record<Contestant, string>>

  private constructor(parts: {
    routes: readonly RequestedRoute[]
    service: LiveService
    children: Readonly<Record<'limit' | 'fastify', Child<ServerCommand, ServerReport>>>
    load: Child<LoadCommand, LoadReport>
    origins: Readonly<Record<Contestant, string>>
  }) {
    this.routes = parts.routes
    this.#service = parts.service
    this.#children = parts.children
    this.#load = parts.load
    this.#origins = parts.origins
  }

  static async open(dataDir: string, size: FieldSize): Promise<RestField> {
    const load = new Child<LoadCommand, LoadReport>('rest/load.ts')
    const children = {
      limit: new Child<ServerCommand, ServerReport>('rest/server.ts', ['limit']),
      fastify: new Child<ServerCommand, ServerReport>('rest/server.ts', ['fastify']),
    }
    let service: LiveService | null = null
    try {
      if (!size.isShort) await storeTrades(dataDir, size)
      service = await startedService(dataDir, size, MESSAGES_PER_SECOND)
      const { routes, headers } = await routesOf(service, size)
      const opening: ServerCommand = { kind: 'open', apiKey: service.key, headers, routes }
      const at = async (child: Child<ServerCommand, ServerReport>): Promise<string> => {
        const { port } = await child.ask(opening, 'listening')
        return `http://127.0.0.1:${port}`
      }
      const [limit, fastify] = [await at(children.limit), await at(children.fastify)]
      const origins = { ours: service.api, limit, fastify }
      return new RestField({ routes, service, children, load, origins })
    } catch (error) {
      await Promise.all([load.end(), children.limit.end(), children.fastify.end(), service?.kill()])
      throw error
    }
  }

  /** Sends requests for one route to one server as fast as it responds. */
  async press(contestant: Contestant, route: RequestedRoute, seconds: number): Promise<Usage> {
    const requests = this.#requests(contestant, [route])
    const command = { ...this.#asking(contestant), seconds, requests }
    return this.#used(contestant, () =>
      this.#load.ask({ kind: 'press', ...command }, 'pressed', 1_000 * seconds),
    )
  }

  /** Sends requests for several routes in rotation to one server at a rate; returns the response times. */
  async plan(
    contestant: Contestant,
    routes: readonly RequestedRoute[],
    { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  ): Promise<Histogram> {
    const requests = this.#requests(contestant, routes)
    const command = { ...this.#asking(contestant), seconds, requests, perSecond }
    const { times } = await this.#load.ask({ kind: 'plan', ...command }, 'planned', 1_000 * seconds)
    return decodeFromCompressedBase64(times)
  }

  /** A server's processor time during `work`, with everything else that it does. */
  async idle(contestant: Contestant, work: () => Promise<void>): Promise<Usage> {
    return this.#used(contestant, async () => {
      await work()
      return { answerCount: 0, comparedCount: 0 }
    })
  }

  async #used(
    contestant: Contestant,
    work: () => Promise<{ readonly answerCount: number; readonly comparedCount: number }>,
  ): Promise<Usage> {
    const fromMicros = await this.#processorMicros(contestant)
    const startedMs = systemClock.monotonicMs()
    const { answerCount, comparedCount } = await work()
    const processorMicros = (await this.#processorMicros(contestant)) - fromMicros
    const tookMs = systemClock.monotonicMs() - startedMs
    return { answerCount, comparedCount, processorMicros, tookMs }
  }

  async #processorMicros(contestant: Contestant): Promise<number> {
    if (contestant === 'ours') return this.#service.processorSeconds() * MICROS
    const { processorMicros } = await this.#children[contestant].ask({ kind: 'look' }, 'looked')
    return processorMicros
  }

  #asking(contestant: Contestant) {
    const position = { origin: this.#origins[contestant], apiKey: this.#service.key }
    return { ...position, connections: CONNECTIONS }
  }

  /** Interleaved, so that several routes alternate. */
  #requests(contestant: Contestant, routes: readonly RequestedRoute[]): readonly RequestedPath[] {
    const countMax = Math.max(...routes.map(({ requests }) => requests.length))
    return Array.from({ length: countMax }, (_, index) =>
      routes.flatMap(({ requests, constant }) => {
        const request = requests[index]
        if (request === undefined) return []
        return [contestant === 'limit' ? { ...request, says: constant } : request]
      }),
    ).flat()
  }

  /**
   * Pauses the world and compares our responses: books with the simulator's, prices and list rows with the market's
   * record, pages of history with longer ones. Returns what was compared, as lines; throws at the first difference.
   */
  async judge(): Promise<readonly string[]> {
    await this.#service.pauseWorld()
    const requested = new Set(this.routes.flatMap(({ byMarket }) => Object.keys(byMarket)))
    const truth = [...(await this.#service.truthBooks())].filter(([id]) => requested.has(id))
    check(
      truth.length === requested.size,
      `${truth.length} of ${requested.size} markets have a true book`,
    )
    const lines = [...(await equalLines(new Map(truth), (id) => this.#service.book(id)))]
    for (const id of requested) lines.push(await this.#judgePrice(id))
    for (const { kind, requests } of this.routes) {
      for (const { path } of requests) {
        if (kind === 'list') lines.push(await this.#judgeList(path))
        if (kind === 'past') lines.push(await this.#judgePast(path))
      }
    }
    return lines
  }

  async #judgePrice(id: string): Promise<string> {
    interface Market {
      readonly outcomes: readonly { readonly price: number }[]
    }
    const path = `/v1/markets/${encodeURIComponent(id)}`
    const { price } = await this.#service.read<{ price: number }>(`${path}/price`)
    const { outcomes } = await this.#service.read<Market>(path)
    check(outcomes[0]?.price === price, `${id}: price ${price}, its record ${outcomes[0]?.price}`)
    return `${id} ${price}`
  }

  async #judgeList(path: string): Promise<string> {
    const { markets } = await this.#service.read<Page>(path)
    check(markets.length > 0, `${path} finds something`)
    for (const row of markets.slice(0, 5)) {
      const own = await this.#service.read<Row>(`/v1/markets/${encodeURIComponent(row.id)}`)
      const [listed, alone] = [JSON.stringify(row), JSON.stringify(own)]
      check(listed === alone, `${path} has\n${listed}\nand alone it is\n${alone}`)
    }
    return `${path} ${markets.map(({ id }) => id).join(' ')}`
  }

  /** A page must equal the newest part of a longer one that was never requested before. */
  async #judgePast(path: string): Promise<string> {
    const longer = path.replace(/limit=\d+/, `limit=${2 * PAGE}`)
    const [own, other] = [await this.#pastRows(path), await this.#pastRows(longer)]
    const newest = path.includes('/trades') ? other.slice(0, PAGE) : other.slice(-PAGE)
    check(own.join() === newest.join(), `${path} has\n${own}\nnot\n${newest}`)
    return `${path} ${own.length}`
  }

  async #pastRows(path: string): Promise<readonly string[]> {
    const { trades, candles = [] } = await this.#service.read<PastPage>(path)
    return (trades ?? candles.map(({ closed, ...bar }) => bar)).map((row) => JSON.stringify(row))
  }

  async close(): Promise<void> {
    const { limit, fastify } = this.#children
    await Promise.all([this.#load.end(), limit.end(), fastify.end(), this.#service.kill()])
  }
}

async function startedService(
  dataDir: string,
  { marketsPerVenue }: FieldSize,
  messagesPerSecond: number,
): Promise<LiveService> {
  const service = await LiveService.start({ dataDir, marketsPerVenue, messagesPerSecond })
  await service.catalogsLoaded()
  await service.booksLive(0)
  return service
}

/** An earlier run of the service stores full pages of trades. */
async function storeTrades(dataDir: string, size: FieldSize): Promise<void> {
  const service = await startedService(dataDir, size, STORED_PER_SECOND)
  await pause(STORED_MS)
  await service.stop()
}

/** The routes with their request paths and our current responses, and the headers of one response. */
async function routesOf(
  service: LiveService,
  { askedCount: requestCount, isShort }: FieldSize,
): Promise<{ routes: readonly RequestedRoute[]; headers: readonly (readonly [string, string])[] }> {
  const pages = await Promise.all(
    ['venue_a', 'venue_b'].map((platform) =>
      service.read<Page>(`/v1/markets?status=open&platform=${platform}&limit=${requestCount / 2}`),
    ),
  )
  const rows = pages.flatMap(({ markets }) => markets)
  check(rows.length > 1, 'both venues have open markets')
  const first = await answerOf(service, `/v1/markets/${encodeURIComponent(rows[0]?.id ?? '')}`)
  const hot = (tail: string): Promise<RequestedRoute> => hotRoute(service, tail, rows)
  const listed = (route: ListedRoute): Promise<RequestedRoute> => listRoute(service, route)
  const routes = [
    await hot('/price'),
    await hot('/orderbook'),
    await hot(''),
    await listed({ name: '/markets', kind: 'list', paths: listPaths(rows) }),
    await listed({ name: '/markets/search', kind: 'list', paths: searchPaths(rows) }),
    await listed({
      name: '/markets/{id}/trades',
      kind: 'past',
      paths: pastPaths(rows, '/trades?order=desc'),
    }),
    await listed({
      name: '/markets/{id}/candles',
      kind: 'past',
      paths: pastPaths(rows, '/candles?interval=5m'),
    }),
  ]
  const isLastOfKind = ({ kind }: RequestedRoute, index: number): boolean =>
    routes[index + 1]?.kind !== kind
  return { routes: isShort ? routes.filter(isLastOfKind) : routes, headers: first.headers }
}

const listPaths = (rows: readonly Row[]): string[] =>
  rows.slice(0, 5).map((_, index) => `/v1/markets?limit=${PAGE}&offset=${index}`)

const searchPaths = (rows: readonly Row[]): string[] =>
  describeTarget(rows)
    .slice(0, 20)
    .map((term) => `/v1/markets/search?limit=${PAGE}&search=${encodeURIComponent(term)}`)

const pastPaths = (rows: readonly Row[], tail: string): string[] =>
  rows.map(({ id }) => `/v1/markets/${encodeURIComponent(id)}${tail}&limit=${PAGE}`)

async function hotRoute(
  service: LiveService,
  tail: string,
  rows: readonly Row[],
): Promise<RequestedRoute> {
  const byMarket: Record<string, string> = {}
  const requests: RequestedPath[] = []
  for (const { id } of rows) {
    const path = `/v1/markets/${encodeURIComponent(id)}${tail}`
    byMarket[id] = (await answerOf(service, path)).body
    requests.push({ path, says: JSON.stringify(id) })
  }
  const bodies = Object.values(byMarket)
  const name = `/markets/{id}${tail}`
  return { name, kind: 'hot', pattern: patternOf(name), requests, byMarket, ...ordinary(bodies) }
}

interface ListedRoute {
  readonly name: string
  readonly kind: 'list' | 'past'
  readonly paths: readonly string[]
}

async function listRoute(
  service: LiveService,
  { name, kind, paths }: ListedRoute,
): Promise<RequestedRoute> {
  const bodies: string[] = []
  for (const path of paths) bodies.push((await answerOf(service, path)).body)
  const requests = paths.map((path) => ({ path, says: '":[' }))
  return { name, kind, pattern: patternOf(name), requests, byMarket: {}, ...ordinary(bodies) }
}

const patternOf = (name: string): string => `/v1${name.replace('{id}', ':market_id')}`

/** The response nearest to the mean size, so that all send equally many bytes. */
function ordinary(bodies: readonly string[]): { constant: string; bytes: number } {
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0) / bodies.length
  const distance = (body: string): number => Math.abs(Buffer.byteLength(body) - bytes)
  const [constant = ''] = [...bodies].sort((one, other) => distance(one) - distance(other))
  return { constant, bytes: Math.round(bytes) }
}

async function answerOf({ api, key }: LiveService, path: string) {
  const response = await fetch(`${api}${path}`, { headers: { 'X-API-Key': key } })
  check(response.status === 200, `${path} answered ${response.status}`)
  const headers = [...response.headers].filter(([name]) => !OWN_HEADERS.includes(name))
  return { body: await response.text(), headers }
}
