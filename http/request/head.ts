// Reads all request headers in one pass, because the library's lookup by name takes a pass for each name and returns
// only the first line. Reports requests that two HTTP parsers could read differently (request smuggling).

import type { HttpRequest } from 'uWebSockets.js'

/** Headers of proxies whose names do not contain `forwarded`. */
const PROXY_HEADERS: ReadonlySet<string> = new Set([
  'cdn-loop',
  'cf-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'true-client-ip',
  'via',
  'x-azure-clientip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-real-ip',
])

/** A host with an optional port that every HTTP parser reads identically. */
const HOST = /^(?:[\w.~%!$&'()*+;=-]*|\[[\w:.%]+\])(?::\d{0,5})?$/
const LENGTH = /^\d{1,15}$/

/** One instance is reused for all requests. */
export class RequestHead {
  /**
   * `X-API-Key`. Absent headers are ''. For repeated headers, the first line is used. The lines of `cookie`,
   * `acceptEncoding`, `ifNoneMatch` and `forwardedFor` are joined.
   */
  key = ''
  authorization = ''
  origin = ''
  host = ''
  /** `Sec-Fetch-Site`. Browsers send it and scripts cannot set it. */
  fetchSite = ''
  cookie = ''
  /** True if the header of the dashboard's page is present (auth.ts). */
  isDashboard = false
  acceptEncoding = ''
  ifNoneMatch = ''
  forwardedFor = ''
  forwardedProto = ''
  /** True if the request passed through a proxy, trusted or not. */
  isForwarded = false
  /** True if the request announces a body of at least one byte. */
  hasBody = false
  /** Why the request must be rejected and its connection closed. Null: the request is valid. */
  fault: string | null = null
  #hosts = 0
  #lengths = 0
  #codings = 0
  /** Most requests have the same host, so it is validated only once. */
  #validHost = ''

  read(req: HttpRequest): void {
    this.key = ''
    this.authorization = ''
    this.origin = ''
    this.host = ''
    this.fetchSite = ''
    this.cookie = ''
    this.isDashboard = false
    this.acceptEncoding = ''
    this.ifNoneMatch = ''
    this.forwardedFor = ''
    this.forwardedProto = ''
    this.isForwarded = false
    this.hasBody = false
    this.fault = null
    this.#hosts = 0
    this.#lengths = 0
    this.#codings = 0
    req.forEach(this.#take)
    if (this.#codings > 0 && this.#lengths > 0) {
      this.fault = 'a request has Content-Length or Transfer-Encoding, not both'
    }
  }

  /** The library passes names in lower case. */
  readonly #take = (name: string, value: string): void => {
    switch (name) {
      case 'host':
        this.#hosts += 1
        this.host ||= value
        if (this.#hosts > 1) this.fault = 'a request has one Host'
        else if (value !== this.#validHost) this.#validateHost(value)
        return
      case 'x-api-key':
        this.key ||= value
        return
      case 'authorization':
        this.authorization ||= value
        return
      case 'origin':
        this.origin ||= value
        return
      case 'sec-fetch-site':
        this.fetchSite ||= value
        return
      case 'cookie':
        this.cookie = this.cookie === '' ? value : `${this.cookie}; ${value}`
        return
      case 'x-dashboard':
        this.isDashboard = true
        return
      case 'accept-encoding':
        this.acceptEncoding = joined(this.acceptEncoding, value)
        return
      case 'if-none-match':
        this.ifNoneMatch = joined(this.ifNoneMatch, value)
        return
      case 'content-length':
        this.#lengths += 1
        this.hasBody ||= value !== '0'
        if (this.#lengths > 1) this.fault = 'a request has one Content-Length'
        else if (!LENGTH.test(value)) this.fault = 'Content-Length is a number of bytes'
        return
      case 'transfer-encoding':
        this.#codings += 1
        this.hasBody = true
        if (this.#codings > 1) this.fault = 'a request has one Transfer-Encoding'
        else if (value !== 'chunked') this.fault = 'the Transfer-Encoding that is read is chunked'
        return
      case 'x-forwarded-proto':
        this.isForwarded = true
        this.forwardedProto ||= value.trim().toLowerCase()
        return
      case 'x-forwarded-for':
        this.isForwarded = true
        this.forwardedFor = joined(this.forwardedFor, value)
        return
      default:
        if (name.includes('forwarded') || PROXY_HEADERS.has(name)) this.isForwarded = true
    }
  }

  #validateHost(value: string): void {
    if (HOST.test(value)) this.#validHost = value
    else this.fault = 'Host is a name or an address, and a port'
  }
}

const joined = (list: string, line: string): string => (list === '' ? line : `${list},${line}`)
