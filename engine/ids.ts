declare const kind: unique symbol
type Branded<Name extends string> = string & { readonly [kind]: Name }

/** Key of a venue: a letter from a to z, stored as one byte. The venue table assigns the letters in ascending order. */
export type VenueKey =
  | 'a'
  | 'b'
  | 'c'
  | 'd'
  | 'e'
  | 'f'
  | 'g'
  | 'h'
  | 'i'
  | 'j'
  | 'k'
  | 'l'
  | 'm'
  | Later
type Later = 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z'
export const VENUE_KEYS: readonly VenueKey[] = [
  ...(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'] as const),
  ...(['n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'] as const),
]

/**
 * What a venue's market identifiers contain.
 * - `slug`: words with hyphens and a day ("nfl-dal-phi-2025-09-04"). The venue lists start times.
 * - `ticker`: a series and packed codes ("KXNFLGAME-25NOV02DENHOU-DEN"). The venue lists end times.
 */
export type HandleForm = 'slug' | 'ticker'

/** Whether the first venue precedes the second in the venue table. Determines the order of the two markets of a pair. */
export function isBefore(one: VenueKey, other: VenueKey): boolean {
  return one < other
}

/** The public id: `<venue name>_<native id>`. */
export type MarketId = Branded<'market'>
/** The id in a venue's messages: a token, or a side of a market. */
export type OutcomeId = Branded<'outcome'>
export type NativeMarketId = Branded<'native market'>
export type NativeEventId = Branded<'native event'>
/** `acc_…` */
export type AccountId = Branded<'account'>
/** `key_…`, not the key itself. */
export type KeyId = Branded<'key'>
/** `wh_…` */
export type WebhookId = Branded<'webhook'>
/** An address on the wallets' chain: 0x and 40 hex digits, lower case. */
export type WalletAddress = Branded<'wallet'>

export const outcomeId = (text: string): OutcomeId => text as OutcomeId
export const nativeMarketId = (text: string): NativeMarketId => text as NativeMarketId
export const nativeEventId = (text: string): NativeEventId => text as NativeEventId
export const accountId = (text: string): AccountId => text as AccountId
export const keyId = (text: string): KeyId => text as KeyId
export const webhookId = (text: string): WebhookId => text as WebhookId

/** Accepts any case. Null unless the text is 0x and 40 hex digits. */
export function walletAddress(text: string): WalletAddress | null {
  return /^0x[0-9a-f]{40}$/i.test(text) ? (text.toLowerCase() as WalletAddress) : null
}

export function marketId(platform: string, native: NativeMarketId): MarketId {
  return `${platform}_${native}` as MarketId
}
