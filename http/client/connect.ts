// The entry of the package's client: `connect()` and every type its user meets. Runs unchanged in Node
// and, once its types are stripped, in a browser: nothing here or below imports anything but its
// siblings.

import {
  ambientChance,
  ambientClock,
  ambientSocket,
  type Chance,
  type ClientClock,
  type SocketConstructor,
} from './ambient.ts'
import { StreamClient } from './client.ts'
import type { StreamEvent } from './messages.ts'
import { decodeMessagePackSequence } from './msgpack.ts'

export type { Chance, ClientClock, SocketConstructor, SocketLike } from './ambient.ts'
export type { BookView, Level } from './book.ts'
export type { StreamClient } from './client.ts'
export { crc32 } from './crc32.ts'
export type * from './messages.ts'
export { decodeMessagePack, decodeMessagePackSequence } from './msgpack.ts'
export type { Subscribed, Subscription } from './subscription-handle.ts'
export type { ChannelOptions } from './subscription-keys.ts'
export type { SubscribeRequest } from './subscriptions.ts'

/** Where and how to connect. */
export interface ConnectOptions {
  /** The server: `https://host`, `wss://host`, or the stream's whole address. */
  readonly url: string
  /** An API key; or give `accessToken` or `ticket`. */
  readonly apiKey?: string
  /** The token of a log-in. */
  readonly accessToken?: string
  /**
   * Asks for a ticket before each connection, so that neither key nor token stands in an address. One that rejects is
   * tried again later; with a `status` of 401 or 403 the client is closed.
   */
  readonly ticket?: () => Promise<string>
  /** MessagePack is smaller; JSON is decoded faster. JSON unless this says otherwise. */
  readonly encoding?: 'json' | 'msgpack'
  /** The `WebSocket` of the package `ws`, where the surroundings have none (Node 20). */
  readonly WebSocket?: SocketConstructor
  /** Whether all messages of a turn of the server come in one frame, which costs both sides less; yes unless this says
   * otherwise, or `decode` is given. Events are the same. */
  readonly batch?: boolean
  /** Another MessagePack decoder, of one value; it must give 64-bit integers as numbers. */
  readonly decode?: (bytes: Uint8Array) => unknown
  readonly clock?: ClientClock
  readonly random?: Chance
  /** Every event, in order, in the turn in which it came. */
  readonly onEvent?: (event: StreamEvent) => void
}

/**
 * Connects, and stays connected until `close()` or until coming back cannot succeed. Throws TypeError
 * for a bad address, and when there is no WebSocket.
 */
export function connect(options: ConnectOptions): StreamClient {
  const WebSocket = options.WebSocket ?? ambientSocket()
  if (WebSocket === null) {
    throw new TypeError('no WebSocket here: give the one of the package `ws` as WebSocket')
  }
  const { decode } = options
  return new StreamClient({
    url: address(options),
    ticket: options.ticket ?? null,
    WebSocket,
    clock: options.clock ?? ambientClock,
    chance: options.random ?? ambientChance,
    decode: decode === undefined ? decodeMessagePackSequence : (bytes) => [decode(bytes)],
    onEvent: options.onEvent ?? null,
  })
}

function address(options: ConnectOptions): string {
  const { url, apiKey, accessToken, encoding, decode, batch = decode === undefined } = options
  const parsed = new URL(url)
  if (!/^(https?|wss?):$/.test(parsed.protocol)) {
    throw new TypeError(`url is ${url}; it accepts http, https, ws and wss`)
  }
  parsed.protocol = parsed.protocol.replace('http', 'ws')
  if (parsed.pathname === '/') parsed.pathname = '/v1/ws'
  if (apiKey !== undefined) parsed.searchParams.set('api_key', apiKey)
  if (accessToken !== undefined) parsed.searchParams.set('access_token', accessToken)
  if (encoding === 'msgpack') parsed.searchParams.set('encoding', 'msgpack')
  if (batch) parsed.searchParams.set('batch', 'on')
  return parsed.toString()
}
