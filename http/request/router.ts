// Matches method and path to a route. The library's router has no 405 with `Allow`, does not derive HEAD and OPTIONS
// from GET, and does not decode path parameters.

import { decodePath } from '../validation/query.ts'
import type { Route } from './route.ts'

export type Match = Found & {
  /** Scripts of other origins may read the answer, even if it is an error. */
  readonly isCrossOrigin: boolean
}

export interface RouteMatch {
  readonly kind: 'route'
  readonly route: Route
  readonly params: ReadonlyMap<string, string>
}

type Found =
  | RouteMatch
  | { readonly kind: 'options'; readonly allow: string }
  | { readonly kind: 'wrongMethod'; readonly allow: string }
  | { readonly kind: 'missing' }
  /** The path has invalid percent-encoding. */
  | { readonly kind: 'malformed' }

const MALFORMED: Match = { kind: 'malformed', isCrossOrigin: true }
const MISSING: Match = { kind: 'missing', isCrossOrigin: true }

/** The last segment of a pattern that matches all further segments. Its parameter `*` is not decoded. */
const REST = '*'

class Node {
  readonly literals = new Map<string, Node>()
  /** The child for a segment that is a parameter. */
  any: Node | null = null
  /** The child for all remaining segments. */
  rest: Node | null = null
  /** By method. The routes' pattern ends at this node. */
  readonly routes = new Map<string, Route>()
  readonly params = new Map<number, string>()
  /** True if every route of the path is cross-origin. */
  isCrossOrigin = true
}

export class Router {
  readonly #root = new Node()

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.pattern.split('/')
      const node = segments.reduce(childOf, this.#root)
      if (node.routes.has(route.method)) throw new Error(`two routes for ${route.pattern}`)
      node.routes.set(route.method, route)
      node.isCrossOrigin &&= route.isCrossOrigin
      for (const [index, segment] of segments.entries()) {
        if (segment.startsWith('{')) node.params.set(index, segment.slice(1, -1))
        if (segment === REST) node.params.set(index, REST)
      }
    }
  }

  /** `method` is in upper case. HEAD matches the route of GET. */
  match(method: string, url: string): Match {
    const segments = url.split('/')
    const node = find(this.#root, segments, 0)
    if (node === null) return MISSING
    const params = new Map<string, string>()
    for (const [index, name] of node.params) {
      const decoded =
        name === REST ? segments.slice(index).join('/') : decodePath(segments[index] ?? '')
      if (decoded === null) return MALFORMED
      params.set(name, decoded)
    }
    const { routes, isCrossOrigin } = node
    const route = routes.get(method === 'HEAD' ? 'GET' : method)
    if (route !== undefined) return { kind: 'route', route, params, isCrossOrigin }
    const kind = method === 'OPTIONS' ? 'options' : 'wrongMethod'
    const allow = [...routes.keys(), ...(routes.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    return { kind, allow, isCrossOrigin }
  }
}

function childOf(node: Node, segment: string): Node {
  if (segment === REST) {
    node.rest ??= new Node()
    return node.rest
  }
  if (segment.startsWith('{')) {
    node.any ??= new Node()
    return node.any
  }
  const child = node.literals.get(segment) ?? new Node()
  node.literals.set(segment, child)
  return child
}

/**
 * Literal segments take precedence over parameters, and parameters over the rest of the path. A parameter is never
 * empty.
 */
function find(node: Node, segments: readonly string[], index: number): Node | null {
  const segment = segments[index]
  if (segment === undefined) return node.routes.size > 0 ? node : null
  const literal = node.literals.get(segment)
  const found = literal === undefined ? null : find(literal, segments, index + 1)
  if (found !== null) return found
  const any = node.any === null || segment === '' ? null : find(node.any, segments, index + 1)
  return any ?? node.rest
}
