// The dependencies of a market's actor (one object shared by all markets) and its messages.

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
import type { MarketRef } from '../../engine/market/market.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VolumeUnit } from '../../engine/venue-table.ts'
import type { MarketSummary, Storage } from '../../storage/contract/storage.ts'
import type { VenueDelay } from '../venue/delay.ts'
import type { MarketView } from '../views.ts'

/** Invalidates the market's book: the feed lost messages or its connection. */
export interface VoidMessage {
  readonly kind: 'void'
  readonly reason: StaleReason
  /** The venue announces it together with other books. */
  readonly isOfVenue: boolean
}

interface SummaryMessage {
  readonly kind: 'summary'
  readonly summary: MarketSummary
}

/** The catalogue read the market again without changes. */
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

/** The venue's time and the receive time. */
export interface BothTimes {
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

/** What a market requests from the actor of its venue. */
export interface MarketVenue {
  /** Whether the venue's messages stay unread for too long, and how often that has changed. */
  readonly delay: Pick<VenueDelay, 'isBehind' | 'changeCount'>
  /**
   * Requests a fresh book. The venue's actor and feed limit the rate. With the reason {@link DELAYED} the request waits
   * for capacity.
   */
  requestResync(market: MarketRef, reason: string): void
  /** A REST read of the book differed: schedules a second read. */
  checkAgain(market: MarketRef): void
  /** Reads trades again from a time on, because a full mailbox rejected one. */
  backFillTrades(fromMs: TimeMs): void
}

export interface MarketParts {
  readonly publisher: Publisher
  readonly storage: Storage
  /** This run's number, stored with each published trade. */
  readonly run: number
  readonly nowMs: () => TimeMs
  /** Days for which trades are retained. Older historical trades may already have been counted and removed. */
  readonly retentionDays: number
  /** Null: the venue is not open. */
  readonly venue: (key: VenueKey) => MarketVenue | null
  readonly volumeUnit: (venue: VenueKey) => VolumeUnit
  /** The market's summary or figures changed. Called synchronously, before the change is published. */
  readonly changed: (market: MarketView) => void
  /** Counts a message that changed nothing, by reason. */
  readonly ignored: (reason: IgnoredReason) => void
}

/** Reason of a resync after changes waited too long in the mailbox. */
export const DELAYED = 'delayed'

export type IgnoredReason =
  | 'book_change_before_snapshot'
  | 'book_after_resolution'
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
