// Reads all request headers in one pass: the library's lookup by name takes a pass for each name and returns only the
// first line. A request that two HTTP parsers could read differently (request smuggling) is reported as a fault.

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

/** A name or address with an optional port that every HTTP parser reads as the same host. */
const HOST = /^(?:[\w.~%!$&'()*+;=-]*|\[[\w:.%]+\])(?::\d{0,5})?$/
const LENGTH = /^\d{1,15}$/

/** The headers of the latest request. One instance is reused for all requests. */
export class RequestHead {
  /** `X-API-Key`. Absent headers are ''. Of a repeated header, the first line is used unless a field says otherwise. */
  key = ''
  authorization = ''
  origin = ''
  host = ''
  /** `Sec-Fetch-Site`. Browsers send it and scripts cannot set it. */
  fetchSite = ''
  /** All lines of `Cookie`, joined. */
  cookie = ''
  /** The header of the dashboard's own page is present (auth.ts). */
  isDashboard = false
  /** All lines of `Accept-Encoding`, joined. */
  acceptEncoding = ''
  /** All lines of `If-None-Match`, joined. */
  ifNoneMatch = ''
  /** All lines of `X-Forwarded-For`, joined. */
  forwardedFor = ''
  /** `X-Forwarded-Proto` in lower case. */
  forwardedProto = ''
  /** The request passed through a proxy, whether trusted or not. */
  isForwarded = false
  /** The request announces a body of at least one byte. */
  hasBody = false
  /** Why the request must be rejected and its connection closed. Null: the request is valid. */
  fault: string | null = null
  #hosts = 0
  #lengths = 0
  #codings = 0
  /** The last valid host. Most requests have the same host, so it is validated only once. */
  #validHost = ''

  /** Reads all headers. Does not keep a reference to `req`. */
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

  /** Called for each header line. The library passes names in lower case. */
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
