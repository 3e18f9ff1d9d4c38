import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type TimeMs, timeMs } from '../../../engine/units.ts'
import type { Delivery } from '../../../engine/webhooks/webhook.ts'
import { EVENT_TYPES } from '../../../http/webhooks/types/event-types.ts'
import { type RawAnswer, RawConnection } from '../../support/clients/raw-http.ts'
import { BODY } from '../../support/fakes/webhooks.ts'
import { OpenapiValidator } from '../../support/reference/openapi-validator.ts'
import { type ApiServer, openApiServer } from '../../support/rigs/api-server.ts'
import {
  ACCOUNT,
  type DocumentedServer,
  openDocumentedServer,
} from '../../support/rigs/documented-server.ts'

let server: DocumentedServer
let validator: OpenapiValidator
let connection: RawConnection
before(async () => {
  server = await openDocumentedServer()
  server.engine.accounts.make('eve', { requestsPerMinute: 1e9 })
  validator = new OpenapiValidator(server.document)
  connection = new RawConnection(server.port)
})
after(async () => {
  connection.close()
  await server.stop()
})

const ALL = '/v1/webhooks'
const ONE = `${ALL}/{webhook_id}`
const DELIVERY = `${ONE}/deliveries/{delivery_id}`
const RETRY = `${DELIVERY}/retry`
const PREVIEW = `${ALL}/preview`
const ROUTES = [
  ['POST', ALL],
  ['GET', ALL],
  ['GET', ONE],
  ['PATCH', ONE],
  ['DELETE', ONE],
  ['POST', `${ONE}/test`],
  ['POST', `${ONE}/rotate-secret`],
  ['GET', `${ONE}/deliveries`],
  ['GET', DELIVERY],
  ['POST', RETRY],
] as const
const URL_OK = 'https://example.com/hooks'
const GOOD = { url: URL_OK, event_types: ['trade.created'] }
const SECRET = `whsec_${'a1b2'.repeat(8)}`

interface Asked {
  readonly id?: string
  readonly delivery?: string
  readonly query?: string
  readonly body?: unknown
  readonly raw?: string | Buffer
  readonly headers?: readonly (readonly [string, string])[]
}

type Json = Readonly<Record<string, unknown>>

/** Validates the answer against the API document. */
async function ask(method: string, pattern: string, requested: Asked = {}): Promise<RawAnswer> {
  const { id = 'wh_none', delivery = 'dlv_1', query = '', body, raw } = requested
  const path = pattern.replace('{webhook_id}', id).replace('{delivery_id}', delivery)
  const headers = requested.headers ?? [['X-API-Key', `${ACCOUNT}-key`]]
  const sent = raw ?? (body === undefined ? null : JSON.stringify(body))
  const answer = await connection.exchange({ method, target: path + query, headers, body: sent })
  assert.ok(answer !== null, `${method} ${path}: closed`)
  assert.equal(validator.problem({ method, pattern, ...answer }), null, answer.body)
  return answer
}

async function got(status: number, ...requested: Parameters<typeof ask>): Promise<Json> {
  const answer = await ask(...requested)
  assert.equal(answer.status, status, `${requested[0]} ${requested[1]}: ${answer.body}`)
  if (status !== 204) assert.equal(answer.headers.get('cache-control'), 'no-store')
  return answer.body === '' ? {} : JSON.parse(answer.body)
}

async function make(set: Json = {}): Promise<Json & { readonly id: string }> {
  const made = await got(201, 'POST', ALL, { body: { ...GOOD, ...set } })
  return { ...made, id: String(made.id) }
}

/** Field and type of each validation error. Checks that the answer repeats no secret. */
async function failures(body: unknown, method = 'POST', pattern = ALL, id = 'wh_none') {
  const raw = typeof body === 'string' ? { raw: body } : { body }
  const { status, body: text } = await ask(method, pattern, { id, ...raw })
  assert.equal(status, 422, `${JSON.stringify(body).slice(0, 200)}: ${text}`)
  assert.doesNotMatch(text, /hunter2|whsec_a/, text)
  assert.ok(text.length < 60_000, `${text.length} characters`)
  const { detail }: { detail: { loc: unknown[]; type: string; msg: string }[] } = JSON.parse(text)
  return detail.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`)
}

describe('webhook routes', () => {
  test('creates, lists, reads, changes and deletes webhooks, and never returns a secret after its creation or replacement', async () => {
    const filters = { market_ids: ['venue_a_a0'], min_usd: 12.345678, side: 'sell' }
    const made = await make({ filters, description: 'a bot', secret: SECRET })
    const { secret, ...record } = made
    assert.equal(secret, SECRET)
    const none = {
      ...{ platform: null, wallets: null, min_change: null, event_slugs: null },
      ...{
        taker_wallets: null,
        min_profit_usd: null,
        min_edge: null,
        min_age_ms: null,
        taker_side: null,
      },
    }
    assert.deepEqual(record, {
      id: made.id,
      url: URL_OK,
      format: 'standard',
      event_types: ['trade.created'],
      filters: { ...none, categories: null, ...filters },
      description: 'a bot',
      active: true,
      disabled_reason: null,
      created_at: Math.floor(server.engine.clock.nowMs() / 1000),
      failing_since: null,
      previous_secret_until: null,
      counts: { created: 0, delivered: 0, exhausted: 0, dropped: 0, pending: 0 },
      throttled: 0,
      verified: true,
    })
    const { id } = made
    assert.deepEqual(await got(200, 'GET', ONE, { id }), record)
    const other = await make()
    assert.match(String(other.secret), /^whsec_[A-Za-z0-9+/]{43}=$/, 'a secret is generated')
    const listed = await ask('GET', ALL)
    assert.doesNotMatch(listed.body, /whsec_/)
    const { webhooks, total }: { webhooks: Json[]; total: number } = JSON.parse(listed.body)
    assert.deepEqual([webhooks.length, webhooks.at(-1)?.id], [total, other.id])
    const change = { active: false, event_types: ['price'], filters: null, description: null }
    const changed = await got(200, 'PATCH', ONE, { id, body: change })
    const wanted = { active: false, event_types: ['price.changed'], description: null, url: URL_OK }
    assert.deepEqual({ ...changed, ...wanted }, changed)
    assert.deepEqual(new Set(Object.values(Object(changed.filters))), new Set([null]))
    assert.deepEqual(
      await got(200, 'PATCH', ONE, { id, body: {} }),
      changed,
      'an empty change has no effect',
    )
    const same = { filters: changed.filters }
    assert.deepEqual(
      await got(200, 'PATCH', ONE, { id, body: same }),
      changed,
      'the filters in canonical form',
    )
    assert.deepEqual(await got(204, 'DELETE', ONE, { id }), {})
    await got(404, 'GET', ONE, { id })
    await got(404, 'DELETE', ONE, { id })
  })

  test('replaces the secret of a webhook with the given one, or with a generated one when the request has no secret or no body', async () => {
    const { id, secret } = await make()
    const seen = new Set([secret])
    const path = `${ONE}/rotate-secret`
    for (const sent of [{}, { raw: '' }, { body: {} }, { body: { secret: null } }]) {
      const rotated = await got(200, 'POST', path, { id, ...sent })
      assert.ok(!seen.has(rotated.secret), 'a new secret each time')
      seen.add(rotated.secret)
      const day = Math.floor(server.engine.clock.nowMs() / 1000) + 86_400
      assert.equal(rotated.previous_secret_until, day)
    }
    const own = await got(200, 'POST', path, { id, body: { secret: SECRET } })
    assert.equal(own.secret, SECRET)
    assert.deepEqual(await failures({ secret: 'whsec_a' }, 'POST', path, id), [
      'secret value_error',
    ])
  })

  test('answers 404 to keys and tokens for a webhook of another account', async () => {
    const { id } = await make()
    const account = server.engine.webhooks.rows.get(id)?.webhook.accountId
    assert.ok(account !== undefined)
    server.engine.webhooks.deliver(id)
    const eve = [['X-API-Key', 'eve-key']] as const
    for (const [method, pattern] of ROUTES) {
      const body = method === 'PATCH' ? { body: { active: false } } : {}
      await got(401, method, pattern, { id, ...body, headers: [] })
      if (pattern === ALL) continue
      const unknown = await got(404, method, pattern, { ...body })
      assert.deepEqual(await got(404, method, pattern, { id, ...body, headers: eve }), unknown)
    }
    const { total } = await got(200, 'GET', ALL, { headers: eve })
    assert.equal(total, 0)
    const bearer = [['Authorization', `Bearer ${ACCOUNT}-token`]] as const
    await got(200, 'GET', ONE, { id, headers: bearer })
    await got(201, 'POST', ALL, { body: GOOD, headers: bearer })
    assert.deepEqual(server.engine.webhooks.get(account, id)?.isActive, true, 'eve changed nothing')
  })

  test('answers 400 when an account has its maximum number of webhooks', async () => {
    const own = await openApiServer()
    own.engine.webhooks.countMax = 2
    const post = () => own.get(ALL, { method: 'POST', body: JSON.stringify(GOOD) })
    assert.deepEqual([(await post()).status, (await post()).status], [201, 201])
    const refused = await post()
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.body, { detail: 'an account may have 2 webhooks' })
    await own.stop()
  })
})

describe('request bodies of webhooks', () => {
  test('lists every validation error of a webhook body with its full path, in field order', async () => {
    const body = {
      more: { hunter2: 'hunter2' },
      description: 5,
      secret: 'hunter2',
      filters: {
        wallets: ['0x12', `0x${'a'.repeat(40)}`, 7],
        market_ids: [],
        platform: 'venue_c',
        min_usd: -1,
        min_change: 1.5,
        side: 'long',
        event_slugs: 'one',
        categories: Array.from({ length: 101 }, () => 'x'),
        market_id: 'venue_a_a0',
      },
      event_types: ['trade', 'trades', null],
    }
    assert.deepEqual(await failures(body), [
      'url missing',
      'event_types.1 enum',
      'event_types.2 enum',
      'filters.market_ids too_short',
      'filters.platform enum',
      'filters.wallets.0 string_pattern_mismatch',
      'filters.wallets.2 string_type',
      'filters.min_usd greater_than_equal',
      'filters.min_change less_than_equal',
      'filters.side enum',
      'filters.event_slugs list_type',
      'filters.categories too_long',
      'filters.market_id extra_forbidden',
      'secret value_error',
      'description string_type',
      'more extra_forbidden',
    ])
  })

  test('reports rule violations together with schema violations of a webhook body', async () => {
    const body = {
      url: 'http://10.0.0.1/',
      event_types: ['trade', 'trades'],
      filters: {
        market_ids: ['venue_a_a0', 'candle'],
        platform: 'venue_c',
        event_slugs: ['\ud800', 'one'],
        categories: [1],
        market_id: 'x',
      },
      secret: 'whsec_short',
      description: 'x'.repeat(257),
    }
    assert.deepEqual(await failures(body), [
      'url value_error',
      'event_types.1 enum',
      'filters.market_ids.1 value_error',
      'filters.platform enum',
      'filters.event_slugs.0 string_unicode',
      'filters.categories.0 string_type',
      'filters.market_id extra_forbidden',
      'secret value_error',
      'description string_too_long',
    ])
    // A list that violates the schema is not checked further. A redacted name does not hide other errors.
    const hidden = {
      url: 'ftp://a.b/',
      event_types: ['trade', 'trade', 5],
      [`whsec_${'a'.repeat(40)}`]: 1,
    }
    assert.deepEqual(await failures(hidden), [
      'url value_error',
      'event_types.2 enum',
      '[redacted] extra_forbidden',
    ])
  })

  test('refuses malicious webhook bodies without returning a secret or creating a webhook', async () => {
    const before = server.engine.webhooks.rows.size
    for (const [body, wanted] of hostile()) {
      const found = await failures(body)
      assert.equal(found.join(), wanted, JSON.stringify(body).slice(0, 200))
    }
    const fields = Array.from({ length: 1_500 }, (_, index) => [`f${index}`, 1])
    const unknown = await failures({ ...GOOD, ...Object.fromEntries(fields) })
    assert.equal(unknown.length, 100, 'a refusal is not many times as long as the body')
    await got(413, 'POST', ALL, {
      raw: JSON.stringify({ ...GOOD, description: 'x'.repeat(16_384) }),
    })
    await got(400, 'POST', ALL, { raw: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]) })
    assert.equal(server.engine.webhooks.rows.size, before)
    const clean: object = {}
    assert.equal(Reflect.get(clean, 'url'), undefined, 'no prototype was touched')
  })

  test('expands short event types without duplicates, and lists the accepted types for an unknown type', async () => {
    const names = [
      ['trade', 'trade_created', 'trade.created'],
      ['whale', 'whale_alert', 'whale.alert'],
      ['price', 'price_change', 'price_changed', 'price.changed'],
      ['resolved', 'market_resolved', 'market.resolved'],
      ['match', 'match_created', 'match.created'],
      ['test', 'webhook_test', 'webhook.test'],
    ]
    for (const forms of names) {
      for (const form of forms) {
        const { event_types: types } = await make({ event_types: [form] })
        assert.deepEqual(types, [forms.at(-1)])
        if (form === forms.at(-1)) continue
        const twice = await failures({ url: URL_OK, event_types: [forms.at(-1), form] })
        assert.deepEqual(twice, ['event_types.1 value_error'])
      }
    }
    const all = await make({ event_types: names.map(([short]) => short) })
    assert.deepEqual(
      all.event_types,
      names.map((forms) => forms.at(-1)),
    )
    const { body } = await ask('POST', ALL, { body: { url: URL_OK, event_types: ['candle'] } })
    assert.match(body, /'trade\.created', .*'webhook\.test'.* or 'webhook_test'/)
  })

  test('normalises ids, addresses and amounts of a webhook, and stores the URL in the form of later requests', async () => {
    const wallet = `0x${'Ab'.repeat(20)}`
    const condition = `0x${'ab'.repeat(32)}`
    const { url, filters } = await make({
      url: 'HTTPS://Example.COM:443/a%20b#part',
      filters: {
        market_ids: [
          `Venue_A_0x${'AB'.repeat(32)}`,
          `venue_a_${condition}`,
          'VENUE_B_KX-NOT-KNOWN',
        ],
        platform: 'venue_b',
        wallets: [wallet, wallet.toLowerCase()],
        taker_wallets: [wallet],
        min_usd: 0,
        min_change: 0.000001,
        min_profit_usd: 2.5,
        min_edge: 0.012345,
        min_age_ms: 3_600_000,
        event_slugs: ['One', 'one'],
        categories: ['Politics', 'Politics'],
      },
    })
    assert.equal(url, 'https://example.com/a%20b')
    assert.deepEqual(filters, {
      market_ids: [`venue_a_${condition}`, 'venue_b_KX-NOT-KNOWN'],
      platform: 'venue_b',
      wallets: [wallet.toLowerCase()],
      taker_wallets: [wallet.toLowerCase()],
      min_usd: 0,
      min_change: 0.000001,
      min_profit_usd: 2.5,
      min_edge: 0.012345,
      min_age_ms: 3_600_000,
      side: null,
      event_slugs: ['One', 'one'],
      categories: ['Politics'],
      taker_side: null,
    })
    const many = Array.from({ length: 100 }, (_, index) => `venue_a_${index}`)
    const { filters: stored } = await make({ filters: { market_ids: many } })
    assert.deepEqual(Reflect.get(Object(stored), 'market_ids'), many)
  })

  test('refuses HTTP and private webhook URLs unless the operator permits such URLs', async () => {
    const body = (url: string) => ({ method: 'POST', body: JSON.stringify({ ...GOOD, url }) })
    const open = await openApiServer({ webhookPolicy: { allowsHttp: true, allowsPrivate: true } })
    const shut: ApiServer = await openApiServer()
    for (const url of ['http://example.com/', 'https://127.0.0.1:9000/', 'http://[::1]:8443/x']) {
      assert.equal((await open.get(ALL, body(url))).status, 201, url)
      const refused = await shut.get(ALL, body(url))
      assert.equal(refused.status, 422, url)
      assert.match(refused.text, /"loc":\["body","url"\],"msg":"Value error, the /)
    }
    await open.stop()
    await shut.stop()
  })
})

describe('webhook bodies in the OpenAPI document', () => {
  test('contains example webhook bodies that the server accepts unchanged', async () => {
    const examples = server.routes.flatMap(({ method, pattern, document }) =>
      Object.entries(document.bodyExamples ?? {}).map(([name, body]) => ({
        ...{ method, pattern, name, body },
        status: document.status ?? 200,
      })),
    )
    assert.ok(examples.length >= 6)
    for (const { method, pattern, name, body, status } of examples) {
      const { id } = await make()
      const shown: unknown = Reflect.get(Object(server.document.paths), pattern)[
        method.toLowerCase()
      ].requestBody.content['application/json'].examples[name].value
      assert.deepEqual(shown, body)
      await got(status, method, pattern, { id, body })
    }
  })
})

describe('delivery list of a webhook', () => {
  const attempt = (at: TimeMs, status: number | null): Delivery['last'] => ({
    atMs: at,
    durationMs: 12.6,
    status,
    error: status === 200 ? null : 'HTTP 500',
  })

  test('lists deliveries newest first across pages, without lost or repeated rows', async () => {
    const { id } = await make()
    const statuses = ['pending', 'delivered', 'exhausted', 'dropped'] as const
    const nowMs = server.engine.clock.nowMs()
    for (let index = 0; index < 23; index += 1) {
      const status = statuses[index % 4] ?? 'pending'
      const isDue = status === 'pending'
      const last = index % 3 === 0 ? null : attempt(nowMs, status === 'delivered' ? 200 : null)
      server.engine.webhooks.deliver(id, { status, ...(isDue ? {} : { dueAtMs: null }), last })
    }
    const path = `${ONE}/deliveries`
    for (const [filter, count] of [
      ['', 23],
      ['&status=pending', 6],
      ['&status=dropped', 5],
    ] as const) {
      for (const limit of [1, 5, 6, 22, 23, 200]) {
        const ids: string[] = []
        let next: unknown = null
        do {
          const at = next === null ? '' : `&cursor=${next}`
          const page: Json = await got(200, 'GET', path, {
            id,
            query: `?limit=${limit}${filter}${at}`,
          })
          const { deliveries } = page
          assert.ok(Array.isArray(deliveries))
          ids.push(...deliveries.map((row: Json) => String(row.id)))
          assert.equal(page.has_more, page.cursor !== null)
          assert.equal(page.has_more, ids.length < count, 'has_more is exact')
          // Deliveries created during paging are newer than every page.
          next = page.cursor
        } while (next !== null)
        const numbers = ids.map((one) => Number(one.slice('dlv_'.length)))
        assert.equal(new Set(numbers).size, count)
        assert.deepEqual(
          numbers,
          [...numbers].sort((one, two) => two - one),
        )
      }
    }
    for (const cursor of ['0', '-1', '1.5', 'dlv_3', '99999999999', '4294967296', 'x']) {
      await got(400, 'GET', path, { id, query: `?cursor=${cursor}` })
    }
    await got(422, 'GET', path, { id, query: '?status=lost' })
    await got(422, 'GET', path, { id, query: '?limit=201' })
  })

  test('returns the attempts of a delivery, and answers a request for a test or a retry with 202 and the delivery', async () => {
    const { id } = await make()
    const atMs = timeMs(server.engine.clock.nowMs() - 5_000)
    const set = {
      status: 'exhausted',
      dueAtMs: null,
      attempts: 8,
      last: attempt(atMs, 503),
    } as const
    server.engine.webhooks.deliver(id, set)
    const created = Math.floor(server.engine.clock.nowMs() / 1000)
    const record = {
      id: 'dlv_1',
      event_id: 'evt_1',
      event_type: 'trade.created',
      status: 'exhausted',
      created_at: created,
      next_attempt_at: null,
      attempts: 8,
      last_attempt: { at: created - 5, duration_ms: 13, status: 503, error: 'HTTP 500' },
    }
    const { deliveries } = await got(200, 'GET', `${ONE}/deliveries`, { id })
    assert.deepEqual(deliveries, [record])
    const retried = await got(202, 'POST', RETRY, { id, delivery: 'dlv_1' })
    assert.deepEqual(
      [retried.id, retried.status, retried.next_attempt_at],
      ['dlv_1', 'pending', created],
    )
    const tested = await got(202, 'POST', `${ONE}/test`, { id })
    assert.deepEqual([tested.id, tested.event_type, tested.attempts], ['dlv_2', 'webhook.test', 0])
    const { counts } = await got(200, 'GET', ONE, { id })
    assert.deepEqual(counts, { created: 2, delivered: 0, exhausted: 0, dropped: 0, pending: 2 })
    for (const delivery of [
      'dlv_3',
      'dlv_0',
      'dlv_01',
      '1',
      'dlv_4294967297',
      'dlv_1e0',
      'dlv_-1',
    ]) {
      await got(404, 'POST', RETRY, { id, delivery })
    }
    // A body on a route that takes none must not break the connection.
    await got(202, 'POST', `${ONE}/test`, { id, body: { event: 'x'.repeat(9_000) } })
    await got(200, 'GET', ONE, { id })
  })
})

describe('single delivery of a webhook', () => {
  const answer = {
    headers: [['content-type', 'text/html'] as const],
    body: Buffer.from('<h1>busy</h1>'),
    isCut: false,
  }

  test('returns the posted request without its signature, and the start of the last response', async () => {
    const { id } = await make()
    const atMs = timeMs(server.engine.clock.nowMs() + 250)
    const last = { atMs, durationMs: 7, status: 503, error: 'answered 503', answer }
    server.engine.webhooks.deliver(id, { attempts: 1, last })
    const one = await got(200, 'GET', DELIVERY, { id, delivery: 'dlv_1' })
    const { deliveries }: Json = await got(200, 'GET', `${ONE}/deliveries`, { id })
    assert.ok(Array.isArray(deliveries))
    assert.deepEqual(one, {
      ...deliveries[0],
      created_at_ms: server.engine.clock.nowMs(),
      attempted_at_ms: atMs,
      request: {
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Twinbook-Webhooks/1',
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(Math.floor(atMs / 1_000)),
        },
        body: BODY,
      },
      response: {
        headers: { 'content-type': 'text/html' },
        body: '<h1>busy</h1>',
        is_cut: false,
      },
    })
  })

  test('returns a receiver’s response to a token or a key with the webhooks scope, and not to a read-only key', async () => {
    const { id } = await make()
    server.engine.webhooks.deliver(id)
    for (const [status, header, value] of [
      [403, 'X-API-Key', `${ACCOUNT}-reader`],
      [200, 'X-API-Key', `${ACCOUNT}-key`],
      [200, 'Authorization', `Bearer ${ACCOUNT}-token`],
    ] as const) {
      await got(status, 'GET', DELIVERY, { id, delivery: 'dlv_1', headers: [[header, value]] })
    }
  })

  test('returns null as the response of a delivery that has no attempts, or after storage removed the response', async () => {
    const { id } = await make()
    server.engine.webhooks.deliver(id)
    const last = { atMs: server.engine.clock.nowMs(), durationMs: 7, status: 200, error: null }
    server.engine.webhooks.deliver(id, { attempts: 1, last })
    for (const delivery of ['dlv_1', 'dlv_2']) {
      const { response, request } = await got(200, 'GET', DELIVERY, { id, delivery })
      assert.equal(response, null)
      assert.equal(Reflect.get(Object(request), 'body'), BODY)
    }
    for (const delivery of ['dlv_3', 'dlv_0', '1']) {
      await got(404, 'GET', DELIVERY, { id, delivery })
    }
  })
})

/** Invalid bodies with their expected errors. An object in hostile-webhooks.json is a change to a valid body. */
function hostile(): readonly (readonly [body: unknown, failures: string])[] {
  const written: readonly (readonly [body: string | Json, failures: string])[] = JSON.parse(
    readFileSync(new URL('hostile-webhooks.json', import.meta.url), 'utf8'),
  )
  const many = (count: number, item: string) => Array.from({ length: count }, () => item)
  return [
    ...written.map(([body, wanted]) => {
      return [typeof body === 'string' ? body : { ...GOOD, ...body }, wanted] as const
    }),
    ['['.repeat(8_000), '8000 json_invalid'],
    ['{"a":'.repeat(3_000), '15000 json_invalid'],
    [{ url: URL_OK }, 'event_types missing'],
    [{ ...GOOD, ['x'.repeat(9_000)]: 'hunter2'.repeat(500) }, `${'x'.repeat(256)} extra_forbidden`],
    [{ ...GOOD, url: `https://example.com/${'a'.repeat(2_048)}` }, 'url value_error'],
    [{ ...GOOD, event_types: many(1_500, 'trade') }, 'event_types too_long'],
    [{ ...GOOD, event_types: many(EVENT_TYPES.length + 1, 'trade') }, 'event_types too_long'],
    [{ ...GOOD, filters: { market_ids: many(101, 'venue_a_1') } }, 'filters.market_ids too_long'],
  ]
}

describe('chat formats', () => {
  const url = 'https://api.telegram.org/bot12:secret/sendMessage?chat_id=-100'

  test('never shows the URL of a chat webhook again, and shows its format', async () => {
    const { id, ...made } = await make({ url, format: 'telegram' })
    const read = await got(200, 'GET', ONE, { id })
    const list = await got(200, 'GET', ALL)
    const changed = await got(200, 'PATCH', ONE, { id, body: { description: 'a chat' } })
    assert.ok(!JSON.stringify([made, read, list, changed]).includes('12:secret'))
    assert.equal(read.url, 'https://api.telegram.org/…')
    assert.equal(read.format, 'telegram')
    const problem = await ask('POST', ALL, { body: { ...GOOD, url: url.replace('https', 'ftp') } })
    assert.equal(problem.status, 422)
    assert.ok(!problem.body.includes('12:secret'))
    await got(204, 'DELETE', ONE, { id })
  })

  test('refuses a change to the masked URL', async () => {
    const { id, url: masked } = await make({ url, format: 'telegram' })
    const { body, status } = await ask('PATCH', ONE, { id, body: { url: masked } })
    assert.equal(status, 422)
    assert.match(body, /give the whole URL, or leave `url` out of a change/)
    const missing = await ask('POST', ALL, { body: { url, format: 'telegram' } })
    assert.equal(missing.status, 422)
    assert.ok(!missing.body.includes('12:secret'))
    await got(204, 'DELETE', ONE, { id })
  })

  test('returns the message of each event type and chat format as a preview', async () => {
    for (const format of ['slack', 'discord', 'telegram']) {
      for (const type of EVENT_TYPES) {
        const query = `?format=${format}&event_type=${type}`
        const preview = await got(200, 'GET', PREVIEW, { query })
        assert.equal(preview.event_type, type)
        assert.equal(typeof preview.body, 'object')
      }
    }
    const { detail } = await got(400, 'GET', PREVIEW, { query: '?format=slack&event_type=x' })
    assert.match(String(detail), /event_type is one of trade\.created, /)
  })
})
