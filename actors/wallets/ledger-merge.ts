// Merges a wallet's ledger with the venue's full history. The result contains the events of both. For an event in both,
// the venue's version is used, with stored values for fields that the venue omits.

import type { Clock } from '../../engine/clock.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { Settled } from './history-sync.ts'
import { blockEvents, type WalletLedger } from './ledger.ts'
import { eventKey, inOrder } from './live-fills.ts'

/** The times of one event in the stream and in the history differ by less than this. */
const SHIFT_MS = 120_000
const WRITTEN_EVENTS = 2 * blockEvents

/** Maximum ledger events in `lacking`. */
const SHOWN_MAX = 1_000

export interface LedgerDifference {
  readonly atMs: TimeMs
  /** Ledger events that the venue's history lacks: their number, and the first SHOWN_MAX of them. */
  readonly lackingCount: number
  readonly lacking: readonly WalletEvent[]
  /**
   * Number of venue events that the ledger lacked, and of those whose fields differed. The merged ledger contains them.
   */
  readonly addedCount: number
  readonly changedCount: number
}

export class WalletMerge {
  readonly #ledger: WalletLedger
  readonly #merged: WalletLedger
  readonly #yielder: EventLoopYielder
  #position = 0
  readonly #waiting = new Map<WalletEvent, string>()
  readonly #byKey = new Map<string, WalletEvent[]>()
  #out: WalletEvent[] = []
  readonly #lackingMs: TimeMs[] = []
  readonly #lacking: WalletEvent[] = []
  #addedCount = 0
  #changedCount = 0
  #lastListedMs: TimeMs | null = null

  constructor(ledger: WalletLedger, merged: WalletLedger, clock: Pick<Clock, 'monotonicMs'>) {
    this.#ledger = ledger
    this.#merged = merged
    this.#yielder = new EventLoopYielder(clock)
  }

  get newCount(): number {
    return this.#addedCount + this.#changedCount
  }

  get lastListedMs(): TimeMs | null {
    return this.#lastListedMs
  }

  get isUpToDate(): boolean {
    const lastMs = this.#ledger.lastMs
    return lastMs === null || (this.#lastListedMs ?? 0) >= lastMs
  }

  /** Lacking events count only before `settledToMs`, or all of them if the venue's history is empty. */
  difference(settledToMs: TimeMs): Omit<LedgerDifference, 'atMs'> {
    const endMs = this.#lastListedMs === null ? Number.POSITIVE_INFINITY : settledToMs
    return {
      lackingCount: this.#lackingMs.filter((atMs) => atMs < endMs).length,
      lacking: this.#lacking.filter(({ timeMs: atMs }) => atMs < endMs),
      ...{ addedCount: this.#addedCount, changedCount: this.#changedCount },
    }
  }

  /** Merges the next settled events of the venue. Rejects with LedgerDamage. */
  async take({ events, listedToMs }: Pick<Settled, 'events' | 'listedToMs'>): Promise<void> {
    this.#yielder.restart()
    this.#lastListedMs = listedToMs ?? this.#lastListedMs
    for (const event of events) {
      await this.#readLedger(event.timeMs)
      const counterpart = this.#match(event)
      if (counterpart === null) this.#addedCount += 1
      const fuller = counterpart === null ? event : mergedEvent(counterpart, event)
      if (counterpart !== null && fuller !== counterpart) this.#changedCount += 1
      this.#out.push(fuller)
      await this.#yielder.yieldIfDue()
    }
    await this.#write(events.at(-1)?.timeMs ?? 0)
  }

  async finish(): Promise<void> {
    await this.#readLedger(Number.POSITIVE_INFINITY)
    this.#out = inOrder(this.#out)
    await this.#merged.append(this.#out)
    this.#out = []
  }

  /**
   * Reads the ledger up to SHIFT_MS after the time of the venue's next event. Older unmatched events are not in the
   * venue's history.
   */
  async #readLedger(listedMs: number): Promise<void> {
    for (const event of this.#waiting.keys()) {
      if (event.timeMs >= listedMs - SHIFT_MS) break
      this.#carryOver(event)
    }
    for (; this.#position < this.#ledger.count; this.#position += 1) {
      const event = this.#ledger.at(this.#position)
      if (event.timeMs > listedMs + SHIFT_MS) break
      const key = eventKey(event)
      this.#waiting.set(event, key)
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), event])
      if (event.timeMs < listedMs - SHIFT_MS) this.#carryOver(event)
      if (this.#out.length >= WRITTEN_EVENTS) await this.#write(Math.min(event.timeMs, listedMs))
      await this.#yielder.yieldIfDue()
    }
  }

  /** The ledger event that equals a venue event: at the same time, else in the same transaction. Null: none. */
  #match(listed: WalletEvent): WalletEvent | null {
    const same = this.#byKey.get(eventKey(listed)) ?? []
    const first = listed.txHash === '' ? undefined : same[0]
    const found = same.find(({ timeMs: atMs }) => atMs === listed.timeMs) ?? first
    if (found === undefined) return null
    this.#dropWaiting(found)
    return found
  }

  #carryOver(event: WalletEvent): void {
    this.#dropWaiting(event)
    this.#lackingMs.push(event.timeMs)
    if (this.#lacking.length < SHOWN_MAX) this.#lacking.push(event)
    this.#out.push(event)
  }

  #dropWaiting(event: WalletEvent): void {
    const key = this.#waiting.get(event) ?? ''
    this.#waiting.delete(event)
    const others = (this.#byKey.get(key) ?? []).filter((one) => one !== event)
    if (others.length === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, others)
  }

  async #write(listedMs: number): Promise<void> {
    if (this.#out.length < WRITTEN_EVENTS) return
    this.#out = inOrder(this.#out)
    const young = this.#out.findIndex(({ timeMs: atMs }) => atMs >= listedMs - SHIFT_MS)
    const oldCount = young < 0 ? this.#out.length : young
    const count = oldCount - (oldCount % blockEvents)
    await this.#merged.append(this.#out.slice(0, count))
    this.#out = this.#out.slice(count)
  }
}

/**
 * The venue's version of the event, with the stored role and fee if the venue omits them. Returns `stored` if nothing
 * changed.
 */
function mergedEvent(stored: WalletEvent, listed: WalletEvent): WalletEvent {
  const { usd, fee } = listed.fee === 0 ? stored : listed
  const fuller = { ...listed, usd, fee, role: listed.role ?? stored.role }
  const isSame =
    stored.timeMs === fuller.timeMs &&
    stored.usd === usd &&
    stored.fee === fee &&
    stored.role === fuller.role
  return isSame ? stored : fuller
}
