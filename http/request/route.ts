// Defines a route. `route()` compiles the schemas once and hides their types, so that handle.ts can run any route.

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Caller, CatalogView } from '../../actors/views.ts'
import type { KeyScope } from '../../engine/accounts/account.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { AccountId } from '../../engine/ids.ts'
import type { JsonObject } from '../documents/schemas-of.ts'
import { type BodyRule, compileBody } from '../validation/body.ts'
import type { Problem } from '../validation/problems.ts'
import type { RawQuery } from '../validation/query.ts'
import { compilePath, compileQuery, withAliases } from '../validation/query.ts'
import type { DashboardRequest } from './auth.ts'
import { type Answer, failure, json, withHeader } from './reply.ts'

const METHODS = ['GET', 'POST', 'DELETE', 'PATCH'] as const
export type Method = (typeof METHODS)[number]
const isMethod = (text: unknown): text is Method => METHODS.some((method) => method === text)

/**
 * Required credential. `public`: none. `caller`: API key or login token. `token`: login token only. `upgrade`: key or
 * token for a WebSocket handshake (http/ws/session/upgrade.ts), none for a plain GET.
 */
export type Access = 'public' | 'caller' | 'token' | 'upgrade'

/**
 * The quota that a request counts against. `data`: per minute, of the account, or of the address without a valid
 * credential. `management`: the account's management quota with a login token, otherwise as `data`. `signIn`: only the
 * address's sign-in attempts, which the account actor counts.
 */
type Budget = 'data' | 'management' | 'signIn'

export interface RequestFacts {
  /** Null only on public routes. */
  readonly caller: Caller | null
  /** The address that sign-in attempts count against: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** Account and address, for fair queueing. Call it only before the first await. */
  readonly requester: () => Requester
  /**
   * True if the request comes from this machine and not through a proxy. Always false for an authenticated data
   * request.
   */
  readonly isLocal: boolean
  /** Null if another page or program sent the request. */
  readonly dashboard: DashboardRequest | null
  /** A decoded path parameter. Throws if the pattern lacks the parameter, which is a bug. */
  readonly path: (name: string) => string
  /**
   * A header by its lower-case name, or ''. Call it only before the first await. On a route with a body, only the
   * headers in `bodyHeaders` are available.
   */
  readonly header: (name: string) => string
  /** Aborts when the client disconnects or the request is answered. */
  readonly signal: () => AbortSignal
}

/** Throws on a route without a required caller, which is a bug. */
export function accountOf(caller: Caller | null): AccountId {
  return requireCaller(caller).accountId
}

export function requireCaller(caller: Caller | null): Caller {
  if (caller === null) throw new Error('the route does not require a caller')
  return caller
}

/** The account, or the address of an anonymous caller, whose limit of covered books applies. */
export function demandOwner({ caller, address }: Pick<RequestFacts, 'caller' | 'address'>): string {
  return caller?.accountId ?? address
}

/** Schemas by parameter name. Optional parameters have an optional TypeBox schema. */
export interface Parameters {
  readonly properties: Readonly<Record<string, TSchema>>
}

/** A route with erased types. */
export interface Route {
  readonly method: Method
  /** For example `/v1/markets/{id}`. */
  readonly pattern: string
  readonly access: Access
  readonly isCounted: boolean
  readonly budget: Budget
  /** The scope that a key needs. A login token has all scopes. */
  readonly scope: KeyScope
  /** Intermediaries must not store answers of this route. */
  readonly isPrivate: boolean
  /** Scripts of other origins (CORS_ORIGINS) may read answers of this route. */
  readonly isCrossOrigin: boolean
  readonly hasBody: boolean
  /** Lower-case names of headers that a route with a body can read. */
  readonly bodyHeaders: readonly string[]
  /** A missing body is treated as an empty object. */
  readonly isBodyOptional: boolean
  readonly document: RouteDocument
  readonly querySchema: Parameters
  readonly pathSchema: Parameters
  readonly bodySchema: TSchema | null
  /** Validates the request and runs the handler. Throws EngineError for refusals. */
  respond(facts: RequestFacts, raw: RawQuery, body: Uint8Array): Answer | Promise<Answer>
}

/** In the order of the specification document. */
export const ROUTE_GROUPS = [
  'Markets',
  'Market Data',
  'Events',
  'Cross-Platform',
  'Sports',
  'Wallets',
  'Venue A Native',
  'Venue B Native',
  'Whales',
  'Webhooks',
  'WebSocket',
  'Auth',
  'System',
] as const
export type RouteGroup = (typeof ROUTE_GROUPS)[number]

/** The description of a route in the specification document. Tests check answers against its schemas. */
export interface RouteDocument {
  readonly group: RouteGroup
  readonly summary: string
  readonly description?: string
  /** Schema of a successful body. Null: no body (204), or not JSON. */
  readonly answer: TSchema | null
  /** Status of success. Default: 200. */
  readonly status?: 200 | 201 | 202 | 204 | 302 | 101
  readonly bodyExamples?: Readonly<Record<string, JsonObject>>
  /** Content types of a successful body if it is not JSON. */
  readonly contentTypes?: readonly string[]
  /** Errors of the handler, each with its condition. documents/responses.ts adds the errors of every route. */
  readonly refusals?: Readonly<
    Partial<Record<400 | 401 | 403 | 404 | 409 | 426 | 429 | 503, string>>
  >
  /** False: the document omits the route, which redirects browsers or has another protocol than REST. */
  readonly isListed?: false
  readonly isNamed?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

interface RouteRules extends RouteDocument {
  /** Schemas of path parameters. Default: any text. */
  readonly path?: TObject
  /** Default: `caller`. */
  readonly access?: Access
  /** Default: true. */
  readonly isCounted?: boolean
  /** Default: `data`. */
  readonly budget?: Budget
  /** Default: `read`. */
  readonly scope?: KeyScope
  readonly isPrivate?: boolean
  /** Default: true. */
  readonly isCrossOrigin?: boolean
}

export interface RouteParts {
  readonly catalog: CatalogView
  readonly clock: Clock
  /** The name of this process in its cluster, or null. */
  readonly issuer?: string | null
}

/** Maximum unknown parameter names that an answer reports. */
const UNKNOWN_NAMES_MAX = 16
const UNKNOWN_NAME_CHARACTERS_MAX = 48

/** A route without a body. `name` is its method and pattern, such as `GET /v1/markets/{market_id}`. */
export function route(
  name: string,
  rules: RouteRules & { readonly query?: undefined },
  handle: (facts: RequestFacts) => Answer | Promise<Answer>,
): Route
export function route<Q extends TProperties>(
  name: string,
  rules: RouteRules & { readonly query: TObject<Q> },
  handle: (facts: RequestFacts, query: Static<TObject<Q>>) => Answer | Promise<Answer>,
): Route
export function route(
  name: string,
  { query = Type.Object({}), ...rules }: RouteRules & { readonly query?: TObject | undefined },
  handle: (facts: RequestFacts, query: Static<TObject>) => Answer | Promise<Answer>,
): Route {
  const parse = compileQuery(query)
  const basics = basicsOf(name, rules)
  const pathProblems = compilePath(basics.pathSchema)
  return {
    ...basics,
    hasBody: false,
    bodyHeaders: [],
    isBodyOptional: false,
    querySchema: { properties: withAliases(query.properties) },
    bodySchema: null,
    respond(facts, raw) {
      const parsed = parse(raw)
      const problems = pathProblems(facts.path)
      if (parsed.kind === 'invalid') return invalid([...problems, ...parsed.problems])
      if (problems.length > 0) return invalid(problems)
      if (parsed.kind === 'conflict') return failure('BAD_REQUEST', parsed.detail)
      const answer = handle(facts, parsed.value)
      if (parsed.unknownNames.length === 0) return answer
      const names = namesText(parsed.unknownNames)
      return answer instanceof Promise
        ? answer.then((late) => withHeader(late, 'X-Unknown-Parameters', names))
        : withHeader(answer, 'X-Unknown-Parameters', names)
    },
  }
}

const EMPTY_OBJECT = new TextEncoder().encode('{}')

export function bodyRoute<B extends TProperties>(
  name: string,
  rules: RouteRules & { readonly body: BodyRule<B> },
  handle: (facts: RequestFacts, body: Static<TObject<B>>) => Answer | Promise<Answer>,
): Route {
  const { body } = rules
  const parse = compileBody(body)
  const isBodyOptional = body.isOptional ?? false
  const basics = basicsOf(name, rules)
  const pathProblems = compilePath(basics.pathSchema)
  return {
    ...basics,
    hasBody: true,
    bodyHeaders: [],
    isBodyOptional,
    querySchema: { properties: {} },
    bodySchema: body.schema,
    respond(facts, _raw, bytes) {
      const parsed = parse(isBodyOptional && bytes.length === 0 ? EMPTY_OBJECT : bytes)
      if (parsed.kind === 'undecodable') return failure('BAD_REQUEST', 'the body is not UTF-8')
      const problems = pathProblems(facts.path)
      if (parsed.kind === 'invalid') return invalid([...problems, ...parsed.problems])
      return problems.length > 0 ? invalid(problems) : handle(facts, parsed.value)
    },
  }
}

/** A route whose handler reads the body and the headers in `bodyHeaders` itself. */
export function rawRoute(
  name: string,
  rules: RouteRules & { readonly bodyHeaders: readonly string[] },
  handle: (facts: RequestFacts, body: Uint8Array) => Answer | Promise<Answer>,
): Route {
  return {
    ...basicsOf(name, rules),
    hasBody: true,
    bodyHeaders: rules.bodyHeaders,
    isBodyOptional: false,
    querySchema: { properties: {} },
    bodySchema: null,
    respond: (facts, _raw, body) => handle(facts, body),
  }
}

function basicsOf(name: string, rules: RouteRules) {
  const [method, pattern = ''] = name.split(' ')
  if (!isMethod(method)) throw new Error(`the route ${name} has no method`)
  const given = rules.path?.properties ?? {}
  const path = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => {
    return [parameter, given[parameter] ?? Type.String()] as const
  })
  return {
    ...{ method, pattern, document: rules, pathSchema: Type.Object(Object.fromEntries(path)) },
    access: rules.access ?? 'caller',
    isCounted: rules.isCounted ?? true,
    budget: rules.budget ?? 'data',
    scope: rules.scope ?? 'read',
    isPrivate: rules.isPrivate ?? false,
    isCrossOrigin: rules.isCrossOrigin ?? true,
  }
}

/**
 * Names for a header, separated by commas. Each name is percent-encoded and truncated. A trailing `+3` stands for three
 * more names.
 */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, UNKNOWN_NAMES_MAX).map((name) => {
    if (name === '') return '""'
    return encodeURIComponent(name).slice(0, UNKNOWN_NAME_CHARACTERS_MAX).replace(/%.?$/, '')
  })
  const more = names.length - shown.length
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(', ')
}

function invalid(problems: readonly Problem[]): Answer {
  return json({ detail: problems }, 422)
}
