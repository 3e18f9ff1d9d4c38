// What a market's actor may be told: the venue's events about it, what the catalogue read of it, and
// that its book missed something.

import type {
  BookChangeEvent,
  BookSnapshotEvent,
  LastPriceEvent,
  MarketStatusEvent,
  OpenInterestEvent,
  TickSizeEvent,
  TradeEvent,
  TradeParticipantEvent,
} from '../../engine/events.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'

/** Its book can no longer be trusted, because the feed lost messages or its connection. */
export interface VoidMessage {
  readonly kind: 'void'
  readonly reason: string
}

/** The catalogue read the market again. */
export interface SummaryMessage {
  readonly kind: 'summary'
  readonly summary: MarketSummary
}

export type MarketMessage =
  | BookSnapshotEvent
  | BookChangeEvent
  | TradeEvent
  | TradeParticipantEvent
  | LastPriceEvent
  | TickSizeEvent
  | MarketStatusEvent
  | OpenInterestEvent
  | VoidMessage
  | SummaryMessage
