// Sends the requests of one route and validates every response against the API document.

import type { TSchema } from '@sinclair/typebox'
import { KindGuard } from '@sinclair/typebox'
import type { Route } from '../../../http/request/route.ts'
import { OpenapiValidator } from '../reference/openapi-validator.ts'
import {
  ACCOUNT,
  type DocumentedServer,
  FREE_ACCOUNT,
  POOR_ACCOUNT,
} from '../rigs/documented-server.ts'
import { type ParameterValues, valuesOf } from '../worlds/parameter-values.ts'
import { type Credential, type RequestSpec, SAMPLES, seedOf } from '../worlds/route-seeds.ts'
import { type RawAnswer, RawConnection } from './raw-http.ts'

type Pair = readonly [name: string, value: string]

export class RouteClient {
  readonly route: Route
  readonly reached = new Set<number>()
  /** Differences between responses and the document, as sentences. */
  readonly problems: string[] = []
  requestCount = 0
  readonly #server: DocumentedServer
  readonly #validator: OpenapiValidator
  readonly #connection: RawConnection

  constructor(
    route: Route,
    server: DocumentedServer,
    validator: OpenapiValidator,
    connection: RawConnection,
  ) {
    this.route = route
    this.#server = server
    this.#validator = validator
    this.#connection = connection
  }

  /** Creates a client for each route, on one connection. Call `close` at the end. */
  static all(server: DocumentedServer): { clients: readonly RouteClient[]; close(): void } {
    const connection = new RawConnection(server.port)
    const validator = new OpenapiValidator(server.document)
    return {
      clients: server.routes.map((route) => new RouteClient(route, server, validator, connection)),
      close: () => connection.close(),
    }
  }

  get documented(): readonly number[] {
    return this.#validator.statuses(this.route.method, this.route.pattern)
  }

  get parameters(): readonly { name: string; schema: TSchema; values: ParameterValues }[] {
    const own = seedOf(this.route).query ?? {}
    return Object.entries(this.route.querySchema.properties).map(([name, schema]) => {
      return { name, schema, values: valuesOf(name, schema, own[name] ?? SAMPLES[name]) }
    })
  }

  get required(): readonly Pair[] {
    return this.parameters
      .filter(({ schema }) => !KindGuard.IsOptional(schema) && schema.default === undefined)
      .map(({ name, values }) => [name, values.valid[0] ?? ''] as const)
  }

  /** Records problems of the response. */
  async ask(ask: RequestSpec = {}): Promise<RawAnswer> {
    const { method: own, pattern, hasBody } = this.route
    const method = ask.method ?? own
    const target = await this.target(ask)
    const seed = seedOf(this.route)
    const good = hasBody && method === own ? JSON.stringify(seed.body?.() ?? {}) : null
    const body = ask.body ?? good
    const headers = [...this.#credential(ask.credential ?? 'own'), ...(ask.headers ?? [])]
    this.requestCount += 1
    const answer = await this.#connection.exchange({ method, target, headers, body })
    if (answer === null) throw new Error(`${method} ${target}: closed without an answer`)
    if (method === 'OPTIONS') return answer
    const { status } = answer
    const problem = this.#validator.problem({
      ...answer,
      method: own,
      pattern,
      isHead: method === 'HEAD',
    })
    // A documented status that no external input may cause.
    if (status === 500) this.note(`${method} ${target.slice(0, 300)} → our fault`)
    else if (problem === null) this.reached.add(status)
    else this.note(`${method} ${target.slice(0, 300)} → ${status}: ${problem}`)
    return answer
  }

  note(problem: string): void {
    this.problems.push(problem)
  }

  /** Records a problem unless the response has this status. */
  async expect(status: number, ask: RequestSpec, why: string): Promise<RawAnswer> {
    const answer = await this.ask(ask)
    if (answer.status !== status) {
      const what = JSON.stringify(ask).slice(0, 300)
      this.note(
        `${why}: ${answer.status} instead of ${status} for ${what}: ${answer.body.slice(0, 200)}`,
      )
    }
    return answer
  }

  /** Path and query, percent-encoded. */
  async target({ path = {}, query, rawQuery }: RequestSpec): Promise<string> {
    const values = {
      ...SAMPLES,
      ...(await seedOf(this.route).path?.(this.#server.engine)),
      ...path,
    }
    const filled = this.route.pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name]
      if (value === undefined) throw new Error(`no sample for {${name}} of ${this.route.pattern}`)
      return encoded(value)
    })
    const text = rawQuery ?? queryText(query ?? this.required)
    return text === '' ? filled : `${filled}?${text}`
  }

  #credential(credential: Credential): readonly Pair[] {
    const { access } = this.route
    const key = (account: string) => ['X-API-Key', `${account}-key`] as const
    const token = (account: string) => ['Authorization', `Bearer ${account}-token`] as const
    if (credential === 'none') return []
    if (credential === 'wrong')
      return [
        ['X-API-Key', 'pmk_wrong'],
        ['Authorization', 'Bearer wrong'],
      ]
    if (credential === 'poor')
      return access === 'token' ? [token(POOR_ACCOUNT)] : [key(POOR_ACCOUNT)]
    if (credential === 'free') return [key(FREE_ACCOUNT)]
    if (credential === 'reader') return [['X-API-Key', `${ACCOUNT}-reader`]]
    if (credential === 'token') return [token(ACCOUNT)]
    if (credential === 'key') return [key(ACCOUNT)]
    return access === 'token' ? [token(ACCOUNT)] : [key(ACCOUNT)]
  }
}

export function queryText(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
}

function encoded(text: string): string {
  return encodeURIComponent(text)
}
