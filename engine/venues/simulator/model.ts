// Types of the simulated world, shared by both simulated venues. All prices are for the first outcome.

import type { BookSide, Level, LevelChange, TradeSide } from '../../events.ts'
import type { ChangeName, FaultName } from '../../fault-names.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from '../../units.ts'

/** `a` uses Polymarket's protocols, `b` Kalshi's. */
export type SimVenue = 'a' | 'b'
export const SIM_VENUES: readonly SimVenue[] = ['a', 'b']

export type SimTopic = 'politics' | 'economics' | 'crypto' | 'weather' | 'culture' | 'sports'
export type SimSport = 'nfl' | 'nba' | 'mlb' | 'nhl' | 'cfb' | 'cbb' | 'pga' | 'tennis'

/**
 * How the two listings of a question differ. All kinds except `same` are traps, which a matcher must not match as
 * equal.
 */
export type SimPairKind =
  | 'same'
  | 'other_date'
  | 'other_threshold'
  | 'opposite_side'
  | 'other_rules'

/** Each venue has its own codes for a game. */
export interface SimGame {
  readonly sport: SimSport
  /** Polymarket's league slug: nfl, nba, atp, wta, pga … */
  readonly league: string
  readonly startMs: TimeMs
  /** The US Eastern date of the game, YYYY-MM-DD. */
  readonly date: string
  /** 2 for the second game of the same teams on a day. Otherwise 1 or absent. */
  readonly number?: 1 | 2
  readonly away: SimTeam
  readonly home: SimTeam
}

export interface SimTeam {
  readonly name: string
  /** City or school: "Cincinnati". */
  readonly location: string
  /** Nickname: "Bengals" (a surname in tennis and golf). */
  readonly nickname: string
  /** Lower case, as in Polymarket's slugs. */
  readonly polymarketCode: string
  /** Upper case, as in Kalshi's tickers. */
  readonly kalshiCode: string
}

export interface SimEvent {
  readonly venue: SimVenue
  /** Integer id (Gamma's `id`). */
  readonly number: number
  /** Slug at venue a, event ticker at venue b. */
  readonly nativeId: string
  /** Series slug at venue a, series ticker at venue b. */
  readonly series: string
  readonly seriesTitle: string
  readonly title: string
  readonly subtitle: string
  readonly description: string
  /** The venue's own category ("Politics"; "Climate and Weather" at Kalshi). */
  readonly category: string
  readonly tags: readonly string[]
  readonly topic: SimTopic
  readonly isMutuallyExclusive: boolean
  readonly createdMs: TimeMs
  readonly endMs: TimeMs
  readonly game: SimGame | null
  readonly markets: SimMarket[]
}

/**
 * unopened: announced, not trading yet. open: trading. closed: trading has ended, without a result. determined: the
 * result is known, and the payout is pending. resolved: final.
 */
export type SimStatus = 'unopened' | 'open' | 'closed' | 'determined' | 'resolved'

export interface SimListing {
  readonly venue: SimVenue
  /** Index among the markets of the venue, from 0 without gaps. */
  readonly index: number
  /** Integer id (Gamma's `id`), unique per venue and run. */
  readonly number: number
  /**
   * Condition id (0x + 64 hex) at venue a, ticker at venue b. A protocol v2 id has 31 bytes. It is padded with 00 here
   * and by all hosts of venue a except Gamma.
   */
  readonly nativeId: string
  /** Protocol v2 of venue a: tokens are position ids. Always false at venue b. */
  readonly isV2: boolean
  /** Key from which probabilities are drawn, equal under both protocol versions. */
  readonly chanceKey: string
  /** Kalshi's `market_id`. */
  readonly uuid: string
  readonly slug: string
  /** At venue a the two token ids, or position ids, in decimal. At venue b `<ticker>:yes` and `<ticker>:no`. */
  readonly tokens: readonly [string, string]
  /** ["Yes","No"], or the two teams at venue a. */
  readonly outcomes: readonly [string, string]
  readonly question: string
  /** Polymarket's groupItemTitle, Kalshi's yes_sub_title. */
  readonly shortTitle: string
  readonly noShortTitle: string
  /** Polymarket's description, Kalshi's rules_primary. */
  readonly rules: string
  /** Kalshi's rules_secondary. Empty at venue a. */
  readonly rulesSecondary: string
  readonly strike: {
    readonly type:
      | 'greater'
      | 'greater_or_equal'
      | 'less'
      | 'less_or_equal'
      | 'between'
      | 'structured'
    readonly floor: number | null
    readonly cap: number | null
  } | null
  /** Polymarket's sportsMarketType ("moneyline", "spreads", "totals"). Null: not a game market. */
  readonly sportsMarketType: string | null
  /** Spread or total line, otherwise null. */
  readonly line: number | null
  readonly createdMs: TimeMs
  readonly openMs: TimeMs
  readonly closeMs: TimeMs
  readonly determineMs: TimeMs
  /** Time when the result becomes final, at or after determineMs. */
  readonly resolveMs: TimeMs
  /** 1, 0, or one half if void, for the first outcome. Must not be visible before determineMs. */
  readonly payout: PriceMicros
  /** Identifies the underlying question. Equal on both venues for pairs, including traps. */
  readonly questionKey: string
  /** The question's listing on the other venue, if any, and its relation. */
  readonly pair: { readonly otherNativeId: string; readonly kind: SimPairKind } | null
  /** Activity relative to the average of 1. A few markets have most of the activity. */
  readonly activity: number
}

export interface SimTrade {
  /** Kalshi's trade_id: a UUID. */
  readonly id: string
  /** 0x + 64 hex. Several fills of one order share the hash. */
  readonly txHash: string
  readonly market: SimMarket
  /** The outcome that the taker traded. `price` is its price. A No purchase at Kalshi has outcomeIndex 1. */
  readonly outcomeIndex: 0 | 1
  readonly side: TradeSide
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly atMs: TimeMs
  readonly taker: SimWallet
  readonly makers: readonly { readonly wallet: SimWallet; readonly size: SizeMicros }[]
  /** True: rows show a price that differs slightly from the exact one. Default: true if the hash ends in 0. */
  readonly isBesideTick?: boolean
}

export interface SimWallet {
  readonly address: string
  readonly name: string
  readonly pseudonym: string
}

/** Row kinds of a wallet's activity in the Data API. */
export type SimWalletEventKind =
  | 'TRADE'
  | 'SPLIT'
  | 'MERGE'
  | 'REDEEM'
  | 'CONVERSION'
  | 'REWARD'
  | 'MAKER_REBATE'
  | 'MIGRATION'

/** One action of a wallet. All other facts about a wallet are derived from its events. */
export interface SimWalletEvent {
  readonly kind: SimWalletEventKind
  readonly atMs: TimeMs
  readonly txHash: string
  /** Null for events that concern no market. */
  readonly market: SimMarket | null
  /** The fill, and the wallet's index in it (0 is the taker, then the makers). Null except for kind TRADE. */
  readonly fill: { readonly trade: SimTrade; readonly participant: number } | null
  /** The outcome of a fill, a redemption or a migration. Otherwise null. */
  readonly outcomeIndex: 0 | 1 | null
  /** Number of contracts. Equal to `usd` for a redemption whose row does not name the token. */
  readonly size: SizeMicros
  /** Dollars without the fee, at least 0. Paid for a purchase or a split, otherwise received. */
  readonly usd: UsdMicros
  /** The taker's fee. A buyer pays the fee in addition to `usd`. A seller receives `usd` less the fee. */
  readonly fee: UsdMicros
}

export interface SimMarket {
  readonly listing: SimListing
  readonly event: SimEvent
  status: SimStatus
  tickMicros: PriceMicros
  /** Null before the first trade. */
  lastTrade: SimTrade | null
  readonly volumeTotal: UsdMicros
  readonly volume24h: UsdMicros
  /** Numbers of contracts, which Kalshi's figures use. */
  readonly volumeTotalContracts: SizeMicros
  readonly volume24hContracts: SizeMicros
  readonly openInterest: SizeMicros
  readonly updatedMs: TimeMs
  readonly book: SimBook
  /** The fair price at any time of the market's life. It depends only on seed and time. */
  fairPrice(atMs: TimeMs): PriceMicros
  /** Newest last. At most 2 million per venue, fewer in a world that is persisted (snapshot.ts). */
  readonly trades: readonly SimTrade[]
}

export interface SimBook {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly bestBid: PriceMicros | null
  readonly bestAsk: PriceMicros | null
  sizeAt(side: BookSide, price: PriceMicros): SizeMicros
}

/** Changes are emitted synchronously and in order. */
export type WorldChange =
  /** Orders were placed or cancelled. `changes` has the new total size of each level. */
  | {
      readonly kind: 'levels'
      readonly market: SimMarket
      readonly changes: readonly LevelChange[]
      readonly previousSizes: readonly SizeMicros[]
      /** True: the change uses a sequence number of venue b's stream but is not sent. */
      readonly isLost?: boolean
      readonly atMs: TimeMs
    }
  /** The level changes of a trade remove the traded liquidity from the book. */
  | {
      readonly kind: 'trade'
      readonly market: SimMarket
      readonly trade: SimTrade
      readonly changes: readonly LevelChange[]
      readonly previousSizes: readonly SizeMicros[]
      readonly atMs: TimeMs
    }
  | {
      readonly kind: 'tick'
      readonly market: SimMarket
      readonly oldTick: PriceMicros
      readonly newTick: PriceMicros
      readonly atMs: TimeMs
    }
  | {
      readonly kind: 'created' | 'opened' | 'closed' | 'determined' | 'resolved'
      readonly market: SimMarket
      readonly atMs: TimeMs
    }

export interface World {
  readonly seed: number
  readonly startedMs: TimeMs
  nowMs(): TimeMs
  /** All events except those that were resolved more than two days ago, in creation order. */
  events(venue: SimVenue): readonly SimEvent[]
  markets(venue: SimVenue): readonly SimMarket[]
  market(venue: SimVenue, nativeId: string): SimMarket | null
  /** Only for venue a: the market of a token id, and the index of its outcome. */
  marketOfToken(token: string): { readonly market: SimMarket; readonly outcomeIndex: 0 | 1 } | null
  event(venue: SimVenue, nativeId: string): SimEvent | null
  /** All retained trades of a venue, oldest first. */
  trades(venue: SimVenue): readonly SimTrade[]
  /** All trades of the venue since this time are retained. Figures of earlier times are derived from the fair price. */
  tradesFromMs(venue: SimVenue): TimeMs
  teams(): readonly { readonly league: string; readonly team: SimTeam }[]
  /** Calls `listener` for each later change. Returns a function that unsubscribes. */
  onChange(listener: (change: WorldChange) => void): () => void
  /** Advances the world to its clock's time: first the lifecycles of markets, then order flow at the set rate. */
  step(): void
}

export type SimFault = FaultName

export type SimChange = ChangeName
