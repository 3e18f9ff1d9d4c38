// The shape of the invented world, seen by both simulated venues: questions, their listings, books
// and trades. world.ts makes it move; questions/ and the style files invent its words; the two
// servers render it in their venue's wire protocol. Everything is quoted for the first outcome.

import type { BookSide, Level, LevelChange, TradeSide } from '../../events.ts'
import type { ChangeName, FaultName } from '../../fault-names.ts'
import type { PriceMicros, SizeMicros, TimeMs, UsdMicros } from '../../units.ts'

/** The invented venues: `a` speaks Polymarket's protocols, `b` Kalshi's. */
export type SimVenue = 'a' | 'b'
export const SIM_VENUES: readonly SimVenue[] = ['a', 'b']

export type SimTopic = 'politics' | 'economics' | 'crypto' | 'weather' | 'culture' | 'sports'
export type SimSport = 'nfl' | 'nba' | 'mlb' | 'nhl' | 'cfb' | 'cbb' | 'pga' | 'tennis'

/** How a question listed on both venues differs, if it does; every kind but `same` is a trap. */
export type SimPairKind =
  | 'same'
  | 'other_date'
  | 'other_threshold'
  | 'opposite_side'
  | 'other_rules'

/** A game as both venues know it. Codes are each venue's own. */
export interface SimGame {
  readonly sport: SimSport
  /** Polymarket's league slug: nfl, nba, atp, wta, pga … */
  readonly league: string
  readonly startMs: TimeMs
  /** The US Eastern date of the game, YYYY-MM-DD. */
  readonly date: string
  /** 2 for the second game of a pair's day; 1 or absent otherwise. */
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

/** A group of markets at one venue. */
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
  /** The venue's own category word ("Politics"; "Climate and Weather" at Kalshi). */
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
 * unopened: announced, not yet trading. open. closed: trading over, no result yet.
 * determined: result known, payout pending. resolved: final.
 */
export type SimStatus = 'unopened' | 'open' | 'closed' | 'determined' | 'resolved'

/** What a listing says: fixed for its life. */
export interface SimListing {
  readonly venue: SimVenue
  /** Dense, from 0, per venue. */
  readonly index: number
  /** Integer id (Gamma's `id`), unique per venue and run. */
  readonly number: number
  /**
   * Condition id (0x + 64 hex) at venue a, ticker at venue b. One of protocol v2 has 31 bytes and is kept padded with
   * 00, as all of venue a's hosts but Gamma show it.
   */
  readonly nativeId: string
  /** Of venue a's protocol v2: tokens are position ids. Never at venue b. */
  readonly isV2: boolean
  /** What the market's chances are drawn from: the same under both protocols. */
  readonly chanceKey: string
  /** UUID, Kalshi's `market_id`. */
  readonly uuid: string
  readonly slug: string
  /** The two token ids, or position ids, in decimal at venue a; `<ticker>:yes`, `<ticker>:no` at b. */
  readonly tokens: readonly [string, string]
  /** ["Yes","No"], or the two teams at venue a. */
  readonly outcomes: readonly [string, string]
  readonly question: string
  /** Polymarket's groupItemTitle; Kalshi's yes_sub_title. */
  readonly shortTitle: string
  /** Kalshi's no_sub_title. */
  readonly noShortTitle: string
  /** Polymarket's description; Kalshi's rules_primary. */
  readonly rules: string
  /** Kalshi's rules_secondary; empty at venue a. */
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
  /** Polymarket's sportsMarketType ("moneyline", "spreads", "totals"); null when no game market. */
  readonly sportsMarketType: string | null
  /** Spread or total line; null otherwise. */
  readonly line: number | null
  readonly createdMs: TimeMs
  readonly openMs: TimeMs
  readonly closeMs: TimeMs
  /** When the result is known; ≥ closeMs. */
  readonly determineMs: TimeMs
  /** When it is final; ≥ determineMs. */
  readonly resolveMs: TimeMs
  /** Payout of the first outcome: 1, 0, or one half (void). Only to be shown once determined. */
  readonly payout: PriceMicros
  /** Identifies the underlying question; equal on both venues for pairs, traps included. */
  readonly questionKey: string
  /** The question's listing on the other venue, if any, and how it relates. */
  readonly pair: { readonly otherNativeId: string; readonly kind: SimPairKind } | null
  /** Relative activity, 1 is average; a few markets have most of it. */
  readonly activity: number
}

/** One trade: one fill between a taker and one or more makers. */
export interface SimTrade {
  /** Kalshi's trade_id: a UUID. */
  readonly id: string
  /** 0x + 64 hex; several fills of one order share it. */
  readonly txHash: string
  readonly market: SimMarket
  /** Which outcome the taker traded, and its price; Kalshi's no-side buys are outcomeIndex 1. */
  readonly outcomeIndex: 0 | 1
  readonly side: TradeSide
  readonly price: PriceMicros
  readonly size: SizeMicros
  readonly atMs: TimeMs
  readonly taker: SimWallet
  readonly makers: readonly { readonly wallet: SimWallet; readonly size: SizeMicros }[]
  /** Whether rows show a price just beside the true one; without it, whether the hash ends in 0. */
  readonly isBesideTick?: boolean
}

/** A wallet of venue a: proxy address and profile. */
export interface SimWallet {
  readonly address: string
  readonly name: string
  readonly pseudonym: string
}

/** What the Data API calls a row of a wallet's activity. */
export type SimWalletEventKind =
  | 'TRADE'
  | 'SPLIT'
  | 'MERGE'
  | 'REDEEM'
  | 'CONVERSION'
  | 'REWARD'
  | 'MAKER_REBATE'
  | 'MIGRATION'

/** One thing a wallet did: the plain truth, from which everything else about it can be computed. */
export interface SimWalletEvent {
  readonly kind: SimWalletEventKind
  readonly atMs: TimeMs
  readonly txHash: string
  /** Null for what concerns the account as a whole. */
  readonly market: SimMarket | null
  /** Of a TRADE: the fill and the wallet's place in it (0 the taker, then the makers); null otherwise. */
  readonly fill: { readonly trade: SimTrade; readonly participant: number } | null
  /** The outcome of a fill, or of what was redeemed or migrated; null for all else. */
  readonly outcomeIndex: 0 | 1 | null
  /** Contracts bought, sold, split, merged, converted, migrated or, where its row names the token, redeemed; of all else the same as `usd`. */
  readonly size: SizeMicros
  /** Dollars paid (a buy, a split) or received (all else), the fee left out; ≥ 0. */
  readonly usd: UsdMicros
  /** Paid beside `usd`, by takers alone: on top of a purchase, out of the proceeds of a sale. */
  readonly fee: UsdMicros
}

/** What a wallet has of one outcome, and how the venue counts it. Averages are the venue's own: floats. */
export interface SimPosition {
  /** Never negative. */
  readonly amount: SizeMicros
  /** Everything ever bought, split and conversion counted as the venue does. */
  readonly bought: SizeMicros
  /** Dollars a contract, by the running weighted average; kept when the position is closed. */
  readonly averagePrice: number
  /** Micro-dollars, fees left out. */
  readonly realized: number
  /** Fees paid on buys, micro-dollars. */
  readonly fees: number
  /** 0 before the first event. */
  readonly lastMs: TimeMs
}

/** A wallet's two positions in a market. */
export interface SimHolding {
  readonly ledger: SimWalletLedger
  readonly market: SimMarket
  readonly positions: readonly [SimPosition, SimPosition]
}

/** Everything about one wallet in this run. */
export interface SimWalletLedger {
  readonly wallet: SimWallet
  /** The owner's own address: another way to name the wallet. */
  readonly eoa: string
  readonly firstMs: TimeMs
  /** Oldest first. */
  readonly events: readonly SimWalletEvent[]
  /** How many events older than these are no longer kept. */
  readonly droppedEventCount: number
  readonly holdings: ReadonlyMap<SimMarket, SimHolding>
  /** Received minus paid, from 0 at the start; without `fees` and `income`. */
  readonly cash: UsdMicros
  readonly fees: UsdMicros
  readonly income: UsdMicros
}

/** The wallets of venue a that have traded in this run. */
export interface SimWallets {
  /** By proxy address or the owner's, in any case; null: never seen. */
  wallet(address: string): SimWalletLedger | null
  /** In the order of their first trades. */
  all(): readonly SimWalletLedger[]
  /** Every holding that the market ever had. */
  holders(market: SimMarket): readonly SimHolding[]
}

/** A market, alive. */
export interface SimMarket {
  readonly listing: SimListing
  readonly event: SimEvent
  status: SimStatus
  tickMicros: PriceMicros
  /** Null before the first trade. */
  lastTrade: SimTrade | null
  readonly volumeTotal: UsdMicros
  readonly volume24h: UsdMicros
  /** Contracts, for Kalshi's figures. */
  readonly volumeTotalContracts: SizeMicros
  readonly volume24hContracts: SizeMicros
  readonly openInterest: SizeMicros
  /** Last time anything about the market changed. */
  readonly updatedMs: TimeMs
  readonly book: SimBook
  /** The fair price at any time of the market's life: a pure function of seed and time. */
  fairPrice(atMs: TimeMs): PriceMicros
  /** Newest last; at most 2 million a venue, and less in a world that is kept on disk (world-record.ts). */
  readonly trades: readonly SimTrade[]
}

/** One market's book, quoted for the first outcome. Best first on both sides. */
export interface SimBook {
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly bestBid: PriceMicros | null
  readonly bestAsk: PriceMicros | null
  sizeAt(side: BookSide, price: PriceMicros): SizeMicros
}

/** One thing that happened in the world, emitted synchronously, in order. */
export type WorldChange =
  /** Orders placed or cancelled; sizes are the levels' new totals. */
  | {
      readonly kind: 'levels'
      readonly market: SimMarket
      readonly changes: readonly LevelChange[]
      readonly previousSizes: readonly SizeMicros[]
      /** Whether venue b's stream loses it: it is numbered and not sent. */
      readonly isLost?: boolean
      readonly atMs: TimeMs
    }
  /** A trade, and what it took from the book. */
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

/** The world both servers show. */
export interface World {
  readonly seed: number
  readonly startedMs: TimeMs
  nowMs(): TimeMs
  /** Everything not resolved for more than two days, in creation order. */
  events(venue: SimVenue): readonly SimEvent[]
  markets(venue: SimVenue): readonly SimMarket[]
  market(venue: SimVenue, nativeId: string): SimMarket | null
  /** Venue a only: the market of a token id and which outcome it is. */
  marketOfToken(token: string): { readonly market: SimMarket; readonly outcomeIndex: 0 | 1 } | null
  event(venue: SimVenue, nativeId: string): SimEvent | null
  /** All kept trades of a venue, oldest first. */
  trades(venue: SimVenue): readonly SimTrade[]
  /** All trades of the venue since then are kept; before it, figures come from the fair price. */
  tradesFromMs(venue: SimVenue): TimeMs
  /** Every league's teams, for venue a's /teams. */
  teams(): readonly { readonly league: string; readonly team: SimTeam }[]
  /** Calls `listener` for each change from now on; returns how to stop. */
  onChange(listener: (change: WorldChange) => void): () => void
  /** Moves the world to its clock's now: lifecycle, then order flow at the set rate. */
  step(): void
}

/** What the servers can get wrong; see faults.ts. */
export type SimFault = FaultName

/** How they may change without a word; see changes.ts. */
export type SimChange = ChangeName
