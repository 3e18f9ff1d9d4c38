// Dependencies of a market's actor, shared by all markets, and the messages that the actor receives.

import type {
  BookChangeEvent,
  BookSnapshotEvent,
  FiguresEvent,
  LastPriceEvent,
  MarketStatusEvent,
  StaleReason,
  TickSizeEvent,
  TradeEvent,
  TradeParticipantEvent,
} from '../../engine/events.ts'
import type { VenueKey } from '../../engine/ids.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VolumeUnit } from '../../engine/venue-table.ts'
import type { MarketSummary, Storage } from '../../storage/contract/storage.ts'
import type { VenueDelay } from '../venue/delay.ts'
import type { MarketView } from '../views.ts'

/** The feed lost messages or its connection, so the book must become stale. */
export interface VoidMessage {
  readonly kind: 'void'
  readonly reason: StaleReason
  /** True if the venue's actor announces many stale books with one update. */
  readonly isOfVenue: boolean
}

interface SummaryMessage {
  readonly kind: 'summary'
  readonly summary: MarketSummary
}

interface ConfirmedMessage {
  readonly kind: 'confirmed'
  readonly atMs: TimeMs
}

export type MarketMessage =
  | BookSnapshotEvent
  | BookChangeEvent
  | TradeEvent
  | TradeParticipantEvent
  | LastPriceEvent
  | FiguresEvent
  | TickSizeEvent
  | MarketStatusEvent
  | VoidMessage
  | SummaryMessage
  | ConfirmedMessage

export interface BothTimes {
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

export interface MarketVenue {
  readonly delay: Pick<VenueDelay, 'isBehind' | 'changeCount'>
  /**
   * Requests a fresh book. The venue's actor and feed limit the rate. A request with the reason {@link DELAYED} waits
   * until the process has capacity.
   */
  requestResync(market: MarketRef, reason: string): void
  checkAgain(market: MarketRef): void
  /** Whether the market's book is subscribed. Unsubscribed markets take their price from the listing and trades. */
  isCovered(market: MarketNumber): boolean
  /** Requests all trades since `fromMs` over REST, because a full mailbox rejected a trade. */
  backFillTrades(fromMs: TimeMs): void
}

export interface MarketParts {
  readonly publisher: Publisher
  readonly storage: Storage
  readonly run: number
  readonly nowMs: () => TimeMs
  readonly retentionDays: number
  readonly venue: (key: VenueKey) => MarketVenue | null
  readonly volumeUnit: (venue: VenueKey) => VolumeUnit
  /** Called synchronously when the market's summary or figures changed, before the change is published. */
  readonly changed: (market: MarketView) => void
  readonly ignored: (reason: IgnoredReason) => void
}

export const DELAYED = 'delayed'

export type IgnoredReason =
  | 'book_change_before_snapshot'
  | 'book_after_resolution'
  | 'book_not_covered'
  | 'book_unchanged'
  | 'book_snapshot_late'
  | 'book_check_equal'
  | 'book_check_while_stale'
  | 'book_check_older'
  | 'book_check_differs'
  | 'trade_duplicate'
  | 'trade_of_known_transaction'
  | 'trade_unknown_outcome'
  | 'trade_before_retention'
  | 'status_out_of_order'
  | 'figures_older'
