// Entry point of the client package. Files in this folder may import only each other.

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
export type { ChannelOptions } from './channels.ts'
export type { StreamClient } from './client.ts'
export { crc32 } from './crc32.ts'
export type * from './messages.ts'
export { decodeMessagePack, decodeMessagePackSequence } from './msgpack.ts'
export type { Subscribed, Subscription } from './subscription-handle.ts'
export type { SubscribeRequest } from './subscriptions.ts'

export interface ConnectOptions {
  /** `https://host`, `wss://host`, or the complete address of the stream. */
  readonly url: string
  /** An API key. Alternatives: `accessToken` or `ticket`. */
  readonly apiKey?: string
  readonly accessToken?: string
  /**
   * Requests a ticket before each connection, so that URLs contain no credentials. A rejection with `status` 401 or 403
   * closes the client. Other rejections are retried.
   */
  readonly ticket?: () => Promise<string>
  /** Default: `json`. MessagePack is smaller, and JSON decodes faster. */
  readonly encoding?: 'json' | 'msgpack'
  /** The `WebSocket` of the package `ws`, for runtimes without a global one (Node 20). */
  readonly WebSocket?: SocketConstructor
  /**
   * Whether one frame may contain several messages, which saves work on both sides. Default: true, or false if `decode`
   * is given. The events are the same.
   */
  readonly batch?: boolean
  /** Replaces the MessagePack decoder. Decodes one value and must return 64-bit integers as numbers. */
  readonly decode?: (bytes: Uint8Array) => unknown
  readonly clock?: ClientClock
  readonly random?: Chance
  /** Receives every event in order and synchronously. */
  readonly onEvent?: (event: StreamEvent) => void
}

/**
 * Connects and reconnects until `close()` is called or a reconnect cannot succeed. Throws TypeError if `url` is invalid
 * or no WebSocket is available.
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
