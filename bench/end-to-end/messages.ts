// Commands and reports of the end-to-end bench's child processes, over the `fork` channel.

/** The servers between venue and subscribers. */
export const SIDES = ['ours', 'relay'] as const
export type SideName = (typeof SIDES)[number]

/** Frame `from + n` is due at `startMs + n * 1000 / perSecond`, whatever happened before. */
export interface SendPlan {
  /** By sharedMs (bench/fan-out/messages.ts). */
  readonly startMs: number
  readonly perSecond: number
  readonly from: number
  readonly to: number
}

/** `side`: the name of the connected server. */
export type VenueCommand =
  | { readonly kind: 'open'; readonly marketsPerVenue: number; readonly frameCount: number }
  /** Sends every market's initial book at once. */
  | { readonly kind: 'snapshots'; readonly side: string }
  | ({ readonly kind: 'send'; readonly side: string } & SendPlan)
  | { readonly kind: 'truth' }

export type VenueReport =
  | { readonly kind: 'listening'; readonly port: number; readonly frameCount: number }
  | { readonly kind: 'sent' }
  | { readonly kind: 'truth'; readonly books: readonly string[] }

export type ServerCommand =
  | {
      readonly kind: 'open'
      readonly venuePort: number
      readonly dataDir: string
      readonly marketsPerVenue: number
      /** Environment variables of the cluster log that it writes; without any it runs alone. */
      readonly nats?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'look' }

export type ServerReport =
  | { readonly kind: 'listening'; readonly port: number; readonly apiKey: string | null }
  | {
      readonly kind: 'looked'
      readonly processorMicros: number
      /** Frames received from the venue so far. */
      readonly frameCount: number
      /** Batches that a cluster's engine wrote into the log. */
      readonly batchCount: number
      readonly batchBytes: number
    }

export type LoadCommand =
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly apiKey: string | null
      readonly subscriberCount: number
    }
  | ({ readonly kind: 'expect' } & SendPlan)
  /** All frames were sent: waits until no more messages arrive. */
  | { readonly kind: 'finish' }
  /** The books as the first subscriber rebuilt them. */
  | { readonly kind: 'books' }

export type LoadReport =
  | { readonly kind: 'connected' }
  | { readonly kind: 'expecting' }
  | {
      readonly kind: 'finished'
      /** Over all subscribers. */
      readonly deliveryCount: number
      /** From `expect` until no more messages arrived. */
      readonly processorMicros: number
      /** Times of one delivery in ten, of frames that contain their index; compressed, in Base64. */
      readonly times: string
      /** Books sent again because a subscriber fell behind. */
      readonly resyncCount: number
    }
  | { readonly kind: 'books'; readonly books: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string }

/** The time of a frame is this plus its index in the load, in milliseconds. */
const FRAME_ZERO_MS = Date.UTC(2026, 10, 20, 12, 0, 1)

/** The index of the frame with this time; null if it is not a frame's time. */
export function frameIndex(timeMs: number): number | null {
  const index = timeMs - FRAME_ZERO_MS
  return index >= 0 && Number.isInteger(index) ? index : null
}

/** Replaces the frame's time by its index; frames whose time has no milliseconds are unchanged. */
export function numbered(text: string, index: number): string {
  const timeMs = FRAME_ZERO_MS + index
  return text
    .replace(/"timestamp":"\d{13}"/g, `"timestamp":"${timeMs}"`)
    .replace(/"ts_ms":\d{13}/, `"ts_ms":${timeMs}`)
}
