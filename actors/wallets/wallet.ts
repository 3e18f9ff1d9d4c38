// One requested wallet. Its figures come from a copy of the PnlState of the settled events, to which the unsettled
// events are applied.

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
  readonly onStored: (record: StoredWallet) => void
}

/** During a sync the PnlState is advanced when it lacks this many settled events, or a quarter of its events. */
const FORWARD_EVENTS = 512
const SMALL_BYTES = 262_144
/** Approximate memory of a wallet without its two PnlStates, and of one unsettled event. */
const WALLET_BYTES = 8_192
const EVENT_BYTES = 600

/** One day more than the longest window, whose first hour begins before the window. */
const HOURS_RETAINED = 31 * 24
const POSITION_BYTES = 400
const HISTORY_ENTRY_BYTES = 48

export class Wallet {
  readonly #parts: WalletParts
  #record: StoredWallet
  #ledger: WalletLedger
  /** The PnlState of the first `#pnlEvents` settled events. The stored state may have fewer (`#record.pnlEvents`). */
  #pnlState: PnlState
  #pnlEvents: number
  /** `#pnlState` with the unsettled events applied. Null after a change, until the next read. */
  #shown: PnlState | null = null
  #version = 0
  readonly #tail: WalletTail
  #mustRebuild = false
  #mustStore = false
  #isDamaged = false
  #mustResync = false
  #lacksGroups = false
  #difference: LedgerDifference | null = null

  /** `opened`: the PnlState on disk. Null if it is damaged or missing. */
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

  get tail(): Pick<
    WalletTail,
    'isCovered' | 'hasNewerFill' | 'hasRepeat' | 'isStuck' | 'readAtMs'
  > {
    return this.#tail
  }

  get hasData(): boolean {
    return this.#record.readAtMs > 0 || this.#record.events > 0 || this.#ledger.unsettled.length > 0
  }

  get isEmpty(): boolean {
    return this.#record.events === 0 && this.#ledger.unsettled.length === 0
  }

  get lacking(): number {
    return this.#record.lacking + this.#tail.unlisted.length
  }

  get unlisted(): readonly WalletEvent[] {
    return this.#tail.unlisted
  }

  get hasLostEvents(): boolean {
    return this.#record.lacking > 0 || this.#tail.isLastMissing
  }

  get isBehind(): boolean {
    return this.#record.events - this.#pnlEvents > blockEvents
  }

  /** Whether a block of the ledger is unreadable. The next sync rebuilds the ledger. */
  get isDamaged(): boolean {
    return this.#isDamaged
  }

  /**
   * Reasons why figures may be wrong. Empty: syncs appear to contain everything that is shown, and each conversion was
   * divided over its complete group.
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

  /** The differences that the last full resync of this process found, or null. */
  get difference(): LedgerDifference | null {
    return this.#difference
  }

  get needsRepair(): boolean {
    return this.#mustRebuild || this.#mustStore || this.#isDamaged || this.#mustResync
  }

  get bytes(): number {
    const unsettledBytes = EVENT_BYTES * this.#ledger.unsettled.length
    return WALLET_BYTES + 2 * this.#packedBytes + unsettledBytes
  }

  /** Estimated, because packing takes time. */
  get #packedBytes(): number {
    return this.#pnlState.positionCount * POSITION_BYTES + this.#record.events * HISTORY_ENTRY_BYTES
  }

  /** The PnlState of all known events. The caller must not change it. Throws LedgerDamage. */
  get shown(): PnlState {
    if (this.#shown !== null) return this.#shown
    const { events } = this.#record
    // The PnlState may lack a few settled events, which users saw before as unsettled events.
    const behind = this.isBehind ? [] : this.#ledger.events(this.#pnlEvents, events)
    const late = [...behind, ...this.#ledger.unsettled]
    const shown = late.length === 0 ? this.#pnlState : this.#pnlState.copy()
    for (const event of late) shown.apply(event, this.#parts.markets.find)
    this.#shown = shown
    return shown
  }

  /** The figures contain all events of the venue up to this time, the start of the last sync. */
  get asOfMs(): TimeMs {
    return this.#tail.readAtMs ?? (this.isBehind ? TIME_ZERO : this.#record.settledToMs)
  }

  noteRequest(atMs: TimeMs): void {
    // A resolution of one hour suffices to select the wallets to follow after a restart.
    if (atMs - this.#record.requestedAtMs < HOUR_MS) return
    this.#put({ requestedAtMs: atMs })
  }

  #put(set: Partial<StoredWallet>): void {
    this.#record = { ...this.#record, ...set }
    this.#parts.table.put(this.#record)
  }

  /**
   * Retains known fields that the new profile lacks. The venue names the owner only in answers to the owner's address,
   * and omits names if it lost the profile.
   */
  setProfile(profile: WalletProfile): void {
    const { eoa, handle, pseudonym, image } = this.#record
    this.#put({
      ...{ eoa: profile.eoa ?? eoa, handle: profile.handle ?? handle },
      ...{ pseudonym: profile.pseudonym ?? pseudonym, image: profile.image ?? image },
    })
    this.#parts.onStored(this.#record)
  }

  /**
   * Syncs from the ledger's end, or the full history after `resyncAll`. A damaged ledger retains its readable events
   * and is synced from its beginning. Stored events are never removed. Rejects if the venue does not answer, and shows
   * the events received before. Concurrent calls are not allowed.
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
    // After a full history without any event of the ledger, an answer need not contain the ledger's last event.
    const lastMs = listedToMs === TIME_ZERO ? null : (listedToMs ?? this.#ledger.lastMs)
    const task = {
      ...{ address: proxy, fromMs: settledToMs, nowMs: atMs, lastMs },
      shown: this.#tail.events(settledToMs),
      settle: (settled: Settled) => this.#settle(settled, source),
    }
    const result = await new HistorySync(task).run(source).catch(async (error) => {
      if (!source.signal.aborted && !(error instanceof LedgerDamage))
        await this.#applySettledEvents(source)
      throw error
    })
    // After the venue withheld a part of the history, the wallet stays incomplete until a full resync. A complete first
    // sync makes the wallet complete.
    const isCompleteNow = result.isComplete && (readAtMs === TIME_ZERO || isComplete)
    this.#record = {
      ...this.#record,
      ...{ readAtMs: atMs, isComplete: isCompleteNow, rules: WALLET_RULES },
    }
    return result
  }

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
    // If the venue's history ends before the ledger does, events after the ledger are not settled yet.
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

  /** Replaces the ledger after the PnlState of the new one was built. The old ledger is shown until then. */
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

  /** Called before eviction. A PnlState that must be rebuilt is rebuilt when the wallet is loaded again. */
  save(): void {
    this.storeTail()
    if (this.#mustRebuild || this.#isDamaged) this.#put({ pnlEvents: 0 })
    else if (this.#mustStore) this.#store()
  }

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

  /**
   * Time of the last settled event that the venue returned. Used if the venue returned none of the newly settled
   * events.
   */
  #listedBefore(unlistedCount: number): TimeMs | null {
    const { listedToMs } = this.#record
    if (listedToMs !== null || unlistedCount === 0) return listedToMs
    const position = this.#ledger.count - unlistedCount - 1
    return position < 0 ? TIME_ZERO : this.#ledger.at(position).timeMs
  }

  async #applySettledEvents(source: WalletSource): Promise<void> {
    await this.#forward(source)
    await this.#resolveOpen(source)
    if (this.#mustRebuild) {
      this.#mustRebuild = false
      this.#setPnlState(await new PnlForward(this.#parts, this.#ledger, source).rebuild())
      await this.#resolveOpen(source)
      // The rebuilt PnlState used all facts known now, so it need not be rebuilt again.
      this.#mustRebuild = false
    }
    if (this.#mustStore) {
      // Copying a large PnlState and computing its figures take long, so this yields first.
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
    if (packed !== null) this.#store()
    else this.#mustStore = true
  }

  async #resolveOpen(source: WalletSource): Promise<void> {
    const changedFacts = await this.#parts.markets.newFacts(this.#pnlState, source)
    const yielder = new EventLoopYielder(this.#parts.clock)
    for (const facts of changedFacts) {
      this.resolve(facts)
      await yielder.yieldIfDue()
    }
  }

  /**
   * Stores the figures. Also stores a small PnlState, because a large one is packed by the worker. Events and facts
   * that the stored state lacks are applied when the wallet is loaded again.
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

  /**
   * The PnlState by which the wallet ranks: the shown one, or that of the settled events if the ledger is unreadable.
   */
  #shownOrSettled(): PnlState {
    try {
      return this.shown
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.noteDamage(error)
      return this.#pnlState
    }
  }

  /** Shows a live fill unless the last sync contains it. */
  noteFill(fill: WalletEvent): void {
    this.#tail.noteFill(fill)
    this.#showUnsettled()
  }

  /**
   * Adds trades of the local log, for a wallet of which the venue returns nothing or less than before. If an event is
   * known, only trades after the ledger are added.
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
   * Trades of the log are compared with the last settled events, because log and history may state slightly different
   * times.
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

  noteRepeat(fill: WalletEvent): void {
    this.#tail.noteRepeat(fill)
  }

  resyncAll(): void {
    this.#mustResync = true
    this.#change()
  }

  resolve(facts: WalletMarket): void {
    const applied = this.#pnlState.resolve(facts)
    if (applied === 'rebuild') this.#mustRebuild = true
    if (applied !== 'ignored') this.#mustStore = true
    // The shown copy may contain markets that the P&L state lacks.
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

  /** The next sync rebuilds the ledger. */
  noteDamage(error: LedgerDamage): void {
    this.#isDamaged = true
    this.#parts.log.error(
      { err: error },
      'the ledger of a wallet is damaged; the next sync rebuilds it',
    )
  }
}

const otherSide = ({ side }: StoredWallet) => (side === 0 ? 1 : 0)

function rankedFigures(pnlState: PnlState, nowMs: TimeMs): Pick<StoredWallet, 'totals' | 'hours'> {
  const sinceMs = timeMs(Math.max(0, nowMs - HOURS_RETAINED * HOUR_MS))
  return { totals: pnlState.totals(), hours: pnlState.hours(sinceMs) }
}
