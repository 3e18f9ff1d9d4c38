// What a market's actor is given (one object that all markets share) and the messages that it takes.

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
import type { Publisher } from '../../engine/publisher.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { VolumeUnit } from '../../engine/venue-table.ts'
import type { MarketSummary, Storage } from '../../storage/contract/storage.ts'
import type { VenueDelay } from '../venue/delay.ts'
import type { MarketView } from '../views.ts'

/** The market's book can no longer be trusted: the feed lost messages or its connection. */
export interface VoidMessage {
  readonly kind: 'void'
  readonly reason: StaleReason
  /** The venue announces it together with other books. */
  readonly isOfVenue: boolean
}

/** The catalogue read the market again. */
interface SummaryMessage {
  readonly kind: 'summary'
  readonly summary: MarketSummary
}

/** The catalogue read the market again, and nothing had changed. */
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

/** The venue's time of something, and ours. */
export interface BothTimes {
  readonly venueTimeMs: TimeMs
  readonly receivedAtMs: TimeMs
}

export interface MarketParts {
  readonly publisher: Publisher
  readonly storage: Storage
  /** This run's number, stored with each trade it publishes. */
  readonly run: number
  readonly nowMs: () => TimeMs
  /** Days that trades are kept; older ones that come as history may have been counted and removed. */
  readonly retentionDays: number
  /** Asks the venue for a fresh book; the venue's actor and feed limit how often. With the reason {@link DELAYED} the
   * book is asked for once there is room. */
  readonly requestResync: (market: MarketView, reason: string) => void
  /** A book read over REST differed: it is read a second time, a little later. */
  readonly checkAgain: (market: MarketView) => void
  /** Whether what a venue sends lies unread for too long, and how often that has changed. */
  readonly delayOf: (venue: VenueKey) => Pick<VenueDelay, 'isBehind' | 'changeCount'> | null
  /** A trade of this market was refused at its full mailbox: trades from `atMs` on are read again. */
  readonly announceLoss: (market: MarketView, atMs: TimeMs) => void
  readonly volumeUnit: (venue: VenueKey) => VolumeUnit
  /** The market's summary or figures changed. Called within the turn, before the change is published. */
  readonly changed: (market: MarketView) => void
  /** One counter per way a message ends without changing anything. */
  readonly ignored: (reason: IgnoredReason) => void
}

/** The reason of a resync after changes waited in the mailbox for too long. */
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
