// What a route is: method, pattern, who may call it, its schemas and its handler. `route()` compiles
// the schemas once and hides their types behind one form, so that the wrapper (handle.ts) can run
// any of them.

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Caller, CatalogView } from '../../actors/views.ts'
import type { KeyScope } from '../../engine/accounts/account.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Requester } from '../../engine/fair-queue.ts'
import type { JsonObject } from '../documents/schemas-of.ts'
import type { Problem } from '../validation/parameter.ts'
import { compileBody, compilePath, compileQuery } from '../validation/validate.ts'
import { withAliases } from './aliases.ts'
import type { DashboardRequest } from './dashboard-request.ts'
import type { RawQuery } from './query.ts'
import { type Answer, failure, json, withHeader } from './reply.ts'

export type Method = 'GET' | 'POST' | 'DELETE' | 'PATCH'

/**
 * `public`: no credential. `caller`: key or token. `token`: login token only. `upgrade`: key or token for the
 * upgrade, which the handshake answers (http/ws/session/upgrade.ts); a plain GET needs nothing.
 */
export type Access = 'public' | 'caller' | 'token' | 'upgrade'

/**
 * What a counted request is taken from. `data`: the minute of the account, or without a good credential
 * of the address. `management`: with a login token the account's minute for managing, which no key can
 * spend; otherwise as `data`. `signIn`: whatever it carries, nothing but the address's attempts to sign
 * up and in, which the owner of accounts takes.
 */
type Budget = 'data' | 'management' | 'signIn'

/** What every handler may read of its request. */
export interface RequestFacts {
  /** Null only on public routes. */
  readonly caller: Caller | null
  /** What attempts count against: an IPv4 address, or an IPv6 network of 64 bits. */
  readonly address: string
  /** The account and the address, for work that waits behind others; only before the first await. */
  readonly requester: () => Requester
  /** Asked from this machine, and not by a proxy for another client; false where a known caller only reads. */
  readonly isLocal: boolean
  /** Null for a request that the dashboard's own page did not make. */
  readonly dashboard: DashboardRequest | null
  /** A decoded path parameter; throws when the pattern has no such name (our bug). */
  readonly path: (name: string) => string
  /** A header by its name in lower case, '' for none; only before the first await, and not on routes with a body. */
  readonly header: (name: string) => string
  /** Aborted once the client has gone, or was answered. */
  readonly signal: () => AbortSignal
}

/** A request whose every part has been validated. */
export interface ValidRequest<Q, B> extends RequestFacts {
  readonly query: Q
  readonly body: B
}

/** Named parameters with their schemas; those that TypeBox marks optional may be left out. */
export interface Parameters {
  readonly properties: Readonly<Record<string, TSchema>>
}

/** A route as the wrapper and the router see it. */
export interface Route {
  readonly method: Method
  /** `/v1/markets/{id}`. */
  readonly pattern: string
  readonly access: Access
  /** Whether the request counts against a quota. */
  readonly isCounted: boolean
  readonly budget: Budget
  /** What a key needs; a login token may all. */
  readonly scope: KeyScope
  /** Its answers must not be stored on the way. */
  readonly isPrivate: boolean
  /** Scripts of other origins may read its answers (CORS_ORIGINS). */
  readonly isCrossOrigin: boolean
  readonly hasBody: boolean
  /** A request without a body is as good as one with an empty object. */
  readonly isBodyOptional: boolean
  readonly document: RouteDocument
  /** For the specification document. */
  readonly querySchema: Parameters
  readonly pathSchema: Parameters
  readonly bodySchema: TSchema | null
  /** Validates, then handles; throws EngineError for refusals of owners. */
  respond(facts: RequestFacts, raw: RawQuery, body: Uint8Array): Answer | Promise<Answer>
}

/** The interface's groups of endpoints, in the order of the specification document. */
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

/** What the specification document says of a route, and what its answers are checked against. */
export interface RouteDocument {
  readonly group: RouteGroup
  /** One line. */
  readonly summary: string
  /** More than one line, where more must be said. */
  readonly description?: string
  /** The body of success; null: none (204) or not JSON. */
  readonly answer: TSchema | null
  /** Of success; 200 unless said. */
  readonly status?: 200 | 201 | 202 | 204 | 302 | 101
  /** Bodies to send, by name. */
  readonly bodyExamples?: Readonly<Record<string, JsonObject>>
  /** Of success when it is not JSON. */
  readonly contentType?: string
  /**
   * Refusals of the handler itself, each with its condition. The wrapper's own (401, 404 of the
   * path, 403, 405, 413, 422, 429, 500) are added by the document.
   */
  readonly refusals?: Readonly<Partial<Record<400 | 401 | 403 | 404 | 426 | 429 | 503, string>>>
  /** False: the document leaves the route out, a redirect for browsers. */
  readonly isListed?: false
  /** The answer has an `ETag`, by which it can be asked for again. */
  readonly isNamed?: boolean
  /** Headers that a successful answer may carry besides those on every answer, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>
}

interface RouteBasics {
  readonly method: Method
  readonly pattern: string
  readonly document: RouteDocument
  /** The pattern's parameters; text of any length where nothing is said. */
  readonly path?: TObject
  readonly access?: Access
  readonly isCounted?: boolean
  readonly budget?: Budget
  readonly scope?: KeyScope
  readonly isPrivate?: boolean
  readonly isCrossOrigin?: boolean
}

/** What most routes need of the house; those that need more say so. */
export interface RouteParts {
  readonly catalog: CatalogView
  readonly clock: Clock
  /** The name of this process in its cluster; without it this process is alone. */
  readonly issuer?: string | null
}

/** Called with the names of unknown parameters. */
const UNKNOWN_NAMES_MAX = 16
const UNKNOWN_NAME_CHARACTERS_MAX = 48

const NO_PARAMETERS = Type.Object({})

/** A route without a body. */
export function route<Q extends TProperties>(
  basics: RouteBasics,
  query: TObject<Q>,
  handle: (request: ValidRequest<Static<TObject<Q>>, null>) => Answer | Promise<Answer>,
): Route {
  const parse = compileQuery(query)
  const path = pathOf(basics)
  const pathProblems = compilePath(path)
  return {
    ...defaults(basics),
    hasBody: false,
    isBodyOptional: false,
    querySchema: { properties: withAliases(query.properties) },
    pathSchema: path,
    bodySchema: null,
    respond(facts, raw) {
      const parsed = parse(raw)
      const problems = pathProblems(facts.path)
      if (parsed.kind === 'invalid') return invalid([...problems, ...parsed.problems])
      if (problems.length > 0) return invalid(problems)
      if (parsed.kind === 'conflict') return failure('BAD_REQUEST', parsed.detail)
      const answer = handle(new Request(facts, parsed.value, null))
      if (parsed.unknownNames.length === 0) return answer
      const names = namesText(parsed.unknownNames)
      return answer instanceof Promise
        ? answer.then((late) => withHeader(late, 'X-Unknown-Parameters', names))
        : withHeader(answer, 'X-Unknown-Parameters', names)
    },
  }
}

/** What a body must be, and what it is called in errors. */
export interface BodyRule<B extends TProperties> {
  readonly schema: TObject<B>
  readonly className: string
  readonly refine?: (value: Static<TObject<B>>) => readonly Problem[]
  /** The same of those fields that have their type, when others have not. */
  readonly refineParts?: (parts: Partial<Static<TObject<B>>>) => readonly Problem[]
  /** A request may have no body at all; every field is optional. */
  readonly isOptional?: boolean
}

const EMPTY_OBJECT = new TextEncoder().encode('{}')

/** A route with a JSON body. */
export function bodyRoute<B extends TProperties>(
  basics: RouteBasics,
  body: BodyRule<B>,
  handle: (request: ValidRequest<null, Static<TObject<B>>>) => Answer | Promise<Answer>,
): Route {
  const parse = compileBody(body.schema, body.className, body.refine, body.refineParts)
  const { isOptional: isBodyOptional = false } = body
  const path = pathOf(basics)
  const pathProblems = compilePath(path)
  return {
    ...defaults(basics),
    hasBody: true,
    isBodyOptional,
    querySchema: NO_PARAMETERS,
    pathSchema: path,
    bodySchema: body.schema,
    respond(facts, _raw, bytes) {
      const isMissing = isBodyOptional && bytes.length === 0
      const parsed = parse(isMissing ? EMPTY_OBJECT : bytes)
      if (parsed.kind === 'undecodable') return failure('BAD_REQUEST', 'the body is not UTF-8')
      const problems = pathProblems(facts.path)
      if (parsed.kind === 'invalid') return invalid([...problems, ...parsed.problems])
      if (problems.length > 0) return invalid(problems)
      return handle(new Request(facts, null, parsed.value))
    },
  }
}

/** The schema of the pattern's parameters: as given, and any text for the others. */
function pathOf({ pattern, path }: RouteBasics): TObject {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const given = path?.properties ?? {}
  return Type.Object(Object.fromEntries(names.map((name) => [name, given[name] ?? Type.String()])))
}

/**
 * Names for a header, comma-separated: percent-encoded and each cut, so that they stay text of ours whatever was asked;
 * `+3` at the end for three more. Exported for its test.
 */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, UNKNOWN_NAMES_MAX).map((name) => {
    if (name === '') return '""'
    return encodeURIComponent(name).slice(0, UNKNOWN_NAME_CHARACTERS_MAX).replace(/%.?$/, '')
  })
  const more = names.length - shown.length
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(', ')
}

function defaults(basics: RouteBasics) {
  return {
    method: basics.method,
    pattern: basics.pattern,
    document: basics.document,
    access: basics.access ?? 'caller',
    isCounted: basics.isCounted ?? true,
    budget: basics.budget ?? 'data',
    scope: basics.scope ?? 'read',
    isPrivate: basics.isPrivate ?? false,
    isCrossOrigin: basics.isCrossOrigin ?? true,
  }
}

function invalid(problems: readonly Problem[]): Answer {
  return json({ detail: problems }, 422)
}

/** One shape for every request, so that handlers stay monomorphic. */
class Request<Q, B> implements ValidRequest<Q, B> {
  readonly query: Q
  readonly body: B
  readonly #facts: RequestFacts

  constructor(facts: RequestFacts, query: Q, body: B) {
    this.#facts = facts
    this.query = query
    this.body = body
  }

  get caller(): Caller | null {
    return this.#facts.caller
  }

  get address(): string {
    return this.#facts.address
  }

  get requester(): () => Requester {
    return this.#facts.requester
  }

  get isLocal(): boolean {
    return this.#facts.isLocal
  }

  get dashboard(): DashboardRequest | null {
    return this.#facts.dashboard
  }

  /** A function of its own, so that handlers may take it out of the request. */
  get path(): (name: string) => string {
    return this.#facts.path
  }

  get header(): (name: string) => string {
    return this.#facts.header
  }

  get signal(): () => AbortSignal {
    return this.#facts.signal
  }
}
