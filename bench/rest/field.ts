// Starts the three servers of the rest bench and their client, each in a separate process. Two servers send copies of
// our service's responses.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { Child } from '../child.ts'
import { check } from '../harness.ts'
import { LiveService } from '../live-service.ts'
import { describeTarget } from '../target/target.ts'
import type { api as loadApi } from './load.ts'
import type { RequestedPath } from './planned.ts'
import type { ServedRoute, api as serverApi } from './server.ts'

export const CONTESTANTS = ['ours', 'limit', 'fastify'] as const
export type Contestant = (typeof CONTESTANTS)[number]

const MESSAGES_PER_SECOND = 200
/** Message rate and duration of an earlier run that stores trades for the history pages. */
const STORED_PER_SECOND = 3_000
const STORED_MS = 10_000
const CONNECTIONS = 64
const MICROS = 1_000_000
const PAGE = 20
/** Headers that are not copied, because each server or the protocol adds them. */
const OWN_HEADERS = ['date', 'connection', 'content-length', 'transfer-encoding', 'uwebsockets']

export interface RequestedRoute extends ServedRoute {
  readonly name: string
  /**
   * `hot`: a market's current record, which fastify also serves. `list`: a list of markets. `past`: the newest page of
   * a market's history.
   */
  readonly kind: 'hot' | 'list' | 'past'
  readonly requests: readonly RequestedPath[]
  readonly bytes: number
}

export interface Usage {
  readonly answerCount: number
  readonly comparedCount: number
  readonly processorMicros: number
  readonly tookMs: number
}

export interface FieldSize {
  readonly marketsPerVenue: number
  readonly askedCount: number
  /** If true, only the last route of each kind is tested. */
  readonly isShort: boolean
}

interface Row {
  readonly id: string
  readonly question: string
}
interface Page {
  readonly markets: readonly Row[]
}
/** Rows of a market's history. `closed` of a candle depends on the time of the request. */
interface PastPage {
  readonly trades?: readonly object[]
  readonly candles?: readonly { readonly closed: boolean }[]
}

interface Running {
  readonly service: LiveService
  readonly origins: Readonly<Record<Contestant, string>>
}

export class RestField {
  routes: readonly RequestedRoute[] = []
  readonly #load = new Child<typeof loadApi>('rest/load.ts')
  readonly #children = {
    limit: new Child<typeof serverApi>('rest/server.ts', ['limit']),
    fastify: new Child<typeof serverApi>('rest/server.ts', ['fastify']),
  }
  #opened: Running | null = null

  get #running(): Running {
    if (this.#opened === null) throw new Error('the servers are not open')
    return this.#opened
  }

  async open(dataDir: string, size: FieldSize): Promise<void> {
    const { marketsPerVenue } = size
    const start = async (messagesPerSecond: number): Promise<LiveService> => {
      const service = await LiveService.start({ dataDir, marketsPerVenue, messagesPerSecond })
      this.#opened = { service, origins: { ours: service.api, limit: '', fastify: '' } }
      await service.ready()
      return service
    }
    if (!size.isShort) {
      const earlier = await start(STORED_PER_SECOND)
      await pause(STORED_MS)
      await earlier.stop()
    }
    const service = await start(MESSAGES_PER_SECOND)
    const { routes, headers } = await routesOf(service, size)
    const opening = { apiKey: service.key, headers, routes }
    const at = async (name: 'limit' | 'fastify') =>
      `http://127.0.0.1:${await this.#children[name].call('open', opening)}`
    const origins = { ours: service.api, limit: await at('limit'), fastify: await at('fastify') }
    this.#opened = { service, origins }
    this.routes = routes
  }

  /** Sends requests for one route to one server, each when the previous response has arrived. */
  async press(contestant: Contestant, route: RequestedRoute, seconds: number): Promise<Usage> {
    const requests = this.#requests(contestant, [route])
    const plan = { ...this.#asking(contestant), seconds, requests }
    return this.#used(contestant, () => this.#load.call('press', plan))
  }

  /** Sends requests for several routes in rotation to one server at a rate. Returns the response times. */
  async plan(
    contestant: Contestant,
    routes: readonly RequestedRoute[],
    { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  ): Promise<Histogram> {
    const requests = this.#requests(contestant, routes)
    const plan = { ...this.#asking(contestant), seconds, requests, perSecond }
    return decodeFromCompressedBase64(await this.#load.call('plan', plan))
  }

  /** A server's processor time during `work`, in which the server receives no requests. */
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
    if (contestant === 'ours') return this.#running.service.processorSeconds() * MICROS
    return this.#children[contestant].call('processorMicros')
  }

  #asking(contestant: Contestant) {
    const { service, origins } = this.#running
    return { origin: origins[contestant], apiKey: service.key, connections: CONNECTIONS }
  }

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
   * Pauses the world and compares our responses with the simulator's books, with the records of the markets, and with
   * longer pages of history. Returns a line for each comparison. Throws at the first difference.
   */
  async judge(): Promise<readonly string[]> {
    await this.#running.service.pauseWorld()
    const requested = new Set(this.routes.flatMap(({ byMarket }) => Object.keys(byMarket)))
    const truth = [...(await this.#running.service.truthBooks())].filter(([id]) =>
      requested.has(id),
    )
    check(
      truth.length === requested.size,
      `${truth.length} of ${requested.size} markets have a true book`,
    )
    const lines = [...(await this.#running.service.equalLines(new Map(truth)))]
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
    const { price } = await this.#running.service.read<{ price: number }>(`${path}/price`)
    const { outcomes } = await this.#running.service.read<Market>(path)
    check(outcomes[0]?.price === price, `${id}: price ${price}, its record ${outcomes[0]?.price}`)
    return `${id} ${price}`
  }

  async #judgeList(path: string): Promise<string> {
    const { markets } = await this.#running.service.read<Page>(path)
    check(markets.length > 0, `${path} finds a market`)
    for (const row of markets.slice(0, 5)) {
      const own = await this.#running.service.read<Row>(`/v1/markets/${encodeURIComponent(row.id)}`)
      const [listed, alone] = [JSON.stringify(row), JSON.stringify(own)]
      check(listed === alone, `${path} has\n${listed}\nbut the market alone is\n${alone}`)
    }
    return `${path} ${markets.map(({ id }) => id).join(' ')}`
  }

  /** A page must equal the newest part of a longer page, which is requested for the first time. */
  async #judgePast(path: string): Promise<string> {
    const longer = path.replace(/limit=\d+/, `limit=${2 * PAGE}`)
    const [own, other] = [await this.#pastRows(path), await this.#pastRows(longer)]
    const newest = path.includes('/trades') ? other.slice(0, PAGE) : other.slice(-PAGE)
    check(own.join() === newest.join(), `${path} has\n${own}\nnot\n${newest}`)
    return `${path} ${own.length}`
  }

  async #pastRows(path: string): Promise<readonly string[]> {
    const { trades, candles = [] } = await this.#running.service.read<PastPage>(path)
    return (trades ?? candles.map(({ closed, ...bar }) => bar)).map((row) => JSON.stringify(row))
  }

  async close(): Promise<void> {
    const { limit, fastify } = this.#children
    await Promise.all([this.#load, limit, fastify].map((child) => child.end()))
    await this.#opened?.service.kill()
  }
}

/** The requests of a route. `id`: the market that fastify looks up. */
interface Spec extends Pick<RequestedRoute, 'name' | 'kind'> {
  readonly requests: readonly (RequestedPath & { readonly id?: string })[]
}

function specsOf(rows: readonly Row[]): readonly Spec[] {
  const ofMarket = (id: string, tail: string) => `/v1/markets/${encodeURIComponent(id)}${tail}`
  const listed = (paths: readonly string[]) =>
    paths.map((path) => ({ path: `${path}limit=${PAGE}`, says: '":[' }))
  const past = (tail: string) => listed(rows.map(({ id }) => ofMarket(id, tail)))
  const terms = describeTarget(rows).slice(0, 20).map(encodeURIComponent)
  return [
    ...['/price', '/orderbook', ''].map((tail): Spec => {
      const requests = rows.map(({ id }) => ({
        ...{ id, path: ofMarket(id, tail), says: JSON.stringify(id) },
      }))
      return { name: `/markets/{id}${tail}`, kind: 'hot', requests }
    }),
    {
      ...{ name: '/markets', kind: 'list' },
      requests: listed(rows.slice(0, 5).map((_, index) => `/v1/markets?offset=${index}&`)),
    },
    {
      ...{ name: '/markets/search', kind: 'list' },
      requests: listed(terms.map((term) => `/v1/markets/search?search=${term}&`)),
    },
    {
      ...{ name: '/markets/{id}/trades', kind: 'past' },
      requests: past('/trades?order=desc&'),
    },
    {
      ...{ name: '/markets/{id}/candles', kind: 'past' },
      requests: past('/candles?interval=5m&'),
    },
  ]
}

async function routesOf(
  service: LiveService,
  { askedCount, isShort }: FieldSize,
): Promise<{ routes: readonly RequestedRoute[]; headers: readonly (readonly [string, string])[] }> {
  const rows: Row[] = []
  for (const platform of ['venue_a', 'venue_b']) {
    const query = `status=open&platform=${platform}&limit=${askedCount / 2}`
    rows.push(...(await service.read<Page>(`/v1/markets?${query}`)).markets)
  }
  check(rows.length > 1, 'both venues have open markets')
  const [first] = rows
  const { headers } = await service.answer(`/v1/markets/${encodeURIComponent(first?.id ?? '')}`)
  const all = specsOf(rows)
  const specs = isShort ? all.filter(({ kind }, index) => all[index + 1]?.kind !== kind) : all
  const routes: RequestedRoute[] = []
  for (const { requests, ...spec } of specs) {
    const bodies: string[] = []
    const byMarket: Record<string, string> = {}
    for (const { path, id } of requests) {
      const { body } = await service.answer(path)
      bodies.push(body)
      if (id !== undefined) byMarket[id] = body
    }
    const pattern = `/v1${spec.name.replace('{id}', ':market_id')}`
    routes.push({ ...spec, pattern, requests, byMarket, ...ordinary(bodies) })
  }
  return { routes, headers: [...headers].filter(([name]) => !OWN_HEADERS.includes(name)) }
}

/** The response whose size is nearest to the mean, so that all servers send equally many bytes. */
function ordinary(bodies: readonly string[]): { constant: string; bytes: number } {
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0) / bodies.length
  const distance = (body: string): number => Math.abs(Buffer.byteLength(body) - bytes)
  const [constant = ''] = [...bodies].sort((one, other) => distance(one) - distance(other))
  return { constant, bytes: Math.round(bytes) }
}
