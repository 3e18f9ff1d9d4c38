// What a command of a client says once it is read, and why one is refused.

import type { ChannelName, ChannelVariant } from './fan-out/channel-variants.ts'

/** Characters of a command's id, at most. */
export const ID_CHARACTERS_MAX = 64

/** Why a command is refused. */
export type StreamErrorCode =
  | 'PARSE_ERROR'
  | 'UNKNOWN_ACTION'
  | 'UNKNOWN_CHANNEL'
  | 'UNKNOWN_MARKET'
  | 'INVALID_FILTER'
  | 'SUBSCRIPTION_LIMIT'
  | 'RATE_LIMITED'
  | 'MESSAGE_TOO_LARGE'

/** What a client calls its command: at most {@link ID_CHARACTERS_MAX} characters or a finite number; null when it
 * did not, or called it anything else. */
export type CommandId = string | number | null

/** Which markets a command means. */
export type Target =
  | { readonly kind: 'all' }
  | { readonly kind: 'venue'; readonly platform: string }
  | {
      readonly kind: 'markets'
      readonly marketIds: readonly string[]
      readonly eventSlugs: readonly string[]
    }

/** A client's position in a channel. */
export interface Since {
  readonly epoch: string
  readonly offset: number
}

/** What a client asks for. */
export type Command =
  | {
      readonly kind: 'subscribe'
      readonly id: CommandId
      /** One a channel, with the options that the command chose. */
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

/** A command that is not carried out. */
export interface Refusal {
  readonly kind: 'refused'
  readonly id: CommandId
  readonly code: StreamErrorCode
  readonly message: string
}
