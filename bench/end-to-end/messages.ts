// The end-to-end bench's commands to its child processes and their reports, over the channel that `fork` gives.

/** What stands between venue and subscribers. */
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

/** `side`: the name of the server that connected. */
export type VenueCommand =
  | { readonly kind: 'open'; readonly marketsPerVenue: number; readonly frameCount: number }
  /** Every market's book as it begins, at once. */
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
      /** It writes the log of a cluster as these variables of the environment say; without any it is alone. */
      readonly nats?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'look' }

export type ServerReport =
  | { readonly kind: 'listening'; readonly port: number; readonly apiKey: string | null }
  | {
      readonly kind: 'looked'
      readonly processorMicros: number
      /** Frames that came from the venue so far. */
      readonly frameCount: number
      /** What a cluster's engine wrote into the log. */
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
  /** Everything was sent: waits until nothing comes any more. */
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
      /** From `expect` until nothing came any more. */
      readonly processorMicros: number
      /** Times of one delivery in ten of frames that bear their number; compressed, in Base64. */
      readonly times: string
      /** Books sent anew because a subscriber fell behind. */
      readonly resyncCount: number
    }
  | { readonly kind: 'books'; readonly books: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string }

/** The bench's frames bear their place in the load in their time, a millisecond each from here on. */
const FRAME_ZERO_MS = Date.UTC(2026, 10, 20, 12, 0, 1)

/** The place of the frame of this time; null for another's. */
export function frameIndex(timeMs: number): number | null {
  const index = timeMs - FRAME_ZERO_MS
  return index >= 0 && Number.isInteger(index) ? index : null
}

/** The frame with its place for its time; frames whose time has no milliseconds stay as they are. */
export function numbered(text: string, index: number): string {
  const timeMs = FRAME_ZERO_MS + index
  return text
    .replace(/"timestamp":"\d{13}"/g, `"timestamp":"${timeMs}"`)
    .replace(/"ts_ms":\d{13}/, `"ts_ms":${timeMs}`)
}
