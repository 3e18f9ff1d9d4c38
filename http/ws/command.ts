import type { ChannelName, ChannelVariant } from './fan-out/channel-variants.ts'

export const ID_CHARACTERS_MAX = 64

export type StreamErrorCode =
  | 'PARSE_ERROR'
  | 'UNKNOWN_ACTION'
  | 'UNKNOWN_CHANNEL'
  | 'UNKNOWN_MARKET'
  | 'INVALID_FILTER'
  | 'SUBSCRIPTION_LIMIT'
  | 'RATE_LIMITED'
  | 'MESSAGE_TOO_LARGE'

/**
 * The client's id of a command: a text of at most {@link ID_CHARACTERS_MAX} characters or a finite number. Null if the
 * id is absent or invalid.
 */
export type CommandId = string | number | null

export type Target =
  | { readonly kind: 'all' }
  | { readonly kind: 'venue'; readonly platform: string }
  | {
      readonly kind: 'markets'
      readonly marketIds: readonly string[]
      readonly eventSlugs: readonly string[]
    }

export interface Since {
  readonly epoch: string
  readonly offset: number
}

export type Command =
  | {
      readonly kind: 'subscribe'
      readonly id: CommandId
      /** One variant per channel. */
      readonly variants: readonly ChannelVariant[]
      readonly target: Target
      readonly since: Since | null
    }
  | {
      readonly kind: 'unsubscribe'
      readonly id: CommandId
      readonly channels: readonly ChannelName[]
      readonly target: Target
    }
  | { readonly kind: 'snapshot'; readonly id: CommandId; readonly marketIds: readonly string[] }
  | { readonly kind: 'list'; readonly id: CommandId }
  | { readonly kind: 'ping'; readonly id: CommandId }
  | ReplayCommand

/** Commands that only replays accept. */
export type ReplayCommand =
  | { readonly kind: 'pause' | 'resume'; readonly id: CommandId }
  | { readonly kind: 'seek'; readonly id: CommandId; readonly toMs: number }

export interface Refusal {
  readonly kind: 'refused'
  readonly id: CommandId
  readonly code: StreamErrorCode
  readonly message: string
}
