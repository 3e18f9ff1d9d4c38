import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { systemClock } from '../../../engine/clock.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { venueTable } from '../../../engine/venues/venues.ts'
import { api } from '../../../http/api.ts'
import { operationId } from '../../../http/documents/names.ts'
import { isListed, openapi, openapiText } from '../../../http/documents/openapi.ts'
import { documentedAnswers } from '../../../http/documents/responses.ts'
import {
  Components,
  isObject,
  type Json,
  type JsonObject,
} from '../../../http/documents/schemas-of.ts'
import { MarketSchema } from '../../../http/records/markets.ts'
import { nullable } from '../../../http/schemas.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import {
  type DocumentedServer,
  openDocumentedServer,
} from '../../support/rigs/documented-server.ts'
import { NAMES } from '../../support/worlds/builders.ts'

const FACTS = { version: '0.0.0-test', names: NAMES }
let server: DocumentedServer
before(async () => {
  server = await openDocumentedServer()
})
after(() => server.stop())

function at(document: Json, ...names: readonly string[]): Json {
  return names.reduce<Json>((value, name) => {
    const isObject = typeof value === 'object' && value !== null
    const found: Json | undefined = isObject ? Reflect.get(value, name) : undefined
    assert.ok(found !== undefined, `${names.join(' / ')}: no ${name}`)
    return found
  }, document)
}

describe('OpenAPI document', () => {
  test('serves the generated OpenAPI document, which describes every route', async () => {
    const response = await fetch(`${server.origin}/openapi.json`)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('x-ratelimit-limit') ?? '', /^\d+$/)
    assert.deepEqual(await response.json(), server.document)
    for (const { method, pattern } of server.routes) {
      at(server.document, 'paths', pattern, method.toLowerCase(), 'operationId')
    }
    assert.equal(openapiText(server.routes, FACTS), openapiText(server.routes, FACTS))
  })

  test('describes unions of literals as enums, null as a separate type, and each shared schema once', () => {
    const components = new Components()
    const convert = (schema: Parameters<typeof nullable>[0]) => components.schema(schema)
    const side = Type.Union([Type.Literal('buy'), Type.Literal('sell')], { default: 'buy' })
    assert.deepEqual(convert(side), { type: 'string', enum: ['buy', 'sell'], default: 'buy' })
    assert.deepEqual(convert(nullable(Type.Number({ minimum: 0 }))), {
      type: ['number', 'null'],
      minimum: 0,
    })
    // Generators of Zod schemas emit invalid code for an enum that contains null.
    assert.deepEqual(convert(nullable(side)), {
      anyOf: [{ type: 'string', enum: ['buy', 'sell'] }, { type: 'null' }],
      default: 'buy',
    })
    const market = { $ref: '#/components/schemas/Market' }
    assert.deepEqual(convert(Type.Array(MarketSchema)), { type: 'array', items: market })
    assert.deepEqual(convert(nullable(MarketSchema)), { anyOf: [market, { type: 'null' }] })
    assert.deepEqual(convert(Type.Record(Type.String(), Type.Boolean())), {
      type: 'object',
      additionalProperties: { type: 'boolean' },
    })
    const fees = ['FeeCurve', 'FeeModel', 'FeeRounding', 'Fees']
    const shapes = [...fees, 'Market', 'Outcome', 'PlatformListing']
    assert.deepEqual(Object.keys(components.all), shapes)
    assert.doesNotMatch(JSON.stringify(server.document), /"aliases"|"hasAliases"|"\$id"/)
  })

  test('gives each operation a unique id that does not depend on the venue names', () => {
    const named = venueTable({ a: 'polymarket', b: 'kalshi' })
    const ids = server.routes.map((route) => operationId(route, NAMES))
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^[a-z][A-Za-z]+$/)
    for (const wanted of ['getMarkets', 'getMarket', 'getMarketPrice', 'createKey', 'deleteKey']) {
      assert.ok(ids.includes(wanted), `${wanted} is not among ${ids.join()}`)
    }
    const webhookPolicy = { allowsHttp: false, allowsPrivate: false }
    const parts = {
      clock: systemClock,
      metrics: new Metrics(),
      isMetricsPublic: false,
      webhookPolicy,
    }
    const renamed = api({ ...parts, engine: new FakeEngine(systemClock, named) })
    assert.deepEqual(
      renamed.filter(isListed).map((route) => operationId(route, named)),
      ids,
    )
    const document = openapi(renamed, { version: '1', names: named })
    assert.doesNotMatch(JSON.stringify(document), /venue_[ab]/)
    at(document, 'paths', '/v1/polymarket/markets/{condition_id}', 'get')
    at(document, 'paths', '/v1/kalshi/trades', 'get')
  })

  test('describes aliases, bounds and default of every parameter', () => {
    for (const { method, pattern, querySchema } of server.routes) {
      const names = Object.keys(querySchema.properties)
      if (names.length === 0) continue
      const listed = at(server.document, 'paths', pattern, method.toLowerCase(), 'parameters')
      assert.ok(Array.isArray(listed))
      const written = listed.filter((parameter: JsonObject) => parameter.in === 'query')
      assert.deepEqual(
        written.map((parameter: JsonObject) => parameter.name),
        names,
      )
      for (const parameter of written) {
        const { name, description } = parameter
        const schema = querySchema.properties[String(name)]
        assert.ok(typeof description === 'string' && description.length > 8, `${pattern} ${name}`)
        for (const alias of schema?.aliases ?? []) assert.ok(description.includes(`\`${alias}\``))
        for (const keyword of ['minimum', 'maximum', 'maxLength', 'default', 'maxItems']) {
          if (schema?.[keyword] === undefined) continue
          assert.deepEqual(at(parameter, 'schema', keyword), schema[keyword], `${pattern} ${name}`)
        }
      }
    }
  })

  test('describes all responses of each route with bodies and headers', () => {
    for (const route of server.routes) {
      const { method, pattern, access, isCounted, hasBody, document } = route
      const statuses = documentedAnswers(route).map(({ status }) => status)
      assert.equal(
        statuses.includes(401),
        access !== 'public' || pattern.endsWith('login'),
        pattern,
      )
      const isLimited = isCounted || document.refusals?.[429] !== undefined
      assert.equal(statuses.includes(429), isLimited, pattern)
      assert.equal(statuses.includes(413), hasBody, pattern)
      for (const status of statuses.filter((one) => one !== 101)) {
        const response = ['paths', pattern, method.toLowerCase(), 'responses', String(status)]
        at(server.document, ...response, 'headers', 'X-RateLimit-Remaining')
        if (status === 429) at(server.document, ...response, 'headers', 'Retry-After')
        if (status === 405) at(server.document, ...response, 'headers', 'Allow')
        if (status >= 400) {
          const name = status === 422 ? 'Problems' : 'Detail'
          const schema = at(server.document, ...response, 'content', 'application/json', 'schema')
          assert.deepEqual(schema, { $ref: `#/components/schemas/${name}` })
        }
      }
    }
  })

  test('lists the credentials that each route accepts', () => {
    const security = (pattern: string, method = 'get') =>
      at(server.document, 'paths', pattern, method, 'security')
    assert.deepEqual(security('/health'), [])
    assert.deepEqual(security('/v1/markets'), [{ ApiKey: [] }, { Bearer: [] }])
    assert.deepEqual(security('/v1/keys', 'post'), [{ Bearer: [] }])
  })

  test('throws during generation if two routes have the same operation id', () => {
    const [route] = server.routes
    assert.ok(route !== undefined)
    assert.throws(() => openapi([route, route], FACTS), /two operations/)
  })
})

describe('examples in the OpenAPI document', () => {
  test('contains an example that matches the schema for every parameter, body and response', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'document', ...server.document })
    const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
    const problems: string[] = []
    const check = (where: string, schema: Json, examples: readonly Json[]) => {
      if (examples.length === 0) problems.push(`${where}: no example`)
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/')
      const isValid = compiled.get(text) ?? ajv.compile(JSON.parse(text))
      compiled.set(text, isValid)
      for (const example of examples) {
        for (const [id] of JSON.stringify(example).matchAll(/venue_a_0x[^"/]*/g))
          assert.match(id, /^venue_a_0x[0-9a-f]{64}$/, where)
        if (isValid(example)) continue
        const [error] = isValid.errors ?? []
        problems.push(
          `${where}${error?.instancePath ?? ''}: ${error?.message} ${JSON.stringify(error?.params)}`,
        )
      }
    }
    const examplesOf = (position: JsonObject) => {
      const named = Object.values(isObject(position.examples) ? position.examples : {}).map(
        (entry) => {
          const reference = isObject(entry) ? entry.$ref : undefined
          if (typeof reference !== 'string') return at(entry, 'value')
          return at(server.document, ...reference.slice(2).split('/'), 'value')
        },
      )
      return position.example === undefined ? named : [position.example, ...named]
    }
    for (const { method, pattern } of server.routes) {
      const operation = at(server.document, 'paths', pattern, method.toLowerCase())
      assert.ok(isObject(operation))
      const { parameters = [], requestBody, responses } = operation
      assert.ok(Array.isArray(parameters) && isObject(responses))
      for (const parameter of parameters.filter(isObject)) {
        const where = `${method} ${pattern} ${String(parameter.name)}`
        check(where, at(parameter, 'schema'), examplesOf(parameter))
      }
      const bodies = [['body', requestBody] as const, ...Object.entries(responses)]
      for (const [name, body] of bodies) {
        const content = isObject(body) && isObject(body.content) ? body.content : {}
        for (const [type, media] of Object.entries(content)) {
          assert.ok(isObject(media))
          check(`${method} ${pattern} ${name} ${type}`, at(media, 'schema'), examplesOf(media))
        }
      }
    }
    assert.deepEqual(problems, [])
  })
})
