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

class Path {
  readonly segments: readonly string[]
  readonly routes = new Map<Method, Route>()

  constructor(pattern: string) {
    this.segments = pattern.split('/')
  }

  /** `GET, HEAD, …` as in the Allow header. */
  get allow(): string {
    const methods: string[] = [...this.routes.keys()]
    if (this.routes.has('GET')) methods.push('HEAD')
    methods.push('OPTIONS')
    return methods.join(', ')
  }

  /** Undecoded parameters by name; null when the path is another. A fixed segment must be equal. */
  read(segments: readonly string[]): Map<string, string> | null {
    const params = new Map<string, string>()
    for (const [position, pattern] of this.segments.entries()) {
      const segment = segments[position] ?? ''
      if (pattern.startsWith('{')) {
        if (segment === '') return null
        params.set(pattern.slice(1, -1), segment)
      } else if (pattern !== segment) return null
    }
    return params
  }
}

/** The table of routes, compiled. Throws when two routes have one method and pattern: our bug. */
export class Router {
  readonly #fixed = new Map<string, Path>()
  readonly #byLength = new Map<number, Path[]>()

  constructor(routes: readonly Route[]) {
    const paths = new Map<string, Path>()
    for (const route of routes) {
      let path = paths.get(route.pattern)
      if (path === undefined) {
        path = new Path(route.pattern)
        paths.set(route.pattern, path)
        if (!route.pattern.includes('{')) this.#fixed.set(route.pattern, path)
        else {
          const length = path.segments.length
          this.#byLength.set(length, [...(this.#byLength.get(length) ?? []), path])
        }
      }
      if (path.routes.has(route.method)) throw new Error(`two routes for ${route.pattern}`)
      path.routes.set(route.method, route)
    }
  }

  /** `method` in upper case; HEAD is answered by GET's route. */
  match(method: string, url: string): Match {
    const fixed = this.#fixed.get(url)
    if (fixed !== undefined) return choose(fixed, method, NO_PARAMS)
    const segments = url.split('/')
    for (const path of this.#byLength.get(segments.length) ?? []) {
      const params = path.read(segments)
      if (params === null) continue
      for (const [name, text] of params) {
        const decoded = decodePath(text)
        if (decoded === null) return { kind: 'malformed' }
        params.set(name, decoded)
      }
      return choose(path, method, params)
    }
    return { kind: 'missing' }
  }
}

function choose(path: Path, method: string, params: ReadonlyMap<string, string>): Match {
  if (method === 'OPTIONS') return { kind: 'options', allow: path.allow }
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const [known, route] of path.routes) {
    if (known === wanted) return { kind: 'route', route, params }
  }
  return { kind: 'wrongMethod', allow: path.allow }
}
