// Sends the inputs recorded from pydantic 2 (../shared/reference/pydantic-oracle.json) to every parameter of the same
// kind on all routes. validate.test.ts tests the parsers with the same inputs.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { SECONDS_MAX } from '../../http/schemas.ts'
import { compileQuery, parseQuery } from '../../http/validation/query.ts'
import { queryText, RouteClient } from '../support/clients/route-client.ts'
import { type DocumentedServer, openDocumentedServer } from '../support/rigs/documented-server.ts'

const ORACLE = join(process.env.SHARED_REFERENCE ?? '../shared/reference', 'pydantic-oracle.json')

interface Case {
  readonly case: string
  readonly input: unknown
  readonly ok: boolean
  readonly errors?: readonly Readonly<Record<string, unknown>>[]
}

const isInteger = (schema: TSchema, minimum: unknown, maximum: unknown) =>
  schema.type === 'integer' && schema.minimum === minimum && schema.maximum === maximum
const isChoice = (schema: TSchema, ...names: readonly string[]) =>
  Array.isArray(schema.anyOf) &&
  schema.anyOf.map((option: TSchema) => option.const).join() === names.join()

/** Whether a schema is of the kind. */
const KINDS: Readonly<Record<string, (schema: TSchema) => boolean>> = {
  limit_1_200: (schema) => isInteger(schema, 1, 200),
  limit_1_100: (schema) => isInteger(schema, 1, 100),
  limit_1_500: (schema) => isInteger(schema, 1, 500),
  min_score: ({ type, minimum, maximum }) => type === 'number' && minimum === 0 && maximum === 100,
  min_volume_finite: ({ type, minimum, maximum }) =>
    type === 'number' && minimum === 0 && maximum === undefined,
  unix_seconds: (schema) => isInteger(schema, 0, SECONDS_MAX),
  platform: (schema) => isChoice(schema, 'venue_a', 'venue_b'),
  status: (schema) => isChoice(schema, 'open', 'closed', 'resolved'),
  venue_b_status: (schema) => isChoice(schema, 'unopened', 'open', 'closed', 'settled'),
  sport: (schema) => isChoice(schema, 'nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'pga', 'tennis'),
  search: ({ type, minLength }) => type === 'string' && minLength === 2,
  date: ({ pattern }) => pattern === '^\\d{4}-\\d{2}-\\d{2}$',
  token_ids: ({ type, maxItems }) => type === 'array' && maxItems === 100,
}

/** Only validate.test.ts tests inputs of these kinds. */
const UNUSED_KINDS: Readonly<Record<string, TSchema>> = {
  min_score: Type.Number({ minimum: 0, maximum: 100 }),
}

const BODIES: Readonly<Record<string, string>> = {
  body_signup: 'POST /v1/auth/signup',
  body_key: 'POST /v1/keys',
}

let server: DocumentedServer
before(async () => {
  server = await openDocumentedServer()
})
after(() => server.stop())

/** The server limits seconds, unlike the recorded model. */
function expected({ case: name, input, ok, errors = [] }: Case) {
  if (!ok) return errors
  if (name !== 'unix_seconds') return []
  if (Number(input) < 0) {
    const msg = 'Input should be greater than or equal to 0'
    return [{ type: 'greater_than_equal', loc: 'x', msg, input, ctx: { ge: 0 } }]
  }
  if (!(Number(input) > SECONDS_MAX)) return []
  const msg = `Input should be less than or equal to ${SECONDS_MAX}`
  return [{ type: 'less_than_equal', loc: 'x', msg, input, ctx: { le: SECONDS_MAX } }]
}

function pairs(name: string, input: unknown): readonly (readonly [string, string])[] {
  return [input].flat().map((value) => [name, String(value)] as const)
}

/** Compares the reported problems with the expected problems. */
async function askParameter(
  client: RouteClient,
  source: 'query' | 'path',
  name: string,
  one: Case,
): Promise<void> {
  const others = client.required.filter(([other]) => other !== name)
  const ask =
    source === 'path'
      ? { path: { [name]: String(one.input) } }
      : { query: [...others, ...pairs(name, one.input)] }
  const { status, body } = await client.ask(ask)
  const label = `${client.route.pattern} ${name}=${JSON.stringify(one.input).slice(0, 60)}`
  const isRequired = client.required.some(([required]) => required === name)
  // An empty value in a query counts as absent.
  if (source === 'query' && one.input === '') {
    const missing = { type: 'missing', loc: [source, name], msg: 'Field required' }
    const found: unknown = status === 422 ? JSON.parse(body).detail[0] : null
    if (isRequired)
      assert.deepEqual({ ...Object(found), input: 0 }, { ...missing, input: 0 }, label)
    else assert.notEqual(status, 422, `${label}: ${body}`)
    return
  }
  const wanted = expected(one).map((error) => ({ ...error, loc: [source, name] }))
  if (wanted.length === 0) assert.notEqual(status, 422, `${label}: ${body}`)
  else assert.deepEqual(JSON.parse(body), { detail: wanted }, label)
}

function parametersOf(clients: readonly RouteClient[], isOfKind: (schema: TSchema) => boolean) {
  return clients.flatMap((client) => {
    const groups = [
      ['query', client.route.querySchema.properties],
      ['path', client.route.pathSchema.properties],
    ] as const
    return groups.flatMap(([source, properties]) =>
      Object.entries(properties)
        .filter(([, schema]) => isOfKind(schema))
        .map(([name]) => ({ client, source, name })),
    )
  })
}

describe('comparison of validation messages with pydantic', () => {
  test('answers each test input for every parameter and body with the messages of pydantic', async (t) => {
    if (!existsSync(ORACLE)) return t.skip(`${ORACLE} is absent; set SHARED_REFERENCE`)
    const { cases }: { cases: readonly Case[] } = JSON.parse(readFileSync(ORACLE, 'utf8'))
    const { clients, close } = RouteClient.all(server)
    let answered = 0
    for (const kind of new Set(cases.map(({ case: name }) => name))) {
      const inputs = cases.filter(({ case: name }) => name === kind)
      const isOfKind = KINDS[kind]
      const found = isOfKind === undefined ? [] : parametersOf(clients, isOfKind)
      for (const one of inputs) {
        if (isOfKind === undefined) await askBody(clients, one)
        else if (found.length === 0) askParser(kind, one)
        else
          for (const { client, source, name } of found) {
            // An empty path segment does not match the route.
            if (source === 'query' || one.input !== '')
              await askParameter(client, source, name, one)
          }
        answered += 1
      }
      const where =
        found.length === 0 ? (BODIES[kind] ?? 'the parsers alone') : `${found.length} parameters`
      t.diagnostic(`${kind}: ${inputs.length} of ${inputs.length} inputs, on ${where}`)
    }
    close()
    t.diagnostic(`${answered} of ${cases.length} for each parameter kind`)
    assert.equal(answered, cases.length)
    assert.deepEqual(
      clients.flatMap(({ problems }) => problems),
      [],
    )
  })
})

function askParser(kind: string, one: Case): void {
  const schema = UNUSED_KINDS[kind]
  assert.ok(schema !== undefined, `no route has a parameter of kind ${kind}`)
  const raw = parseQuery(queryText(pairs('x', one.input)))
  assert.ok(raw !== null)
  const parsed = compileQuery(Type.Object({ x: schema }))(raw)
  const wanted = expected(one).map((error) => ({ ...error, loc: ['query', 'x'] }))
  assert.deepEqual(parsed.kind === 'invalid' ? parsed.problems : [], wanted)
}

async function askBody(clients: readonly RouteClient[], one: Case): Promise<void> {
  const name = BODIES[one.case]
  const client = clients.find(({ route }) => `${route.method} ${route.pattern}` === name)
  assert.ok(client !== undefined, `no route for the bodies of ${one.case}`)
  const { body } = await client.ask({ body: JSON.stringify(one.input) })
  // The recording repeats the password, but the server redacts it.
  const text = JSON.stringify(one.errors).replaceAll('"secret"', '"[redacted]"')
  const errors: readonly Readonly<Record<string, unknown>>[] = JSON.parse(text)
  const wanted = errors.map((error) => ({ ...error, loc: ['body', ...[error.loc].flat()] }))
  assert.deepEqual(JSON.parse(body), { detail: wanted }, JSON.stringify(one.input))
}
