// Sends valid and invalid requests of one route, generated from its schemas, and validates each response against the
// OpenAPI document.

import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { EngineError } from '../../../engine/errors.ts'
import { bodyBytesMax } from '../../../engine/limits.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { fileRefusals } from '../../../http/request/reply.ts'
import type { RawAnswer } from '../clients/raw-http.ts'
import { queryText, type RouteClient } from '../clients/route-client.ts'
import { type RequestSpec, seedOf, withRefusal } from '../worlds/route-seeds.ts'
import type { DocumentedServer } from './documented-server.ts'

type Pair = readonly [name: string, value: string]

const COMBINATIONS = 40
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Adds problems to `client.problems`. */
export async function conform(client: RouteClient, server: DocumentedServer): Promise<void> {
  await succeed(client)
  await credentials(client)
  await files(client, server)
  await methods(client, server)
  await encodings(client)
  await pathParameters(client)
  for (const parameter of client.parameters) await bounds(client, parameter)
  for (const { name, schema } of client.parameters) await aliases(client, name, schema.aliases)
  await together(client)
  if (client.route.hasBody) await bodies(client)
  await states(client, server)
}

/** Also requests the next page, and adds an unknown parameter. */
async function succeed(client: RouteClient): Promise<void> {
  const { document, hasBody } = client.route
  const success = document.status ?? 200
  if (success === 101) return
  const answer = await client.expect(success, {}, 'a good request')
  if (document.isNamed === true) {
    const headers = [['if-none-match', answer.headers.get('etag') ?? 'absent']] as const
    await client.expect(304, { headers }, 'an answer that the client has')
  }
  if (!hasBody) {
    const query = [...client.required, ['nobody-knows', 'it'], ['é,', '']] as const
    const { headers } = await client.ask({ query })
    if (headers.get('x-unknown-parameters') !== 'nobody-knows, %C3%A9%2C')
      client.note('an unknown parameter is not named')
  }
  const cursor = cursorOf(answer)
  if (cursor !== null) {
    const query = [...client.required, ['cursor', cursor]] as const
    await client.expect(success, { query }, 'the following page')
  }
}

function cursorOf({ headers, body }: RawAnswer): string | null {
  if (headers.get('content-type')?.startsWith('application/json') !== true) return null
  const value: unknown = JSON.parse(body)
  const cursor: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'cursor') : null
  return typeof cursor === 'string' ? cursor : null
}

async function credentials(client: RouteClient): Promise<void> {
  const { access, budget, isCounted, scope, document } = client.route
  const success = document.status ?? 200
  const wanted = (isGood: boolean) => (isGood ? (success === 101 ? 426 : success) : 401)
  const isOpen = access === 'public' || access === 'upgrade'
  await client.expect(wanted(isOpen), { credential: 'none' }, 'nobody')
  await client.expect(wanted(isOpen), { credential: 'wrong' }, 'a wrong credential')
  await client.expect(wanted(access !== 'token'), { credential: 'key' }, 'a key')
  await client.expect(wanted(true), { credential: 'token' }, 'a token')
  // Sign-up and log-in have separate attempt limits, regardless of the credential.
  const hasQuota = isCounted && budget !== 'signIn'
  await client.expect(hasQuota ? 429 : success, { credential: 'poor' }, 'a used-up quota')
  if (access !== 'caller') return
  const asReader = scope === 'read' ? wanted(true) : 403
  await client.expect(asReader, { credential: 'reader' }, 'a key that only reads')
}

async function files(client: RouteClient, { engine }: DocumentedServer): Promise<void> {
  if (client.route.document.refusals?.[429] !== fileRefusals[429]) return
  const { accounts } = engine
  accounts.fileLimit = 0
  await client.expect(429, {}, 'as many bytes of files as an address may have')
  accounts.fileLimit = Number.MAX_SAFE_INTEGER
}

async function methods(client: RouteClient, server: DocumentedServer): Promise<void> {
  const { pattern, method: own, document } = client.route
  const supported = server.routes
    .filter((route) => route.pattern === pattern)
    .map(({ method }) => method)
  for (const method of METHODS) {
    if (!supported.some((one) => one === method))
      await client.expect(405, { method }, 'a wrong method')
  }
  const { status, headers } = await client.ask({ method: 'OPTIONS' })
  if (status !== 204 || !headers.get('allow')?.includes(own)) client.note(`OPTIONS: ${status}`)
  const success = document.status ?? 200
  if (own === 'GET' && success === 200) await client.expect(200, { method: 'HEAD' }, 'HEAD')
}

async function encodings(client: RouteClient): Promise<void> {
  for (const rawQuery of ['x=%zz', '%=1', 'x=%c3%28', 'a=%u0041']) {
    await client.expect(400, { rawQuery }, 'malformed percent-encoding')
  }
}

async function pathParameters(client: RouteClient): Promise<void> {
  const { route } = client
  for (const [name, schema] of Object.entries(route.pathSchema.properties)) {
    const isFree = schema.type === 'string' && schema.pattern === undefined
    if (isFree && client.documented.includes(404)) {
      for (const value of [
        'no-such-thing',
        '../../etc/passwd',
        'ü😀\u0000',
        '__proto__',
        '%zz',
        ' ',
      ]) {
        await client.expect(404, { path: { [name]: value } }, 'an unknown path value')
      }
    }
    if (isFree) continue
    const options: readonly { const: string }[] = schema.anyOf ?? []
    for (const { const: value } of options) {
      const { status } = await client.ask({ path: { [name]: value } })
      if (status === 422) client.note(`{${name}} refuses ${value}`)
    }
    await client.expect(422, { path: { [name]: 'none-of-them' } }, 'a wrong path value')
  }
}

async function bounds(
  client: RouteClient,
  { name, values }: RouteClient['parameters'][number],
): Promise<void> {
  const others = client.required.filter(([other]) => other !== name)
  for (const value of values.valid) {
    const { status, body } = await client.ask({ query: [...others, [name, value]] })
    if (status === 422)
      client.note(`${name} refuses ${JSON.stringify(value.slice(0, 90))}: ${body}`)
  }
  for (const value of values.invalid) {
    const query = [...others, [name, value]] as const
    const answer = await client.expect(422, { query }, `${name} out of bounds`)
    if (answer.status === 422) checkPlaces(client, answer, [name])
  }
}

function checkPlaces(client: RouteClient, { body }: RawAnswer, names: readonly string[]): void {
  const problems: { detail: { loc: unknown[] }[] } = JSON.parse(body)
  const got = problems.detail.map(({ loc }) => loc.join('.'))
  const wanted = names.map((name) => `query.${name}`)
  if (got.join() !== wanted.join()) client.note(`failures at ${got.join()}, not ${wanted.join()}`)
}

async function aliases(client: RouteClient, name: string, given: unknown): Promise<void> {
  const names = Array.isArray(given) ? given.map(String) : []
  const parameter = client.parameters.find((one) => one.name === name)
  const [value, ...rest] = parameter?.values.valid ?? []
  if (value === undefined || parameter === undefined) return
  const others = client.required.filter(([other]) => other !== name)
  const ask = (...pairs: readonly Pair[]) => client.ask({ query: [...others, ...pairs] })
  const canonical = names.length === 0 ? null : await ask([name, value])
  for (const alias of names) {
    const answer = await ask([alias, value])
    if (canonical !== null && comparable(answer) !== comparable(canonical)) {
      client.note(`${alias} is not ${name}: ${comparable(answer).slice(0, 200)}`)
    }
    const both = await ask([name, value], [alias, value])
    if (both.status !== answer.status) client.note(`${name} with ${alias}: ${both.status}`)
    const different = rest.find(
      (other) => other.trim() !== value && Number(other) !== Number(value),
    )
    if (different === undefined) continue
    const query = [...others, [name, value], [alias, different]] as const
    await client.expect(400, { query }, `${alias} contradicts ${name}`)
    const wrong = parameter.values.invalid[0]
    if (wrong === undefined) continue
    const invalid = await client.expect(422, { query: [...others, [alias, wrong]] }, alias)
    if (invalid.status === 422) checkPlaces(client, invalid, [alias])
  }
}

/** Cursors are removed, because each list pins a new ranking. */
function comparable({ status, body }: RawAnswer): string {
  return `${status} ${body.replace(/"cursor":"[^"]*"/, '"cursor":"…"')}`
}

async function together(client: RouteClient): Promise<void> {
  const { parameters } = client
  if (parameters.length === 0) return
  const failing = parameters.filter(({ values }) => values.invalid.length > 0)
  const query = failing.map(({ name, values }) => [name, values.invalid[0] ?? ''] as const)
  const withRequired = [
    ...client.required.filter(([name]) => !query.some(([bad]) => bad === name)),
    ...query,
  ]
  if (failing.length > 0) {
    const all = await client.expect(422, { query: withRequired }, 'all wrong at once')
    checkPlaces(
      client,
      all,
      failing.map(({ name }) => name),
    )
  }
  const random = seededRandom('combinations', client.route.pattern)
  for (let count = 0; count < COMBINATIONS; count += 1) {
    const query = combination(client, random)
    const { status, body } = await client.ask({ query })
    if (status === 422) client.note(`${queryText(query).slice(0, 300)} is refused: ${body}`)
  }
}

/** A random combination of parameters with valid values. Most are sample values, so that ranges and lookups find rows. */
function combination(client: RouteClient, random: Random): readonly Pair[] {
  return client.parameters.flatMap(({ name, schema, values }) => {
    const isRequired = client.required.some(([required]) => required === name)
    // An invalid cursor causes a refusal before other parameters are checked, so it is rarely included.
    if (!isRequired && random.next() > (name === 'cursor' ? 0.05 : 0.45)) return []
    const names: readonly string[] = [name, ...(schema.aliases ?? [])]
    const value = random.next() < 0.7 ? values.valid[0] : random.pick(values.valid)
    return [[random.pick(names), value ?? ''] as const]
  })
}

async function bodies(client: RouteClient): Promise<void> {
  const good = seedOf(client.route).body?.() ?? {}
  const fields = Object.entries<TSchema>(client.route.bodySchema?.properties ?? {})
  const send = (status: number, body: Buffer | string, why: string) =>
    client.expect(status, { body }, why)
  const changed = (name: string, value: unknown) => JSON.stringify({ ...good, [name]: value })
  const { isBodyOptional, bodySchema } = client.route
  const isEmptyGood = bodySchema !== null && Value.Check(bodySchema, {})
  const success = client.route.document.status ?? 200
  await send(isBodyOptional ? success : 422, '', 'no body')
  for (const body of ['{', '[]', 'null', '5', '"x"', '{"a":', `${'['.repeat(4000)}`, '{}}']) {
    await send(422, body, 'a body that is no object')
  }
  await send(isEmptyGood ? success : 422, '{}', 'a body without fields')
  await send(400, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'a body that is not UTF-8')
  await send(413, ' '.repeat(bodyBytesMax + 1), 'a body too large')
  for (const [name, schema] of fields) {
    for (const value of [null, 5, [], {}, true, 'x']) {
      if (Value.Check(schema, value)) continue
      await send(422, changed(name, value), `${name} of a wrong type`)
    }
    const { minLength, maxLength } = schema
    if (typeof minLength === 'number' && minLength > 0) {
      await send(422, changed(name, 'a'.repeat(minLength - 1)), `${name} too short`)
      await send(success, changed(name, 'a'.repeat(minLength)), name)
    }
    if (typeof maxLength === 'number') {
      await send(422, changed(name, 'a'.repeat(maxLength + 1)), `${name} too long`)
      await send(success, changed(name, '😀'.repeat(maxLength)), name)
    }
  }
}

/** Tests the statuses that need a state, as listed in route-seeds.ts. */
async function states(client: RouteClient, server: DocumentedServer): Promise<void> {
  const { reach = {}, reachFrom = {}, unavailable, fails } = seedOf(client.route)
  for (const [status, ask] of Object.entries(reach))
    await client.expect(Number(status), ask, 'a seed')
  for (const [status, address] of Object.entries(reachFrom)) {
    if ((await statusFrom(client, address)) === Number(status)) client.reached.add(Number(status))
  }
  if (fails !== undefined) {
    const restore = withRefusal(fails.owner(server.engine), fails.method, fails.code)
    const { status } = new EngineError(fails.code, 'only its status is used')
    await client.expect(status, {}, 'a method that fails')
    restore()
  }
  if (unavailable === undefined || !client.documented.includes(503)) return
  const restore = withRefusal(unavailable.owner(server.engine), unavailable.method)
  const ask: RequestSpec = unavailable.ask ?? {}
  await client.expect(503, ask, 'an owner that is unavailable')
  restore()
}

/** Calls the handler directly, because a test cannot send a request from another address. */
async function statusFrom({ route }: RouteClient, address: string): Promise<number> {
  try {
    const facts = {
      caller: null,
      signal: () => new AbortController().signal,
      address,
      isLocal: false,
      requester: () => ['test'],
      dashboard: null,
      header: () => '',
      path: () => '',
    }
    return (await route.respond(facts, new Map(), new Uint8Array(0))).status
  } catch (error) {
    return error instanceof EngineError ? error.status : 500
  }
}
