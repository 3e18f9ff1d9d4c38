// Identifiers as branded strings, and the one table that names the venues to the outside.
// Inside, a venue is the letter 'a' (Polymarket's protocols) or 'b' (Kalshi's); what users see
// (`venue_a` or a configured name) exists only through VenueNames. Upholds ID1, ID2.

declare const kind: unique symbol
type Branded<Name extends string> = string & { readonly [kind]: Name }

/** Which venue: 'a' speaks Polymarket's wire protocols, 'b' Kalshi's. */
export type VenueKey = 'a' | 'b'
export const VENUE_KEYS: readonly VenueKey[] = ['a', 'b']

/** The unified id shown to users: `<venue name>_<native id>`. */
export type MarketId = Branded<'market'>
/** What a venue's messages name: a token id (venue a) or a market ticker (venue b: its Yes). */
export type OutcomeId = Branded<'outcome'>
/** A market's own id at its venue: condition id (a) or ticker (b). */
export type NativeMarketId = Branded<'native market'>
/** An event's own id at its venue: event slug (a) or event ticker (b). */
export type NativeEventId = Branded<'native event'>
/** Account ids, `acc_…`. */
export type AccountId = Branded<'account'>
/** API key ids, `key_…` (not the key itself). */
export type KeyId = Branded<'key'>
/** Webhook ids, `wh_…`. */
export type WebhookId = Branded<'webhook'>
/** An address of venue a's chain: 0x and 40 hex digits, lower case. */
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

/** The names under which users see the venues; also the id prefixes and path segments. */
export class VenueNames {
  readonly a: string
  readonly b: string

  /** Names are validated by the configuration: `[a-z][a-z0-9_-]{0,31}`, and they differ. */
  constructor(names: { a: string; b: string }) {
    this.a = names.a
    this.b = names.b
  }

  /** The `platform` value of a venue. */
  platform(venue: VenueKey): string {
    return venue === 'a' ? this.a : this.b
  }

  /** The venue of a `platform` value; null for an unknown one. */
  venue(platform: string): VenueKey | null {
    if (platform === this.a) return 'a'
    return platform === this.b ? 'b' : null
  }

  /** The unified id of a market. */
  marketId(venue: VenueKey, native: NativeMarketId): MarketId {
    return `${this.platform(venue)}_${native}` as MarketId
  }

  /**
   * Splits a unified id at the configured prefix, never at the first underscore; case-insensitive.
   * Null when it begins with neither prefix. When one name begins with the other, the longer wins.
   */
  split(id: string): { venue: VenueKey; native: string } | null {
    const lower = id.toLowerCase()
    let best: { venue: VenueKey; native: string } | null = null
    let bestLength = -1
    for (const venue of VENUE_KEYS) {
      const prefix = `${this.platform(venue)}_`
      if (prefix.length > bestLength && lower.startsWith(prefix)) {
        best = { venue, native: id.slice(prefix.length) }
        bestLength = prefix.length
      }
    }
    return best
  }
}
