// The actor that records whales. Collects the fills of a transaction for 150 ms after the first fill. Stores rows of at
// least 1,000 dollars, and publishes each row of at least 5,000 dollars once. A row depends only on the stored fills.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import type { Stamp, Trade, Update } from '../../engine/events.ts'
import { VENUE_KEYS } from '../../engine/ids.ts'
import { whaleCloseMs, whaleMessageUsdMin, whaleRowUsdMin } from '../../engine/limits.ts'
import type { MarketNumber, MarketRef } from '../../engine/market/market.ts'
import type { Count, Metrics } from '../../engine/process/metrics.ts'
import type { Publisher, TradeCompletion, Watcher } from '../../engine/publisher.ts'
import type { TimeMs } from '../../engine/units.ts'
import { FillSum, type WhaleFill, whaleKey } from '../../engine/whale.ts'
import type { Storage, StoredWhale, WhaleMarket } from '../../storage/contract/storage.ts'
import type { Actor, ActorRef, ReceiveResult, System } from '../system.ts'
import type { MarketView } from '../views.ts'
import { type Stretch, WhaleRegroup } from './regroup.ts'
import { type WhaleGroup, WhaleGroups } from './whale-groups.ts'

/** Maximum duration of a time slice of regrouping, and the pause before the next one. */
const REGROUP_MS_MAX = 2
const REGROUP_PAUSE_MS = 1
/** Maximum groups that are evicted when a group is added, so that not all of a burst are evicted in one tick. */
const EVICTED_PER_GROUP = 2
/** Delay of the next wake-up after a message was lost at a full mailbox. */
const RETRY_MS = 5

/** Sent for each stored trade. `serial` numbers the messages, so that each fill is counted once. */
interface FillNote extends WhaleFill {
  readonly kind: 'fill'
  readonly market: MarketRef
  readonly serial: number
}

interface WakeNote {
  readonly kind: 'wake'
}
const WAKE: WakeNote = { kind: 'wake' }

interface CompletedNote {
  readonly kind: 'completed'
  readonly market: MarketRef
  readonly trade: Trade
}

type WhaleMessage = FillNote | WakeNote | CompletedNote

interface WhaleParts {
  readonly system: System
  readonly publisher: Publisher
  readonly storage: Pick<Storage, 'trades' | 'runs' | 'marks' | 'whales'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly run: number
  /** Null if the market was removed. */
  readonly market: (number: MarketNumber) => Pick<MarketView, 'ref' | 'summary'> | null
  /** Maximum cached groups. Only tests set it. */
  readonly groupsMax?: number
}

/** Called synchronously for whale rows that are not published. Must not throw. */
export interface WhaleWatcher {
  /**
   * Called when a row with live fills was stored but not published: it is too small, or it was published before it
   * changed.
   */
  onWhaleRow(market: MarketRef, whale: StoredWhale): void
}

export class Whales implements Actor<WhaleMessage>, Watcher {
  readonly name = 'whales'
  readonly #parts: WhaleParts
  readonly #self: ActorRef<WhaleMessage>
  readonly #groups: WhaleGroups
  readonly #regroup: WhaleRegroup
  readonly #stored: Count
  readonly #published: Count
  readonly #withoutMarket: Count
  readonly #watchers: WhaleWatcher[] = []
  #serial = 0
  #stopTimer: StopTimer | null = null
  #wakeAtMs = Number.POSITIVE_INFINITY
  #isStopped = false

  /** Registers itself as an actor. `start` must be called before the first event. */
  constructor(parts: WhaleParts) {
    this.#parts = parts
    this.#groups = new WhaleGroups(parts.groupsMax)
    this.#regroup = new WhaleRegroup(parts.storage, parts.run)
    const { metrics } = parts
    this.#stored = metrics.count('whale_rows_total', 'Whale rows stored.')
    this.#published = metrics.count('whales_told_total', 'Whale rows published on the stream.')
    this.#withoutMarket = metrics.count(
      'whales_without_market_total',
      'Whales of a removed market.',
    )
    metrics.gauge('whale_groups', 'Cached transactions.', () => this.#groups.count)
    this.#self = parts.system.spawn<WhaleMessage>(this)
  }

  watch(watcher: WhaleWatcher): void {
    this.#watchers.push(watcher)
  }

  /** Schedules the last minute of earlier runs for regrouping. Must be called once, after the catalogue is loaded. */
  start(): void {
    const { trades } = this.#parts.storage
    for (const venue of VENUE_KEYS) {
      const extent = trades.extentOfVenue(venue)
      if (extent !== null) this.#noteEvicted(extent.newestMs)
    }
    this.#regroup.begin()
    this.#arm()
  }

  /** Groups that are still open are grouped by the next run. */
  stop(): void {
    this.#isStopped = true
    this.#stopTimer?.()
    this.#stopTimer = null
  }

  onUpdate(update: Update): void {
    if (update.kind !== 'trade') return
    const { market, trade, receivedAtMs, offset } = update
    this.#note(market, { trade, receivedAtMs, run: this.#parts.run, offset })
  }

  /** Rows of past trades are stored but not published. */
  onPastTrade(market: MarketRef, trade: Trade, receivedAtMs: TimeMs): void {
    this.#note(market, { trade, receivedAtMs, run: null, offset: null })
  }

  /** Adds the taker to the row of its fill. The row is not published again. */
  onCompletedTrade(market: MarketRef, trade: Trade, { role }: TradeCompletion): void {
    if (role === 'taker' && trade.txHash !== null)
      this.#self.send({ kind: 'completed', market, trade })
  }

  onMarketRemoved(market: MarketNumber): void {
    this.#groups.removeMarket(market)
    this.#regroup.removeMarket(market)
  }

  #note(market: MarketRef, { trade, receivedAtMs, run, offset }: WhaleFill): void {
    if (whaleKey(trade) === null && trade.usd < whaleRowUsdMin) return
    this.#serial += 1
    const serial = this.#serial
    this.#self.send({ kind: 'fill', market, trade, receivedAtMs, run, offset, serial })
  }

  onOverflow(lost: WhaleMessage): void {
    if (lost.kind === 'fill') this.#regroup.add(lost.market.number, lost.trade.timeMs)
    this.#arm(RETRY_MS)
  }

  receive(message: WhaleMessage): ReceiveResult {
    if (message.kind === 'fill') this.#take(message)
    else if (message.kind === 'completed') this.#complete(message)
    else this.#regroupSome()
    this.#closeDue()
    this.#arm()
  }

  /** Discards the groups in memory after an exception. Schedules the trades of open groups for grouping. */
  restart(): void {
    for (const { market, sum } of this.#groups.clear()) {
      this.#regroup.add(market.number, sum.oldestMs)
      this.#regroup.add(market.number, sum.newestMs)
    }
    this.#noteEvicted(this.#parts.clock.nowMs())
    this.#arm()
  }

  #take(note: FillNote): void {
    const key = whaleKey(note.trade)
    if (key === null) {
      this.#record(note.market.number, new FillSum(note), { row: null, ids: null })
      return
    }
    const group = this.#groups.get(note.market.number, key)
    if (group === null) {
      const nowMs = this.#parts.clock.nowMs()
      const isPartial = this.#groups.mayBeEvicted(note.trade.timeMs, nowMs)
      this.#open(note.market, key, { sum: new FillSum(note), isPartial, countedTo: note.serial })
      return
    }
    if (note.serial <= group.countedTo) return
    group.sum.add(note)
    if (!group.isOpen) this.#settle(group)
  }

  /** Adds the taker to a stored row at once. An open group reads its fills again when it closes. */
  #complete({ market, trade }: CompletedNote): void {
    const key = whaleKey(trade)
    const group = key === null ? null : this.#groups.get(market.number, key)
    if (group?.isOpen === true) {
      group.isPartial = true
      return
    }
    const row = group?.row ?? this.#find(market.number, [trade.nativeId])
    if (row === null || row.taker !== null) return
    const stored = this.#store(market, row, { ...row, taker: trade.taker, wallet: trade.taker })
    if (group !== null) group.row = stored
  }

  #open(
    market: MarketRef,
    key: string,
    from: Pick<WhaleGroup, 'sum' | 'isPartial' | 'countedTo'>,
  ): void {
    const dueAtMs = this.#parts.clock.monotonicMs() + whaleCloseMs
    const { sum, isPartial, countedTo } = from
    const group = { market, key, sum, dueAtMs, isOpen: true, isPartial, countedTo, row: null }
    this.#groups.add(group)
    for (let left = EVICTED_PER_GROUP; left > 0; left -= 1) this.#evictOldest()
  }

  #evictOldest(): void {
    const evicted = this.#groups.evictOldest(this.#parts.clock.monotonicMs())
    if (evicted === null) return
    this.#noteEvicted(evicted.sum.newestMs)
    if (!evicted.isOpen) return
    // Closes an open group early under load. Its later fills are added to its row.
    evicted.isOpen = false
    this.#settle(evicted)
  }

  #closeDue(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    for (;;) {
      const group = this.#groups.takeDue(nowMs)
      if (group === null) return
      this.#settle(group)
    }
  }

  #settle(group: WhaleGroup): void {
    const { market, key } = group
    let ids: readonly string[] | null = null
    if (group.isPartial) {
      const { oldestMs, newestMs } = group.sum
      const gathered = this.#regroup.gather(market.number, oldestMs, newestMs).groups.get(key)
      if (gathered !== undefined) {
        group.sum = gathered.sum
        group.countedTo = this.#serial
        ids = gathered.ids
      }
      group.isPartial = false
    }
    group.row = this.#record(market.number, group.sum, { row: group.row, ids })
  }

  #regroupSome(): void {
    const { clock } = this.#parts
    const endsAtMs = clock.monotonicMs() + REGROUP_MS_MAX
    while (this.#regroup.hasWork && clock.monotonicMs() < endsAtMs) {
      const stretch = this.#regroup.step()
      if (stretch !== null) this.#settleStretch(stretch)
    }
  }

  #settleStretch({ market, groups, alone }: Stretch): void {
    for (const fill of alone) this.#record(market, new FillSum(fill), { row: null, ids: null })
    const sinceMs = this.#parts.clock.nowMs() - whaleCloseMs
    // Groups of earlier runs are closed now. If this run ended first, no later run would group them.
    const isYoung = ({ run, receivedAtMs }: WhaleFill) =>
      run === this.#parts.run && receivedAtMs > sinceMs
    const ref = this.#parts.market(market)?.ref
    for (const [key, { sum, ids }] of groups) {
      const group = this.#groups.get(market, key)
      if (group !== null) {
        group.sum = sum
        group.countedTo = this.#serial
        group.isPartial = false
        group.row ??= sum.usd < whaleRowUsdMin ? null : this.#find(market, ids)
        if (!group.isOpen) group.row = this.#record(market, sum, { row: group.row, ids })
      } else if (isYoung(sum.first) && ref !== undefined) {
        this.#open(ref, key, { sum, isPartial: true, countedTo: this.#serial })
      } else {
        this.#noteEvicted(sum.newestMs)
        this.#record(market, sum, { row: null, ids })
      }
    }
  }

  /**
   * Null if the sum of the fills is below the minimum. An existing row retains its id, time and offset. Its fills never
   * decrease, although the trades may have expired.
   */
  #record(
    market: MarketNumber,
    sum: FillSum,
    existing: { readonly row: StoredWhale | null; readonly ids: readonly string[] | null },
  ): StoredWhale | null {
    if (sum.usd < whaleRowUsdMin) return existing.row
    const row = existing.row ?? this.#find(market, existing.ids ?? [sum.first.trade.nativeId])
    const isDue =
      sum.usd >= whaleMessageUsdMin && sum.isPublished && (row === null || row.offset === null)
    if (row !== null && (sum.count < row.fills || (sum.count === row.fills && !isDue))) return row
    const view = this.#parts.market(market)
    if (view === null) {
      this.#withoutMarket.inc()
      return row
    }
    const { ref, summary } = view
    const { question, slug, eventSlug, category, outcomes } = summary
    const outcome = outcomes[sum.first.trade.outcomeIndex]?.label ?? null
    const { trade, receivedAtMs } = sum.first
    const stamp = isDue ? this.#parts.publisher.stamp('whales', market) : null
    const whale = {
      ...sum.row({ outcome, question, slug, eventSlug, category }, row ?? trade),
      receivedAtMs: row?.receivedAtMs ?? receivedAtMs,
      run: stamp === null ? (row?.run ?? null) : this.#parts.run,
      offset: stamp?.offset ?? row?.offset ?? null,
      seq: stamp?.seq ?? row?.seq ?? null,
    }
    const stored = this.#store(ref, row, whale)
    if (stamp !== null) this.#publish(ref, stored, stamp)
    else if (sum.isPublished) for (const watcher of this.#watchers) watcher.onWhaleRow(ref, stored)
    return stored
  }

  #find(market: MarketNumber, ids: readonly string[]): StoredWhale | null {
    for (const id of ids) {
      const row = this.#parts.storage.whales.get(market, id)
      if (row !== null) return row
    }
    return null
  }

  #store(
    market: WhaleMarket,
    row: StoredWhale | null,
    whale: Omit<StoredWhale, 'ordinal'>,
  ): StoredWhale {
    const { whales } = this.#parts.storage
    if (row === null) {
      this.#stored.inc()
      return whales.put(market, whale)
    }
    const stored = { ...whale, ordinal: row.ordinal }
    whales.replace(market, stored)
    return stored
  }

  #publish(market: MarketRef, whale: StoredWhale, { offset, seq }: Stamp): void {
    this.#published.inc()
    const times = { venueTimeMs: whale.timeMs, receivedAtMs: whale.receivedAtMs }
    this.#parts.publisher.publish({ kind: 'whale', market, offset, seq, ...times, whale })
  }

  #noteEvicted(timeMs: number): void {
    this.#groups.noteEvicted(timeMs, this.#parts.clock.nowMs())
  }

  /**
   * Schedules the next wake-up: when the next group is due, or soon if trades wait for regrouping. Not before
   * `delayMs`.
   */
  #arm(delayMs = 0): void {
    if (this.#isStopped) return
    const { clock } = this.#parts
    const nowMs = clock.monotonicMs()
    const dueAtMs = this.#groups.nextDueMs ?? Number.POSITIVE_INFINITY
    const workAtMs = this.#regroup.hasWork ? nowMs + REGROUP_PAUSE_MS : Number.POSITIVE_INFINITY
    const atMs = Math.max(Math.min(dueAtMs, workAtMs), nowMs + delayMs)
    if (this.#stopTimer !== null && this.#wakeAtMs <= atMs) return
    this.#stopTimer?.()
    this.#stopTimer = null
    if (atMs === Number.POSITIVE_INFINITY) return
    this.#wakeAtMs = atMs
    this.#stopTimer = clock.after(atMs - nowMs, () => {
      this.#stopTimer = null
      this.#self.send(WAKE)
    })
  }
}
