// Method and path → route. Our own and not the library's, because a wrong method needs 405 with
// `Allow`, HEAD and OPTIONS follow from GET, and path parameters arrive undecoded there.

import { BoundedCache } from '../records/bounded-cache.ts'
import { decodePath } from './query.ts'
import type { Method, Route } from './route.ts'

export type Match = Found & {
  /** Scripts of other origins may read the answer, whatever it is. */
  readonly isCrossOrigin: boolean
}

type Found =
  | { readonly kind: 'route'; readonly route: Route; readonly params: ReadonlyMap<string, string> }
  /** OPTIONS on a path that exists. */
  | { readonly kind: 'options'; readonly allow: string }
  | { readonly kind: 'wrongMethod'; readonly allow: string }
  | { readonly kind: 'missing' }
  /** Percent-encoding that is none. */
  | { readonly kind: 'malformed' }

const BOUNDS = { countMax: 4_096, bytesMax: 8 * 2 ** 20 }
/** What an address weighs in memory, with its parameters, for each of its characters. */
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
  /** Every route of it is. */
  isCrossOrigin = true

  /** `GET, HEAD, …` as in the Allow header. */
  get allow(): string {
    const methods: string[] = [...this.routes.keys()]
    if (this.routes.has('GET')) methods.push('HEAD')
    methods.push('OPTIONS')
    return methods.join(', ')
  }
}

/** Patterns of one length whose parameters stand in the same places: one look-up finds the path. */
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

  /** The path and its decoded parameters by name (null: malformed); null when it is none of these. */
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

  /** The fixed segments; null when there are not as many, or a parameter is empty. */
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

/** The table of routes, compiled. Throws when two routes have one method and pattern: our bug. */
export class Router {
  readonly #fixed = new Map<string, Path>()
  readonly #shapes: Shape[] = []
  /** The addresses with parameters that were asked for last. */
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

  /** `method` in upper case; HEAD is answered by GET's route. */
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
