// Method and path → route. Our own and not the library's, because a wrong method needs 405 with
// `Allow`, HEAD and OPTIONS follow from GET, and path parameters arrive undecoded there.
// Upholds HTTP7.

import { decodePath } from './query.ts'
import type { Method, Route } from './route.ts'

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: ReadonlyMap<string, string> }
  /** OPTIONS on a path that exists. */
  | { readonly kind: 'options'; readonly allow: string }
  | { readonly kind: 'wrongMethod'; readonly allow: string }
  | { readonly kind: 'missing' }
  /** Percent-encoding that is none. */
  | { readonly kind: 'malformed' }

const NO_PARAMS: ReadonlyMap<string, string> = new Map()

/** Stands for a parameter where only the fixed segments are compared. */
const ANY = '{}'

interface Parameter {
  readonly position: number
  readonly name: string
}

class Path {
  readonly routes = new Map<Method, Route>()

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
  readonly #positions: readonly number[]
  readonly #paths = new Map<
    string,
    { readonly path: Path; readonly parameters: readonly Parameter[] }
  >()

  constructor(positions: readonly number[]) {
    this.#positions = positions
  }

  add(pattern: string, path: Path): void {
    const segments = pattern.split('/')
    const parameters = this.#positions.map((position) => {
      return { position, name: (segments[position] ?? '').slice(1, -1) }
    })
    this.#paths.set(this.#keyOf(segments) ?? '', { path, parameters })
  }

  /** The path and its decoded parameters by name; null when it is none of these. */
  find(segments: readonly string[]) {
    const key = this.#keyOf(segments)
    const found = key === null ? undefined : this.#paths.get(key)
    if (found === undefined) return null
    const params = new Map<string, string>()
    for (const { position, name } of found.parameters) {
      const decoded = decodePath(segments[position] ?? '')
      if (decoded === null) return { path: found.path, params: null }
      params.set(name, decoded)
    }
    return { path: found.path, params }
  }

  /** The fixed segments; null when a parameter would be empty. */
  #keyOf(segments: readonly string[]): string | null {
    let key = ''
    let next = 0
    for (let position = 1; position < segments.length; position += 1) {
      const segment = segments[position] ?? ''
      if (position !== this.#positions[next]) key += `/${segment}`
      else {
        if (segment === '') return null
        key += `/${ANY}`
        next += 1
      }
    }
    return key
  }
}

/** The table of routes, compiled. Throws when two routes have one method and pattern: our bug. */
export class Router {
  readonly #fixed = new Map<string, Path>()
  readonly #shapes = new Map<number, Map<string, Shape>>()

  constructor(routes: readonly Route[]) {
    const paths = new Map<string, Path>()
    for (const route of routes) {
      let path = paths.get(route.pattern)
      if (path === undefined) {
        path = new Path()
        paths.set(route.pattern, path)
        if (route.pattern.includes('{')) this.#shapeOf(route.pattern).add(route.pattern, path)
        else this.#fixed.set(route.pattern, path)
      }
      if (path.routes.has(route.method)) throw new Error(`two routes for ${route.pattern}`)
      path.routes.set(route.method, route)
    }
  }

  #shapeOf(pattern: string): Shape {
    const segments = pattern.split('/')
    const positions = [...segments.keys()].filter((position) => segments[position]?.startsWith('{'))
    const shapes = this.#shapes.get(segments.length) ?? new Map<string, Shape>()
    this.#shapes.set(segments.length, shapes)
    const shape = shapes.get(positions.join()) ?? new Shape(positions)
    shapes.set(positions.join(), shape)
    return shape
  }

  /** `method` in upper case; HEAD is answered by GET's route. */
  match(method: string, url: string): Match {
    const fixed = this.#fixed.get(url)
    if (fixed !== undefined) return choose(fixed, method, NO_PARAMS)
    const segments = url.split('/')
    for (const shape of this.#shapes.get(segments.length)?.values() ?? []) {
      const found = shape.find(segments)
      if (found === null) continue
      return found.params === null
        ? { kind: 'malformed' }
        : choose(found.path, method, found.params)
    }
    return { kind: 'missing' }
  }
}

function choose(path: Path, method: string, params: ReadonlyMap<string, string>): Match {
  if (method === 'OPTIONS') return { kind: 'options', allow: path.allow }
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const route of path.routes.values()) {
    if (route.method === wanted) return { kind: 'route', route, params }
  }
  return { kind: 'wrongMethod', allow: path.allow }
}
