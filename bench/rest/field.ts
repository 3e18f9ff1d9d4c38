// The three servers of the rest bench and their client, each a process of its own: the whole service over simulated
// venues that go on sending, and the two others with answers taken from it. Knows what is asked of each, and what
// each has used of the processor. Not for: what is compared (rest.bench.ts).

import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { Child } from '../child.ts'
import { check } from '../harness.ts'
import { equalLines, LiveService } from '../live-service.ts'
import { wordsOf } from '../target/target.ts'
import type {
  AskedPath,
  Contestant,
  LoadCommand,
  LoadReport,
  ServedRoute,
  ServerCommand,
  ServerReport,
} from './messages.ts'

const MESSAGES_PER_SECOND = 200
const CONNECTIONS = 16
const MICROS = 1_000_000
/** Of uWebSockets.js, Node and the protocol itself: each server writes its own. */
const OWN_HEADERS = ['date', 'connection', 'content-length', 'transfer-encoding', 'uwebsockets']

/** A route with what is asked of it. */
export interface AskedRoute extends ServedRoute {
  readonly name: string
  /** One market's: fastify serves it too. */
  readonly isHot: boolean
  readonly requests: readonly AskedPath[]
  /** Mean length of an answer. */
  readonly bytes: number
}

/** What a server needed for a load. */
export interface Usage {
  readonly answerCount: number
  readonly comparedCount: number
  readonly processorMicros: number
  readonly tookMs: number
}

export interface FieldSize {
  readonly marketsPerVenue: number
  /** Markets that are asked for. */
  readonly askedCount: number
  /** Only the first hot route and the search. */
  readonly isShort: boolean
}

interface Row {
  readonly id: string
  readonly question: string
}
interface Page {
  readonly markets: readonly Row[]
}

export class RestField {
  readonly routes: readonly AskedRoute[]
  readonly #service: LiveService
  readonly #children: Readonly<Record<'limit' | 'fastify', Child<ServerCommand, ServerReport>>>
  readonly #load: Child<LoadCommand, LoadReport>
  readonly #origins: Readonly<Record<Contestant, string>>

  private constructor(parts: {
    routes: readonly AskedRoute[]
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
      const { marketsPerVenue } = size
      service = await LiveService.start({
        dataDir,
        marketsPerVenue,
        messagesPerSecond: MESSAGES_PER_SECOND,
      })
      await service.catalogsLoaded()
      await service.booksLive(0)
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

  /** Asks one server for one route as fast as it answers. */
  async press(contestant: Contestant, route: AskedRoute, seconds: number): Promise<Usage> {
    const requests = this.#requests(contestant, [route])
    const command = { ...this.#asking(contestant), seconds, requests, connections: CONNECTIONS }
    return this.#used(contestant, () =>
      this.#load.ask({ kind: 'press', ...command }, 'pressed', 1_000 * seconds),
    )
  }

  /** Asks one server for routes in turn at a rate, and says how late the answers were. */
  async plan(
    contestant: Contestant,
    routes: readonly AskedRoute[],
    { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  ): Promise<Histogram> {
    const requests = this.#requests(contestant, routes)
    const command = { ...this.#asking(contestant), seconds, requests, perSecond }
    const { times } = await this.#load.ask({ kind: 'plan', ...command }, 'planned', 1_000 * seconds)
    return decodeFromCompressedBase64(times)
  }

  /** What `work` cost a server's processor, with all that the server does beside. */
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
    return { origin: this.#origins[contestant], apiKey: this.#service.key }
  }

  /** Interleaved, so that of several routes each has its turn. */
  #requests(contestant: Contestant, routes: readonly AskedRoute[]): readonly AskedPath[] {
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
   * Stops the world and compares what ours answers then: books with the simulator's own, prices and rows of lists
   * with the record of the market. Returns what was compared, as lines; throws with the first difference.
   */
  async judge(): Promise<readonly string[]> {
    await this.#service.pauseWorld()
    const hot = this.routes.filter(({ isHot }) => isHot)
    const asked = new Set(hot.flatMap(({ byMarket }) => Object.keys(byMarket)))
    const truth = [...(await this.#service.truthBooks())].filter(([id]) => asked.has(id))
    check(truth.length === asked.size, `${truth.length} of ${asked.size} markets have a true book`)
    const lines = [...(await equalLines(new Map(truth), (id) => this.#service.book(id)))]
    for (const id of asked) lines.push(await this.#judgePrice(id))
    for (const { isHot, requests } of this.routes) {
      if (!isHot) for (const { path } of requests) lines.push(await this.#judgeList(path))
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

  async close(): Promise<void> {
    const { limit, fastify } = this.#children
    await Promise.all([this.#load.end(), limit.end(), fastify.end(), this.#service.kill()])
  }
}

/** The routes with paths to ask and the answers that ours gives now, and the headers of such an answer. */
async function routesOf(
  service: LiveService,
  { askedCount, isShort }: FieldSize,
): Promise<{ routes: readonly AskedRoute[]; headers: readonly (readonly [string, string])[] }> {
  const pages = await Promise.all(
    ['venue_a', 'venue_b'].map((platform) =>
      service.read<Page>(`/v1/markets?status=open&platform=${platform}&limit=${askedCount / 2}`),
    ),
  )
  const rows = pages.flatMap(({ markets }) => markets)
  check(rows.length > 1, 'both venues have open markets')
  const first = await answerOf(service, `/v1/markets/${encodeURIComponent(rows[0]?.id ?? '')}`)
  const routes = [
    await hotRoute(service, { name: '/markets/{id}/price', tail: '/price', rows }),
    await hotRoute(service, { name: '/markets/{id}/orderbook', tail: '/orderbook', rows }),
    await hotRoute(service, { name: '/markets/{id}', tail: '', rows }),
    await listRoute(service, '/markets', listPaths(rows)),
    await listRoute(service, '/markets/search', searchPaths(rows)),
  ]
  const kept = isShort ? routes.filter((_, index) => index === 0 || index === 4) : routes
  return { routes: kept, headers: first.headers }
}

const listPaths = (rows: readonly Row[]): string[] =>
  rows.slice(0, 5).map((_, index) => `/v1/markets?limit=20&offset=${index}`)

const searchPaths = (rows: readonly Row[]): string[] =>
  wordsOf(rows)
    .slice(0, 20)
    .map((word) => `/v1/markets/search?limit=20&search=${encodeURIComponent(word)}`)

async function hotRoute(
  service: LiveService,
  { name, tail, rows }: { name: string; tail: string; rows: readonly Row[] },
): Promise<AskedRoute> {
  const byMarket: Record<string, string> = {}
  const requests: AskedPath[] = []
  for (const { id } of rows) {
    const path = `/v1/markets/${encodeURIComponent(id)}${tail}`
    byMarket[id] = (await answerOf(service, path)).body
    requests.push({ path, says: JSON.stringify(id) })
  }
  const bodies = Object.values(byMarket)
  const pattern = `/v1/markets/:market_id${tail}`
  return { name, isHot: true, pattern, requests, byMarket, ...ordinary(bodies) }
}

async function listRoute(
  service: LiveService,
  name: string,
  paths: readonly string[],
): Promise<AskedRoute> {
  const bodies: string[] = []
  for (const path of paths) bodies.push((await answerOf(service, path)).body)
  const requests = paths.map((path) => ({ path, says: '{"markets":[{' }))
  return { name, isHot: false, pattern: `/v1${name}`, requests, byMarket: {}, ...ordinary(bodies) }
}

/** The answer nearest to the mean size, so that all send as many bytes. */
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
