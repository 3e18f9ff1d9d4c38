// Checks the response to a mutated request: no 5xx, a documented shape, and no credential of the request in the
// response.

import { Router } from '../../../http/request/router.ts'
import type { RawAnswer } from '../clients/raw-http.ts'
import { ACCOUNT, type DocumentedServer } from '../rigs/documented-server.ts'
import { type FuzzRequest, MARK, PASSWORD } from '../worlds/fuzz-requests.ts'
import { OpenapiValidator } from './openapi-validator.ts'

/** The library's own responses to invalid HTTP. */
const LIBRARY_STATUSES: readonly number[] = [400, 431, 505]

export class FuzzChecker {
  readonly #validator: OpenapiValidator
  readonly #router: Router

  constructor(server: DocumentedServer) {
    this.#validator = new OpenapiValidator(server.document)
    this.#router = new Router(server.allRoutes)
  }

  /** Returns the problem as a sentence, or null. */
  problem(request: FuzzRequest, answer: RawAnswer | null): string | null {
    if (answer === null) return request.isBroken ? null : 'closed without an answer'
    const { status, headers } = answer
    if (status >= 500) return LIBRARY_STATUSES.includes(status) ? null : `${status}`
    const secret = this.#secret(request, answer)
    if (secret !== null) return secret
    if (!headers.has('x-ratelimit-limit')) {
      if (status === 101 || (request.isBroken && LIBRARY_STATUSES.includes(status))) return null
      return `${status} without our headers`
    }
    return this.#shape(request, answer)
  }

  /** Credentials and passwords must not appear anywhere. Other parts of the request must not appear in headers. */
  #secret(request: FuzzRequest, { status, head, body }: RawAnswer): string | null {
    // This header repeats parameter names, percent-encoded.
    const others = head.replace(/^x-unknown-parameters: [\w.!~*'()%",+ -]{1,900}$/im, '')
    if (others.includes(MARK) || /^(x-injected|set-cookie):/im.test(others))
      return 'the request is in a header'
    const isSession = status < 300 && request.target.startsWith('/v1/auth/')
    const all = `${head}\n${body}`
    for (const secret of [`${ACCOUNT}-key`, PASSWORD, ...(isSession ? [] : [`${ACCOUNT}-token`])]) {
      if (all.includes(secret)) return `${secret} is said again: ${body.slice(0, 200)}`
    }
    return null
  }

  /** A route must respond as documented. Any other path must be rejected. */
  #shape({ method, target, isBroken }: FuzzRequest, answer: RawAnswer): string | null {
    const { status, body } = answer
    const match = this.#router.match(method, target.split('?')[0] ?? '')
    if (match.kind === 'route') {
      const { pattern, method: own, document } = match.route
      if (document.isListed === false) return status < 400 || isRefusal(answer) ? null : `${status}`
      const problem = this.#validator.problem({
        ...answer,
        method: own,
        pattern,
        isHead: method === 'HEAD',
      })
      // The server may parse a broken request line as a different request, so any rejection is valid.
      return problem !== null && isBroken && isRefusal(answer) ? null : problem
    }
    // A rejected HEAD request has no body to check.
    const isRefused = isRefusal(answer) || (method === 'HEAD' && status === 400)
    if (isBroken && isRefused) return null
    if (match.kind === 'options') return status === 204 && body === '' ? null : `OPTIONS ${status}`
    const wanted = { missing: 404, wrongMethod: 405, malformed: 400 }[match.kind]
    if (status !== wanted) return `${status} instead of ${wanted}`
    return method === 'HEAD' || isRefusal(answer) ? null : `not a refusal: ${body.slice(0, 200)}`
  }
}

/** The body must be exactly `{"detail": string}`. */
function isRefusal({ status, body }: RawAnswer): boolean {
  if (status < 400 || !body.startsWith('{')) return false
  const value: unknown = JSON.parse(body)
  if (typeof value !== 'object' || value === null) return false
  const detail: unknown = Reflect.get(value, 'detail')
  return Object.keys(value).join() === 'detail' && (typeof detail === 'string' || status === 422)
}
