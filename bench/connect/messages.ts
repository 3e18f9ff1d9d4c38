// Commands and reports of the connect bench's child processes, over the `fork` channel.

import type { EngineAddress } from '../quiet-engine.ts'

/** Channels of each client. */
export const CHANNELS = ['orderbook', 'trades'] as const
export type Channel = (typeof CHANNELS)[number]

/** The published offsets, ascending: by channel, then in the order of the markets. */
export type Published = Readonly<Record<Channel, readonly (readonly number[])[]>>

export type ServerCommand =
  | {
      readonly kind: 'open'
      readonly dataDir: string
      readonly marketCount: number
      /** The previous server on this folder, to which its clients connect; null if there was none. */
      readonly existing: EngineAddress | null
    }
  /** Publishes a book change or a trade at each planned moment until stopped. */
  | { readonly kind: 'publish'; readonly perSecond: number }
  | { readonly kind: 'stop' }
  | { readonly kind: 'look' }

export type ServerReport =
  | {
      readonly kind: 'listening'
      readonly port: number
      readonly apiKey: string
      readonly marketIds: readonly string[]
    }
  | { readonly kind: 'publishing' }
  | { readonly kind: 'stopped'; readonly published: Published }
  | {
      readonly kind: 'looked'
      /** User and system time of the whole process since its start. */
      readonly processorMicros: number
      /** Open streams. */
      readonly streamCount: number
      readonly residentBytes: number
    }

export type LoadCommand =
  /** Opens new clients, which retry until a server listens. */
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly apiKey: string
      readonly marketIds: readonly string[]
      readonly clientCount: number
      /** The first client's number; it determines the markets of each client. */
      readonly firstClient: number
    }
  /** Resets every connection. */
  | { readonly kind: 'cut' }
  /** Reconnects every client from its position. */
  | { readonly kind: 'resume' }
  /** Waits until every client has all messages published since it connected. */
  | { readonly kind: 'compare'; readonly published: Published }

export type LoadReport =
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'connected'
      readonly snapshotCount: number
      /** Nanoseconds per client from the first byte to the last `synced`; compressed, in Base64. */
      readonly times: string
    }
  | {
      readonly kind: 'resumed'
      /** Replayed messages, as the server counts them. */
      readonly replayedCount: number
      /** From the first byte of the new connection to its last `resumed`. */
      readonly times: string
    }
  | {
      readonly kind: 'compared'
      /** Messages due to all of these clients, which they received. */
      readonly messageCount: number
    }
  | { readonly kind: 'failed'; readonly why: string }
