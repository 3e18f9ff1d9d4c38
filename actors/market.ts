// One market: its book, prices and trades in memory, changed one event at a time, and told to the
// publisher in the turn that changed them. An idle market sleeps: its rings go, its book keeps only
// the levels it has, and the next event or look wakes it with nothing lost.
// Not for: who hears of it (engine/publisher.ts), or when to ask the venue again (actors/venue.ts).
// Upholds MKT1 to MKT12.

import type {
  BookChangeEvent,
  BookReplaced,
  BookSnapshotEvent,
  BookUpdate,
  LastPriceEvent,
  LevelChange,
  MarketPrice,
  MarketStatusEvent,
  TickSizeEvent,
  TradeEvent,
  TradeParticipantEvent,
} from '../engine/events.ts'
import { checkpointEveryMs, marketIdleMsMax } from '../engine/limits.ts'
import { type MarketRef, mayFollow } from '../engine/market.ts'
import {
  complement,
  type PriceMicros,
  type TimeMs,
  type UsdMicros,
  usdMicros,
} from '../engine/units.ts'
import type { ListingDetails, MarketSummary, StoredTrade } from '../storage/storage.ts'
import type { Actor, Turn } from './actor.ts'
import { MarketBook } from './market-book.ts'
import type { BothTimes, MarketParts } from './market-parts.ts'
import { MarketPrices } from './market-prices.ts'
import { MarketTrades, type TradeQuery } from './market-trades.ts'
import type { BookView, MarketView, StreamChannel } from './views.ts'

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
  | VoidMessage
  | SummaryMessage

const CHECKSUM_EVERY = 50

export class MarketActor implements Actor<MarketMessage>, MarketView {
  readonly ref: MarketRef
  summary: MarketSummary
  readonly #parts: MarketParts
  readonly #book = new MarketBook()
  readonly #prices: MarketPrices
  readonly #trades: MarketTrades
  #isRecalled = false
  #resolvedAtMs: TimeMs | null = null
  #activeAtMs: TimeMs
  #checkpointAtMs: TimeMs
  #isDirty = false

  constructor(ref: MarketRef, summary: MarketSummary, parts: MarketParts) {
    this.ref = ref
    this.summary = summary
    this.#parts = parts
    this.#prices = new MarketPrices(ref.number, parts.storage.ticks)
    this.#trades = new MarketTrades(ref.number, parts.storage.trades)
    this.#activeAtMs = parts.nowMs()
    this.#checkpointAtMs = this.#activeAtMs
  }

  get name(): string {
    return `market ${this.ref.id}`
  }

  receive(message: MarketMessage): Turn {
    switch (message.kind) {
      case 'bookChange':
        this.#changeBook(message)
        break
      case 'bookSnapshot':
        this.#takeSnapshot(message)
        break
      case 'trade':
        this.#takeTrade(message)
        break
      case 'tradeParticipant':
        this.#trades.addParticipant(message.txHash, message.wallet)
        break
      case 'lastPrice':
        this.#takeLastPrice(message)
        break
      case 'tickSize':
        this.#takeTickSize(message)
        break
      case 'marketStatus':
        this.#takeStatus(message)
        break
      case 'summary':
        this.#takeSummary(message.summary)
        break
      case 'void':
        this.#book.distrust()
        break
    }
  }

  /** After a throw: nothing in memory is trusted. The book comes back by a snapshot (`resync`). */
  restart(): void {
    this.#book.distrust()
    this.#prices.reset()
    this.#trades.release()
    this.#parts.requestResync(this, 'actor_restarted')
  }

  onOverflow(lost: MarketMessage): void {
    if (lost.kind === 'trade') this.#parts.announceLoss(this, lost.venueTimeMs)
    this.#book.distrust()
    this.#parts.requestResync(this, 'mailbox_full')
  }

  // Book

  #changeBook(event: BookChangeEvent): void {
    if (!this.#book.isLive) return this.#parts.ignored('book_change_before_snapshot')
    const { changes, doubt } = this.#book.change(event)
    if (changes.length === 0) this.#parts.ignored('book_unchanged')
    else this.#publishBook(event, changes)
    if (doubt !== null) this.#parts.requestResync(this, doubt)
  }

  #takeSnapshot(event: BookSnapshotEvent): void {
    if (this.summary.status === 'resolved') return this.#parts.ignored('book_after_resolution')
    if (!event.isInOrder) return this.#checkBook(event)
    this.#recall()
    if (this.#book.isLive) {
      const changes = this.#book.merge(event)
      if (changes.length > 0) this.#publishBook(event, changes)
      else this.#parts.ignored('book_unchanged')
    } else {
      this.#publishReplaced(event, this.#book.replace(event))
    }
    if (!this.#book.isLive) this.#parts.requestResync(this, 'crossed_snapshot')
  }

  /** A book read over REST beside the stream: a difference is a suspicion, the stream decides. */
  #checkBook(event: BookSnapshotEvent): void {
    if (!this.#book.isLive) return this.#parts.ignored('book_check_while_stale')
    if (!this.#book.differsFrom(event)) return this.#parts.ignored('book_check_equal')
    this.#parts.requestResync(this, 'differs_from_rest')
  }

  #publishReplaced(event: BookSnapshotEvent, reason: BookReplaced['reason']): void {
    this.#touch(event.receivedAtMs)
    const { offset, seq } = this.#parts.publisher.latest('orderbook', this.ref.number)
    const { venueTimeMs, receivedAtMs } = event
    const market = this.ref
    const kind = 'bookReplaced'
    this.#parts.publisher.publish({ kind, market, venueTimeMs, receivedAtMs, reason, offset, seq })
    this.#reprice(event)
  }

  #publishBook(event: BothTimes, changes: readonly LevelChange[]): void {
    this.#touch(event.receivedAtMs)
    const stamp = this.#parts.publisher.stamp('orderbook', this.ref.number)
    const update: BookUpdate = {
      kind: 'book',
      market: this.ref,
      offset: stamp.offset,
      seq: stamp.seq,
      venueTimeMs: event.venueTimeMs,
      receivedAtMs: event.receivedAtMs,
      changes,
      checksum: stamp.seq % CHECKSUM_EVERY === 0 ? this.#book.levels.checksum() : null,
    }
    this.#parts.publisher.publish(update)
    this.#reprice(event)
  }

  #takeTickSize(event: TickSizeEvent): void {
    this.summary = { ...this.summary, tickMicros: event.tickMicros }
    this.#book.distrust()
  }

  // Trades and prices

  #takeTrade(event: TradeEvent): void {
    const outcomeIndex = this.summary.outcomes.findIndex((outcome) => outcome.id === event.outcome)
    if (outcomeIndex < 0) return this.#parts.ignored('trade_unknown_outcome')
    if (this.#trades.has(event.nativeId)) return this.#parts.ignored('trade_duplicate')
    const isLive = event.source !== 'history'
    const stamp = isLive ? this.#parts.publisher.stamp('trades', this.ref.number) : null
    const trade = this.#trades.add(event, outcomeIndex, stamp, this.#parts.run)
    this.#prices.noteTrade(trade, event.receivedAtMs)
    this.#touch(event.receivedAtMs)
    if (stamp === null) return
    this.#parts.publisher.publish({
      kind: 'trade',
      market: this.ref,
      offset: stamp.offset,
      seq: stamp.seq,
      venueTimeMs: event.venueTimeMs,
      receivedAtMs: event.receivedAtMs,
      trade,
    })
    this.#reprice(event)
  }

  #takeLastPrice(event: LastPriceEvent): void {
    const isFirst = this.summary.outcomes[0]?.id === event.outcome
    this.#prices.noteLastPrice(isFirst ? event.price : complement(event.price), event)
    this.#touch(event.receivedAtMs)
    this.#reprice(event)
  }

  #reprice(event: BothTimes): void {
    const { venueTimeMs, receivedAtMs } = event
    const price = this.#prices.settle(this.summary, this.#book, receivedAtMs)
    if (price === null) return
    const { offset, seq } = this.#parts.publisher.stamp('prices', this.ref.number)
    const market = this.ref
    const kind = 'price'
    this.#parts.publisher.publish({ kind, market, offset, seq, venueTimeMs, receivedAtMs, price })
  }

  // Status and catalogue

  #takeStatus(event: MarketStatusEvent): void {
    if (event.status === this.summary.status) return
    if (!mayFollow(this.summary.status, event.status)) {
      return this.#parts.ignored('status_out_of_order')
    }
    const settlementPrice = event.settlementPrice ?? this.summary.settlementPrice
    const changed = { status: event.status, settlementPrice, isUnopened: false }
    this.#changeSummary({ ...this.summary, ...changed }, event)
  }

  #takeSummary(summary: MarketSummary): void {
    const now = this.#parts.nowMs()
    const isAllowed = mayFollow(this.summary.status, summary.status)
    if (!isAllowed) this.#parts.ignored('status_out_of_order')
    const kept = { status: this.summary.status, settlementPrice: this.summary.settlementPrice }
    this.#trades.restartVolume()
    this.#changeSummary(isAllowed ? summary : { ...summary, ...kept }, {
      venueTimeMs: now,
      receivedAtMs: now,
    })
  }

  #changeSummary(summary: MarketSummary, event: BothTimes): void {
    const before = this.summary.status
    this.summary = summary
    this.#parts.storage.markets.putSummary(this.ref.number, summary)
    if (summary.status === before) return
    this.#touch(event.receivedAtMs)
    if (summary.status === 'resolved') this.#end(event)
    const { venueTimeMs, receivedAtMs } = event
    this.#parts.publisher.publish({
      ...this.#parts.publisher.stamp('lifecycle', this.ref.number),
      kind: 'lifecycle',
      market: this.ref,
      venueTimeMs,
      receivedAtMs,
      event: summary.status === 'open' ? 'opened' : summary.status,
    })
    this.#reprice(event)
  }

  /** A resolved market trades no more: its watchers see the last levels go. */
  #end(event: BothTimes): void {
    this.#resolvedAtMs = event.receivedAtMs
    const changes = this.#book.empty(event)
    if (changes.length > 0) this.#publishBook(event, changes)
  }

  // Sleep and memory

  #touch(nowMs: TimeMs): void {
    this.#activeAtMs = nowMs
    this.#isDirty = true
  }

  /** Called every second or so: writes a due checkpoint, and lets an idle market sleep. */
  tick(nowMs: TimeMs): void {
    if (this.#isDirty && nowMs - this.#checkpointAtMs >= checkpointEveryMs) this.checkpoint(nowMs)
    if (nowMs - this.#activeAtMs >= marketIdleMsMax) this.#sleep(nowMs)
  }

  /** Writes what a restart needs: the book, the price, the hour's ticks. */
  checkpoint(nowMs: TimeMs): void {
    this.#checkpointAtMs = nowMs
    if (!this.#isDirty) return
    this.#isDirty = false
    this.#prices.save()
    this.#parts.storage.checkpoints.put(this.ref.number, {
      writtenAtMs: nowMs,
      ...this.#prices.remembered(),
      ...this.#book.remembered(),
    })
  }

  #sleep(nowMs: TimeMs): void {
    this.checkpoint(nowMs)
    this.#prices.release()
    this.#trades.release()
    this.#book.levels.trim()
    this.#activeAtMs = nowMs
  }

  /** Once, before this run's first snapshot or look: the last run's book and price, as stale. */
  #recall(): void {
    if (this.#isRecalled) return
    this.#isRecalled = true
    const kept = this.#parts.storage.checkpoints.get(this.ref.number)
    if (kept === null) return
    this.#prices.recall(kept)
    if (this.summary.status !== 'resolved') this.#book.recall(kept)
  }

  // What others may see

  get volume24h(): UsdMicros {
    return usdMicros(this.summary.volume24h + this.#trades.volumeSince)
  }

  get volumeTotal(): UsdMicros | null {
    const { volumeTotal } = this.summary
    return volumeTotal === null ? null : usdMicros(volumeTotal + this.#trades.volumeSince)
  }

  /** When this run saw it resolve; null when it did so before, or has not. */
  get resolvedAtMs(): TimeMs | null {
    return this.#resolvedAtMs
  }

  get isBookLive(): boolean {
    return this.#book.isLive
  }

  price(): MarketPrice {
    this.#recall()
    return this.#prices.present(this.summary, this.#book, this.#parts.nowMs())
  }

  priceAt(atMs: TimeMs): { price: PriceMicros; timeMs: TimeMs } | null {
    return this.#prices.before(atMs)
  }

  book(): BookView {
    this.#recall()
    const stamp = this.#parts.publisher.latest('orderbook', this.ref.number)
    return this.#book.view(stamp, this.summary.status === 'resolved')
  }

  trades(query: TradeQuery): { rows: readonly StoredTrade[]; hasMore: boolean } {
    return this.#trades.page(query)
  }

  seq(channel: StreamChannel): number {
    return this.#parts.publisher.latest(channel, this.ref.number).seq
  }

  details(): ListingDetails {
    const kept = this.#parts.storage.markets.details(this.ref.number)
    return kept ?? { description: null, native: {} }
  }
}
