// A request's headers, read in one walk: the library gives a name's first line only, and each look-up by name is a
// walk of its own. What two readers could take for different requests (request smuggling) is named as a fault here.

import type { HttpRequest } from 'uWebSockets.js'
import type { Credentials } from './auth.ts'

/** Headers without `forwarded` in their name by which a proxy says that it passes on another's request. */
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

/** A name or address, and a port: nothing in which two readers could see two hosts. */
const HOST = /^(?:[\w.~%!$&'()*+;=-]*|\[[\w:.%]+\])(?::\d{0,5})?$/
const LENGTH = /^\d{1,15}$/

/** Of the request that was read last; made once and read into for every request. */
export class RequestHead implements Credentials {
  /** `X-API-Key`; '' for none, as with all others. Of a repeated header, the first line. */
  key = ''
  authorization = ''
  origin = ''
  host = ''
  /** `Sec-Fetch-Site`, which a browser sends and no script can write. */
  fetchSite = ''
  /** All lines of `Cookie` as the one list that they are. */
  cookie = ''
  /** It has the header of the dashboard's own page (dashboard-request.ts). */
  isDashboard = false
  /** All lines of `Accept-Encoding` as the one list that they are. */
  acceptEncoding = ''
  /** All lines of `If-None-Match` as the one list that they are. */
  ifNoneMatch = ''
  /** All lines of `X-Forwarded-For` as the one list that they are. */
  forwardedFor = ''
  /** `X-Forwarded-Proto` in lower case. */
  forwardedProto = ''
  /** Some proxy passed the request on, trusted or not. */
  isForwarded = false
  /** A body of more than no bytes is announced. */
  hasBody = false
  /** Why the request must be refused and its connection closed; null: nothing is wrong. */
  fault: string | null = null
  #hosts = 0
  #lengths = 0
  #codings = 0
  /** Nearly all requests name the same host, whose form is judged once. */
  #validHost = ''

  /** Reads all headers; `req` is not kept. */
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

  /** One line; the library gives names in lower case. */
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

/** Lines of one list. */
const joined = (list: string, line: string): string => (list === '' ? line : `${list},${line}`)
