// Plays ten recorded minutes of both venues with webhooks, streams and requests. Its records depend only on the
// recording and the code.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { VenueKey } from '../../../engine/ids.ts'
import { priceMicros, timeMs } from '../../../engine/units.ts'
import {
  RecordingCaller,
  RecordingStream,
  type Records,
  type Role,
} from '../clients/recording-client.ts'
import {
  type ReadRoute,
  readRoutes,
  valuesFor,
  venueAnswers,
  WALLETS,
} from '../worlds/golden-world.ts'
import { at, type Recording, ReplayClock, ReplayedService } from './replayed-service.ts'

const PASSWORD = 'a long password'
const EMAIL = 'ann@example.com'
/** 32 bytes in base64. */
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const CHANNELS = [
  'orderbook',
  'depth',
  'prices',
  'trades',
  'whales',
  'lifecycle',
  'candles',
  'arbitrage',
]
const EVENT_TYPES = [
  ...['arbitrage.closed', 'arbitrage.opened', 'market.resolved', 'match.created'],
  ...['price.changed', 'trade.created', 'whale.alert'],
]

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns '' if the field is absent. */
function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  let found: unknown = value
  for (const step of path) {
    found = Array.isArray(found) ? found[Number(step)] : isFields(found) ? found[step] : undefined
  }
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

/** `/fail` answers 500 the first time. */
class Receiver {
  readonly #server: Server
  readonly #posts: { readonly group: string; readonly text: string }[] = []
  readonly #failed = new Set<string>()

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { headers, url = '' } = request
        const id = String(headers['webhook-id'])
        const isFailing = url.endsWith('/fail') && !this.#failed.has(id)
        if (isFailing) this.#failed.add(id)
        const body = Buffer.concat(chunks).toString('utf8')
        const named = ['content-type', 'user-agent', 'webhook-timestamp']
        // The body contains the webhook's random id, so its digest would be random too.
        if (!/"type":"(?:price\.changed|webhook\.test)"/.test(body)) {
          named.push('webhook-id', 'webhook-signature')
        }
        const shown = named.map((name) => `${name}: ${String(headers[name])}`)
        const signed = isSigned(body, headers) ? 'signed with the secret' : 'SIGNED OTHERWISE'
        const text = [`POST ${url}`, ...shown, signed, body].join('\n')
        this.#posts.push({ group: `webhook ${url}`, text })
        response.sendDate = false
        response.writeHead(isFailing ? 500 : 204).end()
      })
    })
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get origin(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  /** Sorts the posts since the last call, because concurrent posts arrive in any order. */
  flush(records: Records): void {
    const sorted = this.#posts.splice(0).sort((one, other) => (one.text < other.text ? -1 : 1))
    for (const { group, text } of sorted) records.add(group, text)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

/** The signature is valid at the time of the attempt. */
function isSigned(body: string, headers: IncomingHttpHeaders): boolean {
  const [id, seconds] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
  const wanted = new Webhook(WEBHOOK_SECRET).sign(id, new Date(seconds * 1_000), body)
  return String(headers['webhook-signature']).split(' ').includes(wanted)
}

export class GoldenRun {
  readonly service: ReplayedService
  readonly caller: RecordingCaller
  readonly #records: Records
  readonly #recording: Recording
  readonly #receiver: Receiver
  readonly #streams = new Set<RecordingStream>()
  readonly #keys = new Map<Role, string>()

  private constructor(parts: {
    service: ReplayedService
    records: Records
    recording: Recording
    receiver: Receiver
  }) {
    this.service = parts.service
    this.#records = parts.records
    this.#recording = parts.recording
    this.#receiver = parts.receiver
    this.caller = new RecordingCaller(parts.service.origin, parts.records)
  }

  static async open(set: {
    dataDir: string
    recording: Recording
    records: Records
  }): Promise<GoldenRun> {
    const { recording, records, dataDir } = set
    const clock = new ReplayClock(recording.startedAtMs)
    const answers = venueAnswers(recording)
    const service = await ReplayedService.open({ dataDir, clock, recording, answers })
    for (const venue of ['a', 'b'] as const) {
      for (const stream of ['books', 'trades'] as const) service.feed(venue, 'feedUp', stream)
    }
    const receiver = await Receiver.open()
    records.name(receiver.origin, 'receiver')
    records.name(service.origin, 'service')
    return new GoldenRun({ service, records, recording, receiver })
  }

  /** Other clients of the service need the key. */
  key(role: Role): string {
    return this.#keys.get(role) ?? ''
  }

  /** Resolves when all effects of the recording up to `second` are recorded. */
  async playTo(second: number): Promise<void> {
    for (let now = this.#second + 1; now <= second; now += 1) await this.#step(now)
    this.#second = second
  }
  #second = 0

  get second(): number {
    return this.#second
  }

  async #step(second: number): Promise<void> {
    await this.service.playTo(at(this.#recording, second))
    await Promise.all([...this.#streams].map((stream) => stream.barrier()))
    this.#receiver.flush(this.#records)
  }

  /** Opens an account without limits, with a token and a key of each kind. */
  async openAccount(): Promise<void> {
    const { caller } = this
    const group = 'accounts'
    const body = { email: EMAIL, password: PASSWORD }
    const made = await caller.ask({
      method: 'POST',
      path: '/v1/auth/signup',
      role: 'anonymous',
      body,
      group,
    })
    const token = textAt(made.value, 'access_token')
    this.#records.name(token, 'token')
    this.#records.name(textAt(made.value, 'user', 'id'), 'account')
    caller.credentials.set('token', { authorization: `Bearer ${token}` })
    const { directory } = this.service.engine.accounts
    const account = directory.findByEmail(EMAIL)
    assert.ok(account !== null)
    const set = { requestsPerMinute: null, socketsMax: null, deliveriesPerSecond: null }
    await directory.setTier(account, { tier: 'enterprise', ...set })
    for (const [role, scopes] of [
      ['read key', ['read']],
      ['webhooks key', ['read', 'webhooks']],
    ] as const) {
      const asked = { label: role, scopes }
      const answer = await caller.ask({
        method: 'POST',
        path: '/v1/keys',
        role: 'token',
        body: asked,
        group,
      })
      const key = textAt(answer.value, 'key')
      this.#records.name(key, role)
      this.#records.name(textAt(answer.value, 'id'), `id of the ${role}`)
      this.#records.name(textAt(answer.value, 'prefix'), `beginning of the ${role}`)
      this.#keys.set(role, key)
      caller.credentials.set(role, { 'x-api-key': key })
    }
  }

  /** Creates a webhook for each event type, one whose receiver fails at first, and one with filters. */
  async openWebhooks(): Promise<void> {
    const { origin } = this.#receiver
    for (const type of EVENT_TYPES)
      await this.#openWebhook({ url: `${origin}/${type}`, event_types: [type] })
    await this.#openWebhook({ url: `${origin}/fail`, event_types: ['whale.alert'] })
    const filters = { platform: 'venue_b', side: 'buy', min_usd: 20 }
    await this.#openWebhook({ url: `${origin}/filtered`, event_types: ['trade.created'], filters })
  }

  async #openWebhook(asked: Fields): Promise<void> {
    const body = { ...asked, secret: WEBHOOK_SECRET }
    const role = 'webhooks key'
    const made = await this.caller.ask({
      method: 'POST',
      path: '/v1/webhooks',
      role,
      body,
      group: 'webhooks',
    })
    this.#records.name(
      textAt(made.value, 'id'),
      `webhook of ${String(asked.url).split('/').at(-1)}`,
    )
  }

  /** Later steps wait until the messages of this connection are recorded. */
  async stream(name: string, query: string): Promise<RecordingStream> {
    const key = this.key('read key')
    const stream = await RecordingStream.open(this.service.origin, {
      key,
      query,
      name,
      records: this.#records,
    })
    this.#streams.add(stream)
    return stream
  }

  async endStream(stream: RecordingStream): Promise<void> {
    this.#streams.delete(stream)
    const open = (await this.service.gauge('stream_connections')) - 1
    await stream.close()
    while ((await this.service.gauge('stream_connections')) > open) await this.service.settle()
  }

  async subscribeAll(stream: RecordingStream, since: ((channel: string) => unknown) | null = null) {
    for (const [id, channel] of CHANNELS.entries()) {
      const command = { action: 'subscribe', id, channel, market_ids: ['*'] }
      stream.send(since === null ? command : { ...command, since: since(channel) })
      await stream.barrier()
    }
  }

  /** Requests every GET route with each role, each parameter with each value, pages, and unknown ids. */
  async readAll(): Promise<void> {
    const response = await fetch(`${this.service.origin}/openapi.json`)
    const routes = readRoutes(await response.json())
    const samples = await this.#samples()
    for (const route of routes) {
      if (/^\/v1\/(?:webhooks|keys|auth)/.test(route.pattern)) await this.#minutePasses()
      await this.#readRoute(route, samples)
    }
  }

  /** Management requests have a limit per minute. */
  async #minutePasses(): Promise<void> {
    await this.playTo(this.#second + 61)
  }

  async #readRoute(route: ReadRoute, samples: Samples): Promise<void> {
    const { pattern, parameters } = route
    const group = `GET ${pattern}`
    const required = parameters
      .filter(({ isRequired }) => isRequired)
      .map(({ name }) => `${name}=${encodeURIComponent(samples[name]?.[0] ?? '1')}`)
    const targets = pathsOf(pattern, samples)
    const [first = pattern] = targets
    const ask = (path: string, query: readonly string[], role: Role = 'webhooks key') =>
      this.caller.ask({
        path: query.length === 0 ? path : `${path}?${query.join('&')}`,
        role,
        group,
      })
    for (const role of ROLES) await ask(first, required, role)
    for (const path of targets.slice(1)) await ask(path, required)
    for (const parameter of parameters) {
      const others = required.filter((text) => !text.startsWith(`${parameter.name}=`))
      for (const value of valuesFor(parameter, samples)) {
        await ask(first, [...others, `${parameter.name}=${encodeURIComponent(value)}`])
      }
    }
    if (parameters.some(({ name }) => name === 'cursor')) await this.#pages(first, required, ask)
  }

  async #pages(
    path: string,
    required: readonly string[],
    ask: (path: string, query: readonly string[]) => Promise<{ readonly value: unknown }>,
  ): Promise<void> {
    const query = [...required, 'limit=2']
    let cursor = textAt((await ask(path, query)).value, 'cursor')
    for (let page = 0; page < 2 && cursor !== ''; page += 1) {
      const random = /\D/.test(cursor.replace('.', '')) ? `cursor ${page} of ${path}` : ''
      if (random !== '') this.#records.name(cursor, random)
      cursor = textAt((await ask(path, [...query, `cursor=${cursor}`])).value, 'cursor')
    }
  }

  /** Values for parameters and paths from the service's current lists. */
  async #samples(): Promise<Samples> {
    const list = async (path: string, field: string): Promise<readonly unknown[]> => {
      const headers = { 'x-api-key': this.key('webhooks key') }
      const value: unknown = await (
        await fetch(`${this.service.origin}${path}`, { headers })
      ).json()
      const found = isFields(value) ? value[field] : null
      return Array.isArray(found) ? found : []
    }
    const each = (rows: readonly unknown[], field: string) =>
      [...new Set(rows.map((row) => textAt(row, field)))].filter((text) => text !== '')
    const of = (platform: string) => list(`/v1/markets?limit=5&platform=${platform}`, 'markets')
    const [a, b] = [await of('venue_a'), await of('venue_b')]
    const ids = [...each(a, 'id'), ...each(b, 'id')]
    const native = (market: string) => market.replace(/^venue_._/, '')
    const seconds = Math.floor(this.#recording.startedAtMs / 1_000)
    const webhooks = await list('/v1/webhooks', 'webhooks')
    const [webhook = ''] = each(webhooks, 'id')
    const deliveries = await list(`/v1/webhooks/${webhook}/deliveries`, 'deliveries')
    const opportunities = await list('/v1/arbitrage', 'opportunities')
    const some = (texts: readonly string[]) => [texts[0] ?? 'none', texts[5] ?? texts[1] ?? 'none']
    return {
      ...{ market_id: some(ids), market_ids: [ids.slice(0, 3).join(','), 'venue_a_none'] },
      ...{
        condition_id: [native(each(a, 'id')[0] ?? '')],
        ticker: [native(each(b, 'id')[0] ?? '')],
      },
      ...{ slug: each(a, 'event_slug').slice(0, 2), event_slug: each(a, 'event_slug').slice(0, 2) },
      ...{
        market_slug: each(a, 'slug').slice(0, 1),
        event_ticker: each(b, 'event_slug').slice(0, 1),
      },
      ...{
        address: [...WALLETS],
        wallet: [...WALLETS],
        sport: ['nfl', 'nba'],
        date: ['2026-11-20'],
      },
      ...{
        search: ['will', 'price above'],
        limit: ['1', '3'],
        offset: ['0', '2'],
        depth: ['1', '3'],
      },
      ...{ outcome: ['yes', 'no'], interval: ['1m', '1h'], at_time: [String(seconds + 300)] },
      ...{ start_time: [String(seconds - 3_600)], end_time: [String(seconds + 400)] },
      ...{ start_ts: [String(seconds - 3_600)], end_ts: [String(seconds + 400)] },
      ...{ opportunity_id: each(opportunities, 'id').slice(0, 2), webhook_id: [webhook] },
      ...{ delivery_id: each(deliveries, 'id').slice(0, 2), min_edge: ['0.01'], min_gap: ['0.01'] },
    }
  }

  readonly fullPrice = priceMicros(1_000_000)

  /** Some markets of each venue, most traded first, and the slug of an event. */
  async marketIds() {
    const headers = { 'x-api-key': this.key('read key') }
    const of = async (platform: string) => {
      const path = `${this.service.origin}/v1/markets?limit=5&platform=${platform}`
      const value: unknown = await (await fetch(path, { headers })).json()
      const rows = isFields(value) && Array.isArray(value.markets) ? value.markets : []
      return rows.map((row: unknown) => ({
        id: textAt(row, 'market_id'),
        slug: textAt(row, 'event_slug'),
      }))
    }
    const [a, b] = [await of('venue_a'), await of('venue_b')]
    return { a: a.map(({ id }) => id), b: b.map(({ id }) => id), slug: a[0]?.slug ?? '' }
  }

  /** Every metric of the service with its type and its label names. */
  async metricNames(): Promise<readonly string[]> {
    const metrics = await this.service.metrics.registry.getMetricsAsJSON()
    return metrics
      .map(({ name, type, values }) => {
        const labels = new Set(values.flatMap((value) => Object.keys(value.labels)))
        return [name, type, ...[...labels].sort()].join(' ')
      })
      .sort()
  }

  /** Each object is changed by a valid sequence of requests. */
  async writeAll(): Promise<void> {
    const webhook = textAt((await this.#list('/v1/webhooks')).value, 'webhooks', 0, 'id')
    const delivery = textAt(
      (await this.#list(`/v1/webhooks/${webhook}/deliveries?status=delivered`)).value,
      'deliveries',
      0,
      'id',
    )
    for (const [method, path, bodies, isTokens] of writes(webhook, delivery)) {
      await this.#minutePasses()
      const group = `${method} ${path.replace(webhook, '{webhook_id}').replace(delivery, '{delivery_id}')}`
      const good: Role = isTokens ? 'token' : 'webhooks key'
      for (const role of ROLES) {
        if (role !== good) await this.caller.ask({ method, path, role, body: bodies[0], group })
      }
      for (const body of bodies) {
        const { value } = await this.caller.ask({ method, path, role: good, body, group })
        for (const name of ['id', 'secret', 'key', 'prefix']) {
          const random = textAt(value, name)
          if (!random.startsWith('dlv_')) this.#records.name(random, `${name} of ${group}`)
        }
      }
    }
    await this.playTo(this.#second + 5)
  }

  #list(path: string) {
    return this.caller.ask({ path, role: 'webhooks key', group: 'GET for writing' })
  }

  async endStreams(): Promise<void> {
    for (const stream of [...this.#streams]) await this.endStream(stream)
  }

  async stop(): Promise<void> {
    await this.endStreams()
    await this.service.stop()
    await this.#receiver.close()
  }
}

/** Requests that change data. Only the first body of each is valid. */
function writes(
  webhook: string,
  delivery: string,
): readonly (readonly [
  method: string,
  path: string,
  bodies: readonly unknown[],
  isTokens: boolean,
])[] {
  const one = `/v1/webhooks/${webhook}`
  const pair = { email: 'bob@example.com', password: PASSWORD }
  return [
    ['POST', '/v1/ws/ticket', [{}], false],
    ['POST', '/v1/arbitrage/quote', [{ legs: [{ market_id: 'venue_a_none' }] }, {}, '{', 5], false],
    ['POST', '/v1/keys', [{ label: 'bot' }, {}, { label: 5 }, '['], true],
    [
      'PATCH',
      one,
      [{ active: false }, { active: true }, { description: 'mine' }, { url: 'ftp://x' }],
      false,
    ],
    ['POST', `${one}/rotate-secret`, [{ secret: WEBHOOK_SECRET }, { secret: 'short' }], false],
    ['POST', `${one}/test`, [undefined], false],
    ['POST', `${one}/deliveries/${delivery}/retry`, [undefined], false],
    [
      'POST',
      '/v1/webhooks',
      [{ url: 'not a url' }, {}, { url: 'https://example.com/', event_types: ['x'] }],
      false,
    ],
    ['DELETE', one, [undefined, undefined], false],
    [
      'POST',
      '/v1/auth/login',
      [{ email: EMAIL, password: PASSWORD }, { email: EMAIL, password: 'wrong' }, {}],
      false,
    ],
    ['POST', '/v1/auth/signup', [pair, pair, { ...pair, email: 'x' }, { email: 'c@d.ef' }], false],
    ['POST', '/v1/auth/password', [{ current_password: 'wrong', new_password: PASSWORD }], true],
    ['DELETE', '/v1/auth/me', [{ password: 'wrong' }, { password: PASSWORD }], true],
  ]
}

type Samples = Readonly<Record<string, readonly string[]>>
const ROLES: readonly Role[] = ['anonymous', 'read key', 'webhooks key', 'token']

/** Paths of a route: one for each sample of its first parameter, and one with an unknown value. */
function pathsOf(pattern: string, samples: Samples): readonly string[] {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const [first] = names
  if (first === undefined) return [pattern]
  const filled = (value: string) =>
    names.reduce(
      (path, name) =>
        path.replace(
          `{${name}}`,
          encodeURIComponent(name === first ? value : (samples[name]?.[0] ?? 'none')),
        ),
      pattern,
    )
  return [...(samples[first] ?? []), 'nothing-of-this-name'].map(filled)
}

export function statusEvent(recording: Recording, second: number, venue: VenueKey, index: number) {
  const market = (recording.pages.get(venue) ?? []).flatMap((page) => page.markets)[index]
  assert.ok(market !== undefined, 'the recording has markets')
  const times = { venueTimeMs: timeMs(at(recording, second)), receivedAtMs: at(recording, second) }
  return {
    kind: 'marketStatus',
    venue,
    market: market.nativeId,
    settlementPrice: null,
    ...times,
  } as const
}
