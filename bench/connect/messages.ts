// The connect bench's commands to its child processes and their reports, over the channel that `fork` gives.

import type { EngineAddress } from '../quiet-engine.ts'

/** The channels that every client follows. */
export const CHANNELS = ['orderbook', 'trades'] as const
export type Channel = (typeof CHANNELS)[number]

/** The offsets that were published, ascending: by channel, then in the order of the markets. */
export type Published = Readonly<Record<Channel, readonly (readonly number[])[]>>

export type ServerCommand =
  | {
      readonly kind: 'open'
      readonly dataDir: string
      readonly marketCount: number
      /** Of the server before it on this folder, where its clients wait; null where there was none. */
      readonly known: EngineAddress | null
    }
  /** Publishes a change of a book or a trade at each planned moment, until stopped. */
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
      /** Streams that are open. */
      readonly streamCount: number
      readonly residentBytes: number
    }

export type LoadCommand =
  /** New clients; where nobody listens yet they try again until somebody does. */
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly apiKey: string
      readonly marketIds: readonly string[]
      readonly clientCount: number
      /** The number of the first, which says what each follows. */
      readonly firstClient: number
    }
  /** Resets every connection. */
  | { readonly kind: 'cut' }
  /** Every client comes back with the position that it has. */
  | { readonly kind: 'resume' }
  /** Waits until every client has all that was published since it came. */
  | { readonly kind: 'compare'; readonly published: Published }

export type LoadReport =
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'connected'
      readonly snapshotCount: number
      /** Each client's nanoseconds from its first byte to its last `synced`; compressed, in Base64. */
      readonly times: string
    }
  | {
      readonly kind: 'resumed'
      /** Messages that were sent again, as the server counts them. */
      readonly replayedCount: number
      /** From the first byte of the new connection to its last `resumed`. */
      readonly times: string
    }
  | {
      readonly kind: 'compared'
      /** Messages that had to come to all of these clients, and did. */
      readonly messageCount: number
    }
  | { readonly kind: 'failed'; readonly why: string }
