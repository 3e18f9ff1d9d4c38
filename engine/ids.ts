// Identifiers as branded strings, and the letters that stand for venues.

declare const kind: unique symbol
type Branded<Name extends string> = string & { readonly [kind]: Name }

/**
 * Which venue: a letter of a to z, one byte in keys and records of the storage. Which letters are taken says the table
 * of venues, whose rows ascend by letter.
 */
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
/** Every letter that a venue may have, ascending. */
export const VENUE_KEYS: readonly VenueKey[] = [
  ...(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm'] as const),
  ...(['n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'] as const),
]

/**
 * How a venue's addresses say what a market asks. `slug`: words with hyphens and a day
 * ("nfl-dal-phi-2025-09-04"), with a listed start. `ticker`: a series and packed codes
 * ("KXNFLGAME-25NOV02DENHOU-DEN"), whose listed times are those of the end.
 */
export type HandleForm = 'slug' | 'ticker'

/** Whether the first of two venues comes before the other in the table: the order of a pair's sides. */
export function isBefore(one: VenueKey, other: VenueKey): boolean {
  return one < other
}

/** The unified id shown to users: `<venue name>_<native id>`. */
export type MarketId = Branded<'market'>
/** What a venue's messages name: a token, or a side of a market. */
export type OutcomeId = Branded<'outcome'>
/** A market's own id at its venue. */
export type NativeMarketId = Branded<'native market'>
/** An event's own id at its venue. */
export type NativeEventId = Branded<'native event'>
/** Account ids, `acc_…`. */
export type AccountId = Branded<'account'>
/** API key ids, `key_…` (not the key itself). */
export type KeyId = Branded<'key'>
/** Webhook ids, `wh_…`. */
export type WebhookId = Branded<'webhook'>
/** An address of the chain on which wallets trade: 0x and 40 hex digits, lower case. */
export type WalletAddress = Branded<'wallet'>

export const outcomeId = (text: string): OutcomeId => text as OutcomeId
export const nativeMarketId = (text: string): NativeMarketId => text as NativeMarketId
export const nativeEventId = (text: string): NativeEventId => text as NativeEventId
export const accountId = (text: string): AccountId => text as AccountId
export const keyId = (text: string): KeyId => text as KeyId
export const webhookId = (text: string): WebhookId => text as WebhookId

/** An address in any case; null unless it is 0x and 40 hex digits. */
export function walletAddress(text: string): WalletAddress | null {
  return /^0x[0-9a-f]{40}$/i.test(text) ? (text.toLowerCase() as WalletAddress) : null
}

/** The unified id of a market of a platform, as users see it. */
export function marketId(platform: string, native: NativeMarketId): MarketId {
  return `${platform}_${native}` as MarketId
}
