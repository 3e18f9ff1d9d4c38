// One requested wallet: its ledger, a PnlState of the settled events, and a copy of it with the unsettled events, which
// is shown.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../engine/clock.ts'
import { HOUR_MS, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import {
  isComboKind,
  type WalletEvent,
  type WalletMarket,
  type WalletProfile,
} from '../../engine/wallet.ts'
import { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletTable } from '../../storage/contract/storage.ts'
import { type StoredWallet, WALLET_RULES, walletSides } from '../../storage/contract/wallets.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import {
  HistorySync,
  type HistorySyncResult,
  type Settled,
  type WalletSource,
} from './history-sync.ts'
import { blockEvents, LedgerDamage, WalletLedger } from './ledger.ts'
import { type LedgerDifference, WalletMerge } from './ledger-merge.ts'
import { type LiveFills, notAmong } from './live-fills.ts'
import { type Forwarded, type ForwardParts, PnlForward } from './pnl-forward.ts'
import { WalletTail } from './tail.ts'
import type { WalletIssue } from './views.ts'

interface WalletParts extends ForwardParts {
  readonly table: WalletTable
  readonly live: LiveFills
  readonly clock: Clock
  /** Called when the wallet's figures were stored. */
  readonly onStored: (record: StoredWallet) => void
}

/** During a sync the PnlState advances by at least this many events, or a quarter of those it has. */
const FORWARD_EVENTS = 512
/** A PnlState up to this size is packed in one or two milliseconds. */
const SMALL_BYTES = 262_144
/** Approximate memory of a wallet without its two PnlStates, and of an event. */
const WALLET_BYTES = 8_192
const EVENT_BYTES = 600

/** Hours stored with the record: a window of thirty days needs one more day, because hours begin before it. */
const HOURS_RETAINED = 31 * 24
/** Approximate bytes of a position and an event in a packed PnlState. */
const POSITION_BYTES = 400
const HISTORY_ENTRY_BYTES = 48

export class Wallet {
  readonly #parts: WalletParts
  #record: StoredWallet
  #ledger: WalletLedger
  /** Covers the first `#pnlEvents` settled events. The stored state may have fewer (`#record.pnlEvents`). */
  #pnlState: PnlState
  #pnlEvents: number
  /** The PnlState with the unsettled events; built when read, null after a change. */
  #shown: PnlState | null = null
  /** Increases when anything shown changes. */
  #version = 0
  readonly #tail: WalletTail
  #mustRebuild = false
  #mustStore = false
  #isDamaged = false
  #mustResync = false
  #lacksGroups = false
  #difference: LedgerDifference | null = null

  /** Opens a stored wallet. `opened` is the PnlState on disk; null if it is damaged or missing. */
  constructor(parts: WalletParts, record: StoredWallet, opened: PnlState | null) {
    this.#parts = parts
    this.#record = record
    this.#tail = new WalletTail(parts.table, record.proxy, parts.live.of(record.proxy))
    this.#ledger = new WalletLedger(parts.table, record.proxy, {
      count: record.events,
      side: record.side,
    })
    this.#pnlState = opened ?? PnlState.empty()
    this.#pnlEvents = opened === null ? 0 : record.pnlEvents
    this.#ledger.setUnsettled(this.#tail.events(record.settledToMs))
    const isRead = record.readAtMs > 0 || record.events > 0
    this.#mustResync = isRead && record.rules < WALLET_RULES
    if (opened !== null || record.pnlEvents === 0) return
    this.#record = { ...record, pnlEvents: 0 }
    parts.log.warn(
      { wallet: record.proxy },
      'the stored PnL state of a wallet cannot be opened and is rebuilt',
    )
  }

  get record(): StoredWallet {
    return this.#record
  }

  get ledger(): WalletLedger {
    return this.#ledger
  }

  get version(): number {
    return this.#version
  }

  /** The events after the ledger. */
  get tail(): Pick<
    WalletTail,
    'isCovered' | 'hasNewerFill' | 'hasRepeat' | 'isStuck' | 'readAtMs'
  > {
    return this.#tail
  }

  /** A sync was complete once, or an event is known. */
  get hasData(): boolean {
    return this.#record.readAtMs > 0 || this.#record.events > 0 || this.#ledger.unsettled.length > 0
  }

  /** No event is known. */
  get isEmpty(): boolean {
    return this.#record.events === 0 && this.#ledger.unsettled.length === 0
  }

  /** Number of stored events, settled and unsettled, that the venue's answers lack. */
  get lacking(): number {
    return this.#record.lacking + this.#tail.unlisted.length
  }

  /** Unsettled events that the venue’s answers lack, ordered by time. */
  get unlisted(): readonly WalletEvent[] {
    return this.#tail.unlisted
  }

  /** The venue's answers lack events that earlier answers contained. */
  get hasLostEvents(): boolean {
    return this.#record.lacking > 0 || this.#tail.isLastMissing
  }

  /** Newly settled events are not in any figure yet. */
  get isBehind(): boolean {
    return this.#record.events - this.#pnlEvents > blockEvents
  }

  /** A block of the ledger cannot be read; the next sync rebuilds the ledger. */
  get isDamaged(): boolean {
    return this.#isDamaged
  }

  /**
   * Why figures may be wrong. Empty: syncs appear to contain everything that is shown, and each conversion was divided
   * over its whole group.
   */
  get issues(): readonly WalletIssue[] {
    const issues: WalletIssue[] = []
    if (this.hasLostEvents) issues.push('venue_lacks_kept')
    else if (!this.#tail.isComplete) issues.push('venue_unsure')
    if (!this.#record.isComplete && this.#record.readAtMs > 0) issues.push('venue_withheld')
    if (this.#record.readAtMs === TIME_ZERO) issues.push('not_read_whole')
    if (!this.#tail.isCovered) issues.push('not_told_yet')
    if (this.isBehind || this.#mustResync) issues.push('figures_behind')
    if (this.#lacksGroups) issues.push('group_unknown')
    if (this.#hasCombos) issues.push('combos')
    return issues
  }

  get #hasCombos(): boolean {
    return this.#pnlState.hasCombos || this.#ledger.unsettled.some(({ kind }) => isComboKind(kind))
  }

  get isComplete(): boolean {
    return this.issues.length === 0
  }

  /** The differences found by the last full resync in this process; null: none. */
  get difference(): LedgerDifference | null {
    return this.#difference
  }

  /** The next sync, or `save`, must repair something. */
  get needsRepair(): boolean {
    return this.#mustRebuild || this.#mustStore || this.#isDamaged || this.#mustResync
  }

  /** Approximate memory of the wallet, in bytes. */
  get bytes(): number {
    const unsettledBytes = EVENT_BYTES * this.#ledger.unsettled.length
    return WALLET_BYTES + 2 * this.#packedBytes + unsettledBytes
  }

  /** Approximate size of the packed PnlState, in bytes. */
  get #packedBytes(): number {
    return this.#pnlState.positionCount * POSITION_BYTES + this.#record.events * HISTORY_ENTRY_BYTES
  }

  /** The PnlState of all known events; do not change it. Throws LedgerDamage. */
  get shown(): PnlState {
    if (this.#shown !== null) return this.#shown
    const { events } = this.#record
    // The few settled events that the PnlState lacks were shown as unsettled before.
    const behind = this.isBehind ? [] : this.#ledger.events(this.#pnlEvents, events)
    const late = [...behind, ...this.#ledger.unsettled]
    const shown = late.length === 0 ? this.#pnlState : this.#pnlState.copy()
    for (const event of late) shown.apply(event, this.#parts.markets.find)
    this.#shown = shown
    return shown
  }

  /** The figures contain all events up to this time: the start of the last sync, regardless of later live fills. */
  get asOfMs(): TimeMs {
    return this.#tail.readAtMs ?? (this.isBehind ? TIME_ZERO : this.#record.settledToMs)
  }

  noteRequest(atMs: TimeMs): void {
    // Hourly precision: it only decides which wallets are followed after a restart.
    if (atMs - this.#record.requestedAtMs < HOUR_MS) return
    this.#put({ requestedAtMs: atMs })
  }

  #put(set: Partial<StoredWallet>): void {
    this.#record = { ...this.#record, ...set }
    this.#parts.table.put(this.#record)
  }

  /**
   * Known fields that the new profile lacks are retained. The venue names the owner only in requests by the owner's
   * address. A venue that has lost a profile returns a wallet without names.
   */
  setProfile(profile: WalletProfile): void {
    const { eoa, handle, pseudonym, image } = this.#record
    this.#put({
      ...{ eoa: profile.eoa ?? eoa, handle: profile.handle ?? handle },
      ...{ pseudonym: profile.pseudonym ?? pseudonym, image: profile.image ?? image },
    })
    this.#parts.onStored(this.#record)
  }

  // Sync

  /**
   * Syncs from the ledger's end, or the full history, and shows the result. Rejects if the venue does not answer;
   * events received before that are retained. Stored events are never removed. A damaged ledger keeps its readable
   * events, and the full history is read again. One call at a time.
   */
  async sync(source: WalletSource): Promise<void> {
    if (this.#isDamaged) await this.#salvage(source)
    try {
      await this.#forward(source)
      await this.#syncOnce(source)
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.noteDamage(error)
      await this.#salvage(source)
      await this.#syncOnce(source)
    }
  }

  async #syncOnce(source: WalletSource): Promise<void> {
    const atMs = this.#parts.clock.nowMs()
    const endSync = this.#tail.begin(atMs)
    const result = this.#mustResync
      ? await this.#resyncAll(atMs, source)
      : await this.#syncOn(atMs, source)
    await this.#parts.markets.learnGroupsOf(result.unsettled, source)
    await this.#parts.markets.learnMarketsOf(result.unsettled, source)
    this.#mustStore = true
    endSync(result)
    this.#showUnsettled()
    await this.#applySettledEvents(source)
    this.storeTail()
  }

  async #syncOn(atMs: TimeMs, source: WalletSource): Promise<HistorySyncResult> {
    const { proxy, settledToMs, readAtMs, isComplete, listedToMs } = this.#record
    // If the last full history contained nothing of the ledger, the answer need not contain the last event.
    const lastMs = listedToMs === TIME_ZERO ? null : (listedToMs ?? this.#ledger.lastMs)
    const task = {
      ...{ address: proxy, fromMs: settledToMs, nowMs: atMs, lastMs },
      shown: this.#tail.events(settledToMs),
      settle: (settled: Settled) => this.#settle(settled, source),
    }
    const result = await new HistorySync(task).run(source).catch(async (error) => {
      // Shows the events received before the failure.
      if (!source.signal.aborted && !(error instanceof LedgerDamage))
        await this.#applySettledEvents(source)
      throw error
    })
    // After the venue withheld a part of the history, the wallet stays incomplete. A complete first sync makes it
    // complete.
    const isCompleteNow = result.isComplete && (readAtMs === TIME_ZERO || isComplete)
    this.#record = {
      ...this.#record,
      ...{ readAtMs: atMs, isComplete: isCompleteNow, rules: WALLET_RULES },
    }
    return result
  }

  /** Reads the venue's full history and merges it into the ledger: adds new events and retains lacking ones. */
  async #resyncAll(atMs: TimeMs, source: WalletSource): Promise<HistorySyncResult> {
    const { proxy, settledToMs } = this.#record
    const merged = this.#otherLedger()
    const merge = new WalletMerge(this.#ledger, merged, this.#parts.clock)
    let unlistedCount = 0
    const task = {
      ...{ address: proxy, fromMs: TIME_ZERO, nowMs: atMs, lastMs: null },
      shown: this.#tail.events(settledToMs),
      settle: async (settled: Settled) => {
        await merge.take(settled)
        unlistedCount += settled.unlistedCount
      },
    }
    const result = await new HistorySync(task).run(source)
    await merge.finish()
    if (merge.newCount > 0) await this.#replaceLedger(merged, source)
    else this.#parts.table.removeBlocks(proxy, walletSides[otherSide(this.#record)])
    this.#difference = { atMs, ...merge.difference(result.settledToMs) }
    const lacking = this.#difference.lackingCount + unlistedCount
    // An answer that ends before the ledger provides no information about later times.
    const endMs = timeMs(Math.max(settledToMs, (this.#ledger.lastMs ?? -1_000) + 1_000))
    this.#record = {
      ...this.#record,
      ...{ readAtMs: atMs, isComplete: result.isComplete, lacking, rules: WALLET_RULES },
      listedToMs: merge.lastListedMs ?? TIME_ZERO,
      settledToMs: merge.isUpToDate ? timeMs(Math.max(endMs, result.settledToMs)) : endMs,
    }
    this.#mustResync = false
    return { ...result, isLastListed: lacking === 0 }
  }

  #otherLedger(): WalletLedger {
    const { table } = this.#parts
    const side = otherSide(this.#record)
    table.removeBlocks(this.#record.proxy, walletSides[side])
    return new WalletLedger(table, this.#record.proxy, { count: 0, side })
  }

  /** Builds the new ledger's PnlState first; the old ledger is shown meanwhile. */
  async #replaceLedger(ledger: WalletLedger, source: WalletSource): Promise<void> {
    const { table } = this.#parts
    const before = walletSides[this.#record.side]
    const { proxy } = this.#record
    await this.#parts.markets.learnGroupsOf(ledger.read(0, ledger.count), source)
    const made = await new PnlForward(this.#parts, ledger, source).rebuild()
    ledger.setUnsettled(this.#ledger.unsettled)
    this.#ledger = ledger
    const { count: events, blockCount: blocks } = ledger
    this.#put({ side: otherSide(this.#record), events, blocks, pnlEvents: 0 })
    this.#setPnlState(made)
    this.#mustRebuild = false
    table.removeBlocks(proxy, before)
  }

  /** Replaces a damaged ledger by its readable events; the next sync reads the full history. */
  async #salvage(source: WalletSource): Promise<void> {
    const ledger = this.#otherLedger()
    for (const events of this.#ledger.readable()) {
      await ledger.append(events)
      await nextTurn()
    }
    await this.#replaceLedger(ledger, source)
    this.#isDamaged = false
    this.resyncAll()
  }

  /** Called before eviction. A PnlState marked for rebuilding is rebuilt when the wallet is loaded again. */
  save(): void {
    this.storeTail()
    if (this.#mustRebuild || this.#isDamaged) this.#put({ pnlEvents: 0 })
    else if (this.#mustStore) this.#store()
  }

  /** Stores the events after the ledger if they changed. */
  storeTail(): void {
    this.#tail.store(this.#ledger.unsettled)
  }

  async #settle(
    { events, settledToMs, listedToMs, unlistedCount }: Settled,
    source: WalletSource,
  ): Promise<void> {
    await this.#ledger.append(events)
    const { count, blockCount } = this.#ledger
    this.#put({
      ...{ events: count, blocks: blockCount, settledToMs },
      lacking: this.#record.lacking + unlistedCount,
      listedToMs: listedToMs ?? this.#listedBefore(unlistedCount),
    })
    this.#ledger.setUnsettled(this.#ledger.unsettled.filter((one) => one.timeMs >= settledToMs))
    this.#change()
    const threshold = Math.max(FORWARD_EVENTS, this.#pnlEvents / 4)
    if (count - this.#pnlEvents >= threshold) await this.#forward(source)
  }

  /** Time of the last event in the venue's answers, if they contain none of the newly settled ones. */
  #listedBefore(unlistedCount: number): TimeMs | null {
    const { listedToMs } = this.#record
    if (listedToMs !== null || unlistedCount === 0) return listedToMs
    const position = this.#ledger.count - unlistedCount - 1
    return position < 0 ? TIME_ZERO : this.#ledger.at(position).timeMs
  }

  /** Advances the PnlState to the last settled event with current market facts, and stores it. */
  async #applySettledEvents(source: WalletSource): Promise<void> {
    await this.#forward(source)
    await this.#resolveOpen(source)
    if (this.#mustRebuild) {
      this.#mustRebuild = false
      this.#setPnlState(await new PnlForward(this.#parts, this.#ledger, source).rebuild())
      await this.#resolveOpen(source)
      // The rebuilt PnlState used all facts known now: no second rebuild is needed.
      this.#mustRebuild = false
    }
    if (this.#mustStore) {
      // Copying a large PnlState, its figures, and the rest of a sync take one tick each.
      await nextTurn()
      this.#shownOrSettled()
      await nextTurn()
      this.#store()
    }
    const isLacking = this.#parts.markets.lacksGroups(this.#pnlState, this.#ledger.unsettled)
    if (isLacking !== this.#lacksGroups) this.#change()
    this.#lacksGroups = isLacking
  }

  async #forward(source: WalletSource): Promise<void> {
    if (this.#pnlEvents === this.#ledger.count) return
    const late = this.#ledger.read(this.#pnlEvents, this.#ledger.count)
    await this.#parts.markets.learnGroupsOf(late, source)
    const task = { pnlState: this.#pnlState, events: this.#pnlEvents, stored: this.#storedPnlState }
    const forward = new PnlForward(this.#parts, this.#ledger, source)
    this.#setPnlState(await forward.advance(task))
  }

  readonly #storedPnlState = (): Forwarded['packed'] => {
    const { pnlEvents: events, proxy } = this.#record
    if (events === 0 || events % blockEvents !== 0) return null
    const bytes = this.#parts.table.pnlState(proxy)
    return bytes === null ? null : { bytes, events }
  }

  #setPnlState({ pnlState, events, packed }: Forwarded): void {
    this.#pnlState = pnlState
    this.#pnlEvents = events
    if (packed !== null) {
      this.#parts.table.putPnlState(this.#record.proxy, packed.bytes)
      this.#record = { ...this.#record, pnlEvents: packed.events }
    }
    this.#change()
    // A PnlState that was advanced on this thread is stored with the next change.
    if (packed !== null) this.#store()
    else this.#mustStore = true
  }

  /**
   * Applies market facts that became known, or markets that resolved, while the wallet was on disk or a worker was
   * running.
   */
  async #resolveOpen(source: WalletSource): Promise<void> {
    const changedFacts = await this.#parts.markets.newFacts(this.#pnlState, source)
    const yielder = new EventLoopYielder(this.#parts.clock)
    for (const facts of changedFacts) {
      this.resolve(facts)
      await yielder.yieldIfDue()
    }
  }

  /**
   * Stores the figures, and the PnlState only if it is small. A large one is stored as the worker packs it. Missing
   * events and facts are applied when the wallet is loaded again.
   */
  #store(): void {
    const { table, clock } = this.#parts
    if (this.#packedBytes <= SMALL_BYTES) {
      table.putPnlState(this.#record.proxy, this.#pnlState.pack())
      this.#record = { ...this.#record, pnlEvents: this.#pnlEvents }
    }
    this.#mustStore = false
    this.#put(rankedFigures(this.#shownOrSettled(), clock.nowMs()))
    this.#parts.onStored(this.#record)
  }

  /** The shown PnlState, by which the wallet ranks; that of the settled events if the ledger cannot be read. */
  #shownOrSettled(): PnlState {
    try {
      return this.shown
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.noteDamage(error)
      return this.#pnlState
    }
  }

  // Changes between syncs

  /** Shows a live fill from now on, unless the last sync contains it. */
  noteFill(fill: WalletEvent): void {
    this.#tail.noteFill(fill)
    this.#showUnsettled()
  }

  /**
   * Adds trades of our own log, for a wallet of which the venue's answers have nothing or less than before. Adds all of
   * them if no other event is known, else those after the ledger.
   */
  addEvents(events: readonly WalletEvent[]): void {
    if (this.isEmpty)
      this.#record = { ...this.#record, settledToMs: TIME_ZERO, listedToMs: TIME_ZERO }
    const { settledToMs } = this.#record
    const isBehind = ({ timeMs: atMs }: WalletEvent) => atMs >= settledToMs
    const existing = [...this.#lastSettled(), ...this.#ledger.unsettled]
    const unknown = notAmong(events.filter(isBehind), existing)
    if (unknown.length === 0) return
    this.#tail.add(unknown)
    this.#showUnsettled()
    this.storeTail()
    this.#parts.table.put(this.#record)
  }

  /**
   * The last settled events, for comparison: the log and the history may state slightly different times for an event.
   */
  #lastSettled(): readonly WalletEvent[] {
    const { count } = this.#ledger
    try {
      return this.#ledger.events(Math.max(0, count - blockEvents), count)
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.noteDamage(error)
      return []
    }
  }

  /** See WalletTail. */
  noteRepeat(fill: WalletEvent): void {
    this.#tail.noteRepeat(fill)
  }

  /** Makes the next sync a full resync. */
  resyncAll(): void {
    this.#mustResync = true
    this.#change()
  }

  /** Applies changed facts of a market. */
  resolve(facts: WalletMarket): void {
    const applied = this.#pnlState.resolve(facts)
    if (applied === 'rebuild') this.#mustRebuild = true
    if (applied !== 'ignored') this.#mustStore = true
    // The copy with unsettled events may have further markets.
    const isShown = this.#shown !== null && this.#shown !== this.#pnlState
    const isChanged = isShown && this.#shown?.resolve(facts) !== 'ignored'
    if (applied !== 'ignored' || isChanged) this.#change()
  }

  #showUnsettled(): void {
    this.#ledger.setUnsettled(this.#tail.events(this.#record.settledToMs))
    this.#change()
  }

  #change(): void {
    this.#version += 1
    this.#shown = null
  }

  // Damage

  /** Marks the ledger as damaged: the next sync rebuilds it. */
  noteDamage(error: LedgerDamage): void {
    this.#isDamaged = true
    this.#parts.log.error(
      { err: error },
      'the ledger of a wallet is damaged; the next sync rebuilds it',
    )
  }
}

const otherSide = ({ side }: StoredWallet) => (side === 0 ? 1 : 0)

/** The totals and hours of the last thirty days, by which a wallet ranks. */
function rankedFigures(pnlState: PnlState, nowMs: TimeMs): Pick<StoredWallet, 'totals' | 'hours'> {
  const sinceMs = timeMs(Math.max(0, nowMs - HOURS_RETAINED * HOUR_MS))
  return { totals: pnlState.totals(), hours: pnlState.hours(sinceMs) }
}
