// What a route is: method, pattern, who may call it, its schemas and its handler. `route()` compiles
// the schemas once and hides their types behind one form, so that the wrapper (handle.ts) can run
// any of them. Upholds VALID1 to VALID3.

import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Caller } from '../actors/views.ts'
import type { Problem } from './parameter.ts'
import type { RawQuery } from './query.ts'
import { type Answer, failure, json, withHeader } from './reply.ts'
import { compileBody, compileQuery } from './validate.ts'

export type Method = 'GET' | 'POST' | 'DELETE' | 'PATCH'

/** `public`: anybody. `caller`: key or token. `token`: login token only. */
export type Access = 'public' | 'caller' | 'token'

/** What every handler may read of its request. */
export interface RequestFacts {
  /** Null only on public routes. */
  readonly caller: Caller | null
  readonly address: string
  /** A decoded path parameter; throws when the pattern has no such name (our bug). */
  readonly path: (name: string) => string
}

/** A request whose every part has been validated. */
export interface ValidRequest<Q, B> extends RequestFacts {
  readonly query: Q
  readonly body: B
}

/** A route as the wrapper and the router see it. */
export interface Route {
  readonly method: Method
  /** `/v1/markets/{id}`. */
  readonly pattern: string
  readonly access: Access
  /** Whether the request counts against a quota. */
  readonly isCounted: boolean
  /** Its answers must not be stored on the way. */
  readonly isPrivate: boolean
  readonly hasBody: boolean
  /** For the specification document. */
  readonly querySchema: TSchema
  readonly bodySchema: TSchema | null
  /** Validates, then handles; throws EngineError for refusals of owners. */
  respond(facts: RequestFacts, raw: RawQuery, body: Uint8Array): Answer | Promise<Answer>
}

interface RouteBasics {
  readonly method: Method
  readonly pattern: string
  readonly access?: Access
  readonly isCounted?: boolean
  readonly isPrivate?: boolean
}

const NO_PARAMETERS = Type.Object({})

/** A route without a body. */
export function route<Q extends TProperties>(
  basics: RouteBasics,
  query: TObject<Q>,
  handle: (request: ValidRequest<Static<TObject<Q>>, null>) => Answer | Promise<Answer>,
): Route {
  const parse = compileQuery(query)
  return {
    ...defaults(basics),
    hasBody: false,
    querySchema: query,
    bodySchema: null,
    respond(facts, raw) {
      const parsed = parse(raw)
      if (parsed.kind === 'invalid') return invalid(parsed.problems)
      if (parsed.kind === 'conflict') return failure('BAD_REQUEST', parsed.detail)
      const answer = handle(new Request(facts, parsed.value, null))
      if (parsed.unknownCount === 0) return answer
      const count = String(parsed.unknownCount)
      return answer instanceof Promise
        ? answer.then((late) => withHeader(late, 'X-Unknown-Parameters', count))
        : withHeader(answer, 'X-Unknown-Parameters', count)
    },
  }
}

/** What a body must be, and what it is called in errors. */
export interface BodyRule<B extends TProperties> {
  readonly schema: TObject<B>
  readonly className: string
  readonly refine?: (value: Static<TObject<B>>) => readonly Problem[]
}

/** A route with a JSON body. */
export function bodyRoute<B extends TProperties>(
  basics: RouteBasics,
  body: BodyRule<B>,
  handle: (request: ValidRequest<null, Static<TObject<B>>>) => Answer | Promise<Answer>,
): Route {
  const parse = compileBody(body.schema, body.className, body.refine)
  return {
    ...defaults(basics),
    hasBody: true,
    querySchema: NO_PARAMETERS,
    bodySchema: body.schema,
    respond(facts, _raw, bytes) {
      const parsed = parse(bytes)
      if (parsed.kind === 'undecodable') return failure('BAD_REQUEST', 'the body is not UTF-8')
      if (parsed.kind === 'invalid') return invalid(parsed.problems)
      return handle(new Request(facts, null, parsed.value))
    },
  }
}

function defaults(basics: RouteBasics) {
  return {
    method: basics.method,
    pattern: basics.pattern,
    access: basics.access ?? 'caller',
    isCounted: basics.isCounted ?? true,
    isPrivate: basics.isPrivate ?? false,
  }
}

function invalid(problems: readonly Problem[]): Answer {
  return json({ detail: problems }, 422)
}

/** One shape for every request, so that handlers stay monomorphic. */
class Request<Q, B> implements ValidRequest<Q, B> {
  readonly caller: Caller | null
  readonly address: string
  readonly query: Q
  readonly body: B
  /** A property and not a method, so that handlers may take it out of the request. */
  readonly path: (name: string) => string

  constructor(facts: RequestFacts, query: Q, body: B) {
    this.caller = facts.caller
    this.address = facts.address
    this.query = query
    this.body = body
    this.path = facts.path
  }
}
