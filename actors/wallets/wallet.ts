// One wallet that somebody asked for: its ledger, its running tally over the settled events, and a copy of that with
// the unsettled ones taken in, which is what is shown. Read from the venue by one reading at a time; between readings
// live fills are taken in at once, and the next reading replaces them.
// Not for: when it is read, or how long it stays in memory (wallets.ts); what users see of it (actors/wallets/look.ts).
// Upholds WALLETS1 to WALLETS9, WALLETS14, WALLETS19 to WALLETS22.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../engine/clock.ts'
import { HOUR_MS, TIME_ZERO, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletEvent, WalletMarket, WalletProfile } from '../../engine/wallet.ts'
import { WalletTally } from '../../engine/wallets/tally.ts'
import { type StoredWallet, type WalletTable, walletSides } from '../../storage/contract/wallets.ts'
import { Turns } from '../turns.ts'
import {
  bringForward,
  type Forwarded,
  type ForwardParts,
  learn,
  type Packed,
  rebuilt,
} from './forward.ts'
import { eventsBetween, lacksGroups, learnGroupsOf, newFacts } from './groups.ts'
import { blockEvents, LedgerDamage, WalletLedger } from './ledger.ts'
import { type LiveFills, untold } from './live.ts'
import { type LedgerDifference, WalletMerge } from './merge.ts'
import { type ReadingResult, readWallet, type Settled, type WalletSource } from './reading.ts'
import { type OpenedTally, packedBytes, rankedFigures } from './stored.ts'
import { WalletTail } from './tail.ts'
import type { WalletDoubt } from './views.ts'

export interface WalletParts extends ForwardParts {
  readonly table: WalletTable
  readonly live: LiveFills
  readonly clock: Clock
  /** Figures of the settled events were stored anew. */
  readonly onStored: (record: StoredWallet) => void
}

/** While a reading lasts, the tally is brought forward by at least so many events, or a quarter of what it has. */
const FORWARD_EVENTS = 512
/** A tally so small is packed in a millisecond or two. */
const SMALL_BYTES = 262_144
/** What a wallet takes in memory beside its two tallies, about; and an event. */
const WALLET_BYTES = 8_192
const EVENT_BYTES = 600

export class Wallet {
  readonly #parts: WalletParts
  #record: StoredWallet
  #ledger: WalletLedger
  /** Of the settled events the first so many; the one on disk may have fewer, `#record.tallyEvents`. */
  #tally: WalletTally
  #tallyEvents: number
  /** About what it would take packed. */
  #tallyBytes = 0
  /** With the unsettled events; made when it is looked at, null when something changed. */
  #shown: WalletTally | null = null
  /** Counts up when anything changes that is shown. */
  #version = 0
  readonly #tail: WalletTail
  #mustRebuild = false
  #mustStore = false
  #isDamaged = false
  #mustReadAnew = false
  #lacksGroups = false
  #difference: LedgerDifference | null = null

  /** Takes up what is stored; `opened` is the tally on disk, null where it is damaged or there is none. */
  constructor(parts: WalletParts, record: StoredWallet, opened: OpenedTally | null) {
    this.#parts = parts
    this.#record = record
    this.#tail = new WalletTail(parts.table, record.proxy, parts.live.of(record.proxy))
    this.#ledger = new WalletLedger(parts.table, record.proxy, {
      count: record.events,
      side: record.side,
    })
    this.#tally = opened?.tally ?? WalletTally.empty()
    this.#tallyEvents = opened === null ? 0 : record.tallyEvents
    this.#tallyBytes = opened?.byteLength ?? 0
    this.#ledger.setUnsettled(this.#tail.events(record.settledToMs))
    if (opened !== null || record.tallyEvents === 0) return
    this.#record = { ...record, tallyEvents: 0 }
    parts.log.warn({ wallet: record.proxy }, 'the tally of a wallet is damaged and made anew')
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

  /** What it did since its ledger ends. */
  get tail(): Pick<WalletTail, 'isCovered' | 'isOutrun' | 'isDoubtful' | 'isStuck' | 'readAtMs'> {
    return this.#tail
  }

  /** A reading was whole once, or something that it did is known. */
  get isKnown(): boolean {
    return this.#record.readAtMs > 0 || this.#record.events > 0 || this.#ledger.unsettled.length > 0
  }

  /** Nothing that it did is known. */
  get isEmpty(): boolean {
    return this.#record.events === 0 && this.#ledger.unsettled.length === 0
  }

  /** Events that are kept here and that the venue does not tell: settled ones, and those of the last minutes. */
  get lacking(): number {
    return this.#record.lacking + this.#tail.untold.length
  }

  /** Of these the ones behind the ledger, in order. */
  get untold(): readonly WalletEvent[] {
    return this.#tail.untold
  }

  /** The venue's answers lack what it told before. */
  get isForgotten(): boolean {
    return this.#record.lacking > 0 || this.#tail.isForgotten
  }

  /** Settled events that came lately are in no figure yet. */
  get isBehind(): boolean {
    return this.#record.events - this.#tallyEvents > blockEvents
  }

  /** Nothing of its ledger can be told until it was read again. */
  get isDamaged(): boolean {
    return this.#isDamaged
  }

  /**
   * Why figures may be wrong; none: readings of the venue told everything that is shown, as far as anybody can see, and
   * each conversion was divided over its whole group.
   */
  get doubts(): readonly WalletDoubt[] {
    const doubts: WalletDoubt[] = []
    if (this.isForgotten) doubts.push('venue_lacks_kept')
    else if (!this.#tail.isWhole) doubts.push('venue_unsure')
    if (!this.#record.isComplete && this.#record.readAtMs > 0) doubts.push('venue_withheld')
    if (this.#record.readAtMs === TIME_ZERO) doubts.push('not_read_whole')
    if (!this.#tail.isCovered) doubts.push('not_told_yet')
    if (this.isBehind || this.#mustReadAnew) doubts.push('figures_behind')
    if (this.#lacksGroups) doubts.push('group_unknown')
    return doubts
  }

  get isWhole(): boolean {
    return this.doubts.length === 0
  }

  /** What came of the last reading of everything in this process; null: there was none. */
  get difference(): LedgerDifference | null {
    return this.#difference
  }

  /** Something that the next reading puts right, or `save`. */
  get isUntidy(): boolean {
    return this.#mustRebuild || this.#mustStore || this.#isDamaged || this.#mustReadAnew
  }

  /** About what it takes in memory. */
  get bytes(): number {
    return WALLET_BYTES + 2 * this.#tallyBytes + EVENT_BYTES * this.#ledger.unsettled.length
  }

  /** The tally of everything that is known now, not to be changed. Throws LedgerDamage. */
  get shown(): WalletTally {
    if (this.#shown !== null) return this.#shown
    const { events } = this.#record
    // A few settled events that are not in the tally yet were shown as unsettled before.
    const behind = this.isBehind ? [] : this.#ledger.events(this.#tallyEvents, events)
    const late = [...behind, ...this.#ledger.unsettled]
    const shown = late.length === 0 ? this.#tally : this.#tally.copy()
    for (const event of late) shown.apply(event, this.#parts.markets.find)
    this.#shown = shown
    return shown
  }

  /** Everything up to here is in the figures: when the last reading began, whatever the stream has told since. */
  get asOfMs(): TimeMs {
    return this.#tail.readAtMs ?? (this.isBehind ? TIME_ZERO : this.#record.settledToMs)
  }

  ask(atMs: TimeMs): void {
    // An hour's precision is enough for who is followed after a restart.
    if (atMs - this.#record.askedAtMs < HOUR_MS) return
    this.#record = { ...this.#record, askedAtMs: atMs }
    this.#parts.table.put(this.#record)
  }

  /**
   * What is known and not told now stays: an owner is told only to who asks by its address, and a venue that has lost a
   * profile tells a wallet without names.
   */
  setProfile(profile: WalletProfile): void {
    const { proxy, eoa, handle, pseudonym, image } = this.#record
    this.#record = {
      ...{ ...this.#record, proxy, eoa: profile.eoa ?? eoa, handle: profile.handle ?? handle },
      ...{ pseudonym: profile.pseudonym ?? pseudonym, image: profile.image ?? image },
    }
    this.#parts.table.put(this.#record)
    this.#parts.onStored(this.#record)
  }

  // Reading

  /**
   * Reads on from where the ledger ends, or all of it anew, and shows what came. Rejects when the venue does not answer,
   * with what came before kept. What is kept stays, whatever the venue answers; of a damaged ledger stays what can be
   * read, and all of it is read anew. One call at a time.
   */
  async read(source: WalletSource, signal: AbortSignal): Promise<void> {
    if (this.#isDamaged) await this.#salvage(source, signal)
    try {
      await this.#forward(source, signal)
      await this.#readOnce(source, signal)
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.noteDamage(error)
      await this.#salvage(source, signal)
      await this.#readOnce(source, signal)
    }
  }

  async #readOnce(source: WalletSource, signal: AbortSignal): Promise<void> {
    const atMs = this.#parts.clock.nowMs()
    const told = this.#tail.begin(atMs)
    const result = this.#mustReadAnew
      ? await this.#readAnew(atMs, source, signal)
      : await this.#readOn(atMs, source, signal)
    await learnGroupsOf(this.#parts, result.unsettled, { ...source, signal })
    await learn(this.#parts, result.unsettled, { ...source, signal })
    this.#mustStore = true
    told(result)
    this.#showUnsettled()
    await this.#bringUp(source, signal)
    this.storeTail()
  }

  async #readOn(atMs: TimeMs, source: WalletSource, signal: AbortSignal): Promise<ReadingResult> {
    const { proxy, settledToMs, readAtMs, isComplete, toldToMs } = this.#record
    // Where the venue told nothing of the ledger when it was asked for all of it, it need not prove anything.
    const lastMs = toldToMs === TIME_ZERO ? null : (toldToMs ?? this.#ledger.lastMs)
    const task = {
      ...{ address: proxy, fromMs: settledToMs, nowMs: atMs, lastMs },
      shown: this.#tail.events(settledToMs),
      settle: (settled: Settled) => this.#settle(settled, source, signal),
    }
    const result = await readWallet(source.wallets, task, signal).catch(async (error) => {
      // What came before it broke off is shown.
      if (!signal.aborted && !(error instanceof LedgerDamage)) await this.#bringUp(source, signal)
      throw error
    })
    // Once a part was withheld the sums stay wrong; a wallet that was never read whole had nothing to be wrong.
    const isWhole = result.isComplete && (readAtMs === TIME_ZERO || isComplete)
    this.#record = { ...this.#record, readAtMs: atMs, isComplete: isWhole }
    return result
  }

  /** The venue's whole history beside the ledger: what is new comes into it, what is not told any more stays. */
  async #readAnew(atMs: TimeMs, source: WalletSource, signal: AbortSignal): Promise<ReadingResult> {
    const { proxy, settledToMs } = this.#record
    const merged = this.#otherLedger()
    const merge = new WalletMerge(this.#ledger, merged, this.#parts.clock)
    let untoldCount = 0
    const task = {
      ...{ address: proxy, fromMs: TIME_ZERO, nowMs: atMs, lastMs: null },
      shown: this.#tail.events(settledToMs),
      settle: async (settled: Settled) => {
        await merge.take(settled)
        untoldCount += settled.untoldCount
      },
    }
    const result = await readWallet(source.wallets, task, signal)
    await merge.finish()
    if (merge.newCount > 0) await this.#replaceLedger(merged, source, signal)
    else this.#parts.table.removeBlocks(proxy, walletSides[otherSide(this.#record)])
    this.#difference = { atMs, ...merge.difference(result.settledToMs) }
    const lacking = this.#difference.lackingCount + untoldCount
    // Of an answer that ends before the ledger does, nothing follows for what comes behind it.
    const endMs = timeMs(Math.max(settledToMs, (this.#ledger.lastMs ?? -1_000) + 1_000))
    this.#record = {
      ...this.#record,
      ...{ readAtMs: atMs, isComplete: result.isComplete, lacking },
      toldToMs: merge.lastToldMs ?? TIME_ZERO,
      settledToMs: merge.isUpToDate ? timeMs(Math.max(endMs, result.settledToMs)) : endMs,
    }
    this.#mustReadAnew = false
    return { ...result, isLastTold: lacking === 0 }
  }

  #otherLedger(): WalletLedger {
    const { table } = this.#parts
    const side = otherSide(this.#record)
    table.removeBlocks(this.#record.proxy, walletSides[side])
    return new WalletLedger(table, this.#record.proxy, { count: 0, side })
  }

  /** The tally of the new ledger is made first: what is shown meanwhile is of the old one. */
  async #replaceLedger(
    ledger: WalletLedger,
    source: WalletSource,
    signal: AbortSignal,
  ): Promise<void> {
    const { table } = this.#parts
    const before = walletSides[this.#record.side]
    const { proxy } = this.#record
    const asking = { ...source, signal }
    await learnGroupsOf(this.#parts, eventsBetween(ledger, 0, ledger.count), asking)
    const made = await rebuilt(this.#parts, ledger, asking)
    ledger.setUnsettled(this.#ledger.unsettled)
    this.#ledger = ledger
    const { count: events, blockCount: blocks } = ledger
    this.#record = {
      ...this.#record,
      side: otherSide(this.#record),
      events,
      blocks,
      tallyEvents: 0,
    }
    table.put(this.#record)
    this.#takeTally(made)
    this.#mustRebuild = false
    table.removeBlocks(proxy, before)
  }

  /** A damaged ledger becomes what can be read of it; the next reading is anew. */
  async #salvage(source: WalletSource, signal: AbortSignal): Promise<void> {
    const ledger = this.#otherLedger()
    for (const events of this.#ledger.readable()) {
      await ledger.append(events)
      await nextTurn()
    }
    await this.#replaceLedger(ledger, source, signal)
    this.#isDamaged = false
    this.readAnew()
  }

  /** Before it goes: what must be made anew is made anew when it comes back. */
  save(): void {
    this.storeTail()
    if (this.#mustRebuild || this.#isDamaged) {
      this.#record = { ...this.#record, tallyEvents: 0 }
      this.#parts.table.put(this.#record)
    } else if (this.#mustStore) this.#store()
  }

  /** Puts on disk what it did since its ledger ends, where that is not there. */
  storeTail(): void {
    this.#tail.store(this.#ledger.unsettled)
  }

  async #settle(
    { events, settledToMs, toldToMs, untoldCount }: Settled,
    source: WalletSource,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#ledger.append(events)
    const { count, blockCount } = this.#ledger
    this.#record = {
      ...{ ...this.#record, events: count, blocks: blockCount, settledToMs },
      lacking: this.#record.lacking + untoldCount,
      toldToMs: toldToMs ?? this.#toldBefore(untoldCount),
    }
    this.#parts.table.put(this.#record)
    this.#ledger.setUnsettled(this.#ledger.unsettled.filter((one) => one.timeMs >= settledToMs))
    this.#change()
    const due = Math.max(FORWARD_EVENTS, this.#tallyEvents / 4)
    if (count - this.#tallyEvents >= due) await this.#forward(source, signal)
  }

  /** When the last event was that the venue told, where it told none of those that were just settled. */
  #toldBefore(untoldCount: number): TimeMs | null {
    const { toldToMs } = this.#record
    if (toldToMs !== null || untoldCount === 0) return toldToMs
    const place = this.#ledger.count - untoldCount - 1
    return place < 0 ? TIME_ZERO : this.#ledger.at(place).timeMs
  }

  async #bringUp(source: WalletSource, signal: AbortSignal): Promise<void> {
    await this.#forward(source, signal)
    await this.#resolveOpen(source, signal)
    if (this.#mustRebuild) {
      this.#mustRebuild = false
      const asking = { fetchMarkets: source.fetchMarkets, signal }
      this.#takeTally(await rebuilt(this.#parts, this.#ledger, asking))
      await this.#resolveOpen(source, signal)
      // What is known now was known to all of it: nothing can be told otherwise by the same facts.
      this.#mustRebuild = false
    }
    if (this.#mustStore) {
      // A large tally's copy, its figures, and the rest of a reading take a turn of the loop each.
      await nextTurn()
      this.#shownOrSettled()
      await nextTurn()
      this.#store()
    }
    const isLacking = lacksGroups(this.#parts, this.#tally, this.#ledger.unsettled)
    if (isLacking !== this.#lacksGroups) this.#change()
    this.#lacksGroups = isLacking
  }

  async #forward(source: WalletSource, signal: AbortSignal): Promise<void> {
    if (this.#tallyEvents === this.#ledger.count) return
    const late = eventsBetween(this.#ledger, this.#tallyEvents, this.#ledger.count)
    await learnGroupsOf(this.#parts, late, { ...source, signal })
    const task = {
      ...{ tally: this.#tally, events: this.#tallyEvents, ledger: this.#ledger },
      stored: () => this.#storedTally(),
    }
    const asking = { fetchMarkets: source.fetchMarkets, signal }
    this.#takeTally(await bringForward(this.#parts, task, asking))
  }

  #storedTally(): { bytes: Uint8Array; events: number } | null {
    const { tallyEvents: events, proxy } = this.#record
    if (events === 0 || events % blockEvents !== 0) return null
    const bytes = this.#parts.table.tally(proxy)
    return bytes === null ? null : { bytes, events }
  }

  #takeTally({ tally, events, packed }: Forwarded & Packed): void {
    this.#tally = tally
    this.#tallyEvents = events
    if (packed !== null) {
      this.#parts.table.putTally(this.#record.proxy, packed.bytes)
      this.#record = { ...this.#record, tallyEvents: packed.events }
      this.#tallyBytes = packed.bytes.byteLength
    }
    this.#change()
    // What was brought forward here is stored with what comes next.
    if (packed !== null) this.#store()
    else this.#mustStore = true
  }

  /** Markets may have become known, or been resolved, while nobody looked or a thread was at work. */
  async #resolveOpen(source: WalletSource, signal: AbortSignal): Promise<void> {
    const news = await newFacts(this.#parts, this.#tally, { ...source, signal })
    const turns = new Turns(this.#parts.clock)
    for (const facts of news) {
      this.resolve(facts)
      await turns.next()
    }
  }

  /**
   * The figures always; the tally only while it is small: a large one is stored as the thread packs it, and what it
   * lacks then is brought forward, or resolved, when it comes back.
   */
  #store(): void {
    const { table, clock } = this.#parts
    const { proxy, events } = this.#record
    const bytes = packedBytes(this.#tally, events)
    this.#tallyBytes = Math.max(bytes, this.#tallyBytes)
    if (bytes <= SMALL_BYTES) {
      table.putTally(proxy, this.#tally.pack())
      this.#record = { ...this.#record, tallyEvents: this.#tallyEvents }
    }
    this.#record = { ...this.#record, ...rankedFigures(this.#shownOrSettled(), clock.nowMs()) }
    this.#mustStore = false
    table.put(this.#record)
    this.#parts.onStored(this.#record)
  }

  /** What is shown is what ranks; where the ledger cannot be read, what the tally has. */
  #shownOrSettled(): WalletTally {
    try {
      return this.shown
    } catch (error) {
      if (!(error instanceof LedgerDamage)) throw error
      this.noteDamage(error)
      return this.#tally
    }
  }

  // What changes between readings

  /** A live fill came: where the last reading has not told it, it is shown from now on. */
  noteFill(fill: WalletEvent): void {
    this.#tail.noteFill(fill)
    this.#showUnsettled()
  }

  /**
   * What our own log of trades knows of a wallet of which the venue tells nothing, or not what it told: all of it where
   * nothing else is known, else what is behind the ledger.
   */
  keep(events: readonly WalletEvent[]): void {
    if (this.isEmpty)
      this.#record = { ...this.#record, settledToMs: TIME_ZERO, toldToMs: TIME_ZERO }
    const { settledToMs } = this.#record
    const isBehind = ({ timeMs: atMs }: WalletEvent) => atMs >= settledToMs
    const known = [...this.#lastSettled(), ...this.#ledger.unsettled]
    const unknown = untold(events.filter(isBehind), known)
    if (unknown.length === 0) return
    this.#tail.keep(unknown)
    this.#showUnsettled()
    this.storeTail()
    this.#parts.table.put(this.#record)
  }

  /** Some settled events: the log and the history may tell one a little apart. */
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

  /** The next reading is of everything: what was settled is not what the venue tells. */
  readAnew(): void {
    this.#mustReadAnew = true
    this.#change()
  }

  /** What is known of a market changed. */
  resolve(facts: WalletMarket): void {
    const applied = this.#tally.resolve(facts)
    if (applied === 'rebuild') this.#mustRebuild = true
    if (applied !== 'ignored') this.#mustStore = true
    // The copy has markets that the tally has not yet.
    const isShown = this.#shown !== null && this.#shown !== this.#tally
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

  /** A block cannot be read: nothing of the ledger can be told until the next reading. */
  noteDamage(error: LedgerDamage): void {
    this.#isDamaged = true
    this.#parts.log.error({ err: error }, 'the ledger of a wallet is damaged and read anew')
  }
}

const otherSide = ({ side }: StoredWallet) => (side === 0 ? 1 : 0)
