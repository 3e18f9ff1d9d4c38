// Commands and reports of the fan-out bench's child processes, over the `fork` channel.

/** The publishers: our API server, a bare uWebSockets.js app, or the package `ws`. */
export const CONTESTANTS = ['ours', 'bare', 'ws'] as const
export type Contestant = (typeof CONTESTANTS)[number]

export type Encoding = 'json' | 'msgpack'

/** An open-loop plan: tick `n` is due at `startMs + n * intervalMs` whatever happened before. */
export interface Plan {
  /** By {@link sharedMs}. */
  readonly startMs: number
  readonly tickCount: number
  readonly perRound: number
  readonly intervalMs: number
}

export type ServerCommand =
  | {
      readonly kind: 'open'
      readonly encoding: Encoding
      /** The constant message, in Base64; our API server encodes its own. */
      readonly frame: string | null
      /** All messages of a tick are one frame. */
      readonly isBatched: boolean
    }
  | { readonly kind: 'look' }
  | ({ readonly kind: 'publish' } & Plan)

export type ServerReport =
  | {
      readonly kind: 'listening'
      readonly port: number
      /** A message of typical size, in Base64. */
      readonly frame: string
      readonly marketIds: readonly string[]
    }
  | {
      readonly kind: 'looked'
      /** User and system time of the whole process since its start. */
      readonly processorMicros: number
      /** Messages published so far. */
      readonly publishedCount: number
    }

export type LoadCommand =
  | {
      readonly kind: 'connect'
      readonly contestant: Contestant
      readonly encoding: Encoding
      readonly isBatched: boolean
      readonly port: number
      readonly subscriberCount: number
      readonly frame: string
      readonly marketIds: readonly string[]
    }
  | ({ readonly kind: 'expect'; readonly publishedCount: number } & Plan)

export type LoadReport =
  | { readonly kind: 'connected' }
  | { readonly kind: 'expecting' }
  | {
      readonly kind: 'done'
      readonly deliveryCount: number
      /** Deliveries whose contents were compared; the others were only counted. */
      readonly comparedCount: number
      /** From the plan's start to the last delivery. */
      readonly tookMs: number
      /** Histogram of nanoseconds from the planned time, compressed, in Base64. */
      readonly times: string
    }
  | { readonly kind: 'failed'; readonly why: string }

/** Milliseconds of a clock that all processes of a machine share. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
