// Matches method and path to a route. The library's router is not used: a wrong method needs 405 with `Allow`, HEAD and
// OPTIONS derive from GET, and its path parameters are not decoded.

import { BoundedCache } from '../records/bounded-cache.ts'
import { decodePath } from './query.ts'
import type { Method, Route } from './route.ts'

export type Match = Found & {
  /** Scripts of other origins may read the answer, including errors. */
  readonly isCrossOrigin: boolean
}

type Found =
  | { readonly kind: 'route'; readonly route: Route; readonly params: ReadonlyMap<string, string> }
  /** OPTIONS on an existing path. */
  | { readonly kind: 'options'; readonly allow: string }
  | { readonly kind: 'wrongMethod'; readonly allow: string }
  | { readonly kind: 'missing' }
  /** Invalid percent-encoding. */
  | { readonly kind: 'malformed' }

const BOUNDS = { countMax: 4_096, bytesMax: 8 * 2 ** 20 }
/** Estimated bytes in memory per character of a cached URL, including its parameters. */
const WEIGHT = 16

interface CachedMatch {
  readonly path: Path
  readonly params: ReadonlyMap<string, string>
  readonly bytes: number
}

const MALFORMED: Match = { kind: 'malformed', isCrossOrigin: true }
const MISSING: Match = { kind: 'missing', isCrossOrigin: true }
const NO_PARAMS: ReadonlyMap<string, string> = new Map()

class Path {
  readonly routes = new Map<Method, Route>()
  /** True if it is true for every route of the path. */
  isCrossOrigin = true

  /** The value of the `Allow` header: `GET, HEAD, …`. */
  get allow(): string {
    const methods: string[] = [...this.routes.keys()]
    if (this.routes.has('GET')) methods.push('HEAD')
    methods.push('OPTIONS')
    return methods.join(', ')
  }
}

/** Patterns of equal length and equal parameter positions: one lookup finds the path. */
class Shape {
  readonly #length: number
  readonly #positions: readonly number[]
  readonly #paths = new Map<string, { readonly path: Path; readonly names: readonly string[] }>()

  constructor(segments: readonly string[]) {
    this.#length = segments.length
    this.#positions = parameterPositions(segments)
  }

  fits(segments: readonly string[]): boolean {
    const isAlike = parameterPositions(segments).join() === this.#positions.join()
    return segments.length === this.#length && isAlike
  }

  add(segments: readonly string[], path: Path): void {
    const key = this.#keyOf(segments)
    if (key === null) throw new Error(`a parameter of ${segments.join('/')} has no name`)
    const names = this.#positions.map((position) => (segments[position] ?? '').slice(1, -1))
    this.#paths.set(key, { path, names })
  }

  /** The path and its decoded parameters by name (null: malformed). Null if no pattern matches. */
  find(segments: readonly string[]) {
    const key = this.#keyOf(segments)
    const found = key === null ? undefined : this.#paths.get(key)
    if (found === undefined) return null
    const { path, names } = found
    const params = new Map<string, string>()
    for (const [index, position] of this.#positions.entries()) {
      const decoded = decodePath(segments[position] ?? '')
      if (decoded === null) return { path, params: null }
      params.set(names[index] ?? '', decoded)
    }
    return { path, params }
  }

  /** Key of the fixed segments; null if the length differs or a parameter is empty. */
  #keyOf(segments: readonly string[]): string | null {
    if (segments.length !== this.#length) return null
    let key = ''
    let next = 0
    for (let position = 0; position < segments.length; position += 1) {
      const segment = segments[position] ?? ''
      if (position !== this.#positions[next]) key += `${segment}/`
      else if (segment === '') return null
      else next += 1
    }
    return key
  }
}

function parameterPositions(segments: readonly string[]): number[] {
  return [...segments.keys()].filter((position) => segments[position]?.startsWith('{'))
}

/** The compiled route table. Throws if two routes have the same method and pattern, which is a bug. */
export class Router {
  readonly #fixed = new Map<string, Path>()
  readonly #shapes: Shape[] = []
  /** The most recent URLs with parameters. */
  readonly #cache = new BoundedCache<string, CachedMatch>(BOUNDS)

  constructor(routes: readonly Route[]) {
    const paths = new Map<string, Path>()
    for (const route of routes) {
      let path = paths.get(route.pattern)
      if (path === undefined) {
        path = new Path()
        paths.set(route.pattern, path)
        const segments = route.pattern.split('/')
        if (route.pattern.includes('{')) this.#shapeOf(segments).add(segments, path)
        else this.#fixed.set(route.pattern, path)
      }
      if (path.routes.has(route.method)) throw new Error(`two routes for ${route.pattern}`)
      path.routes.set(route.method, route)
      path.isCrossOrigin &&= route.isCrossOrigin
    }
  }

  #shapeOf(segments: readonly string[]): Shape {
    const existing = this.#shapes.find((one) => one.fits(segments))
    if (existing !== undefined) return existing
    const shape = new Shape(segments)
    this.#shapes.push(shape)
    return shape
  }

  /** `method` in upper case. HEAD uses GET's route. */
  match(method: string, url: string): Match {
    const fixed = this.#fixed.get(url)
    if (fixed !== undefined) return choose(fixed, method, NO_PARAMS)
    const cached = this.#cache.get(url)
    if (cached !== undefined) return choose(cached.path, method, cached.params)
    const segments = url.split('/')
    for (const shape of this.#shapes) {
      const found = shape.find(segments)
      if (found === null) continue
      const { path, params } = found
      if (params === null) return MALFORMED
      this.#cache.put(url, { path, params, bytes: WEIGHT * url.length })
      return choose(path, method, params)
    }
    return MISSING
  }
}

function choose(path: Path, method: string, params: ReadonlyMap<string, string>): Match {
  const { isCrossOrigin } = path
  if (method === 'OPTIONS') return { kind: 'options', allow: path.allow, isCrossOrigin }
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const [routeMethod, route] of path.routes) {
    if (routeMethod === wanted) return { kind: 'route', route, params, isCrossOrigin }
  }
  return { kind: 'wrongMethod', allow: path.allow, isCrossOrigin }
}
