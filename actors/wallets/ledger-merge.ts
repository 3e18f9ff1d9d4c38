// Merges a wallet's ledger with the venue's whole history, read again from the beginning: events that the ledger lacks are
// added at their place, events that the venue lacks stay, and an event in both is as in the venue's answer, unless that
// says less. The result is written beside the ledger, some blocks at a time, and replaces it only when it is complete.

import type { Clock } from '../../engine/clock.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { Settled } from './history-sync.ts'
import { blockEvents, type WalletLedger } from './ledger.ts'
import { eventKey, inOrder } from './live-fills.ts'

/** The times of one event in the stream and in the history differ by less. */
const SHIFT_MS = 120_000
/** Events gathered before they are written. */
const WRITTEN_EVENTS = 2 * blockEvents

/** Lacking events kept for an operator; their number is kept in any case. */
const SHOWN_MAX = 1_000

/** The differences between the venue's whole history and the ledger. */
export interface LedgerDifference {
  readonly atMs: TimeMs
  /** Events of the ledger that the venue's history lacks: how many, and the first of them. */
  readonly lackingCount: number
  readonly lacking: readonly WalletEvent[]
  /** Events of the venue's history that the ledger lacked, and those that differed. The new ledger has them all. */
  readonly addedCount: number
  readonly changedCount: number
}

export class WalletMerge {
  readonly #ledger: WalletLedger
  readonly #merged: WalletLedger
  readonly #yielder: EventLoopYielder
  /** The place of the next event of the ledger to be read. */
  #position = 0
  /** Events of the ledger within minutes of the last event taken that have no counterpart yet, with their keys; oldest first. */
  readonly #waiting = new Map<WalletEvent, string>()
  readonly #byKey = new Map<string, WalletEvent[]>()
  /** Merged events that are not written yet. */
  #out: WalletEvent[] = []
  readonly #lackingMs: TimeMs[] = []
  readonly #lacking: WalletEvent[] = []
  #addedCount = 0
  #changedCount = 0
  #lastListedMs: TimeMs | null = null

  /** `merged` is the empty ledger of the wallet's other side on disk. */
  constructor(ledger: WalletLedger, merged: WalletLedger, clock: Pick<Clock, 'monotonicMs'>) {
    this.#ledger = ledger
    this.#merged = merged
    this.#yielder = new EventLoopYielder(clock)
  }

  /** The number of events that the ledger lacked or that differed. */
  get newCount(): number {
    return this.#addedCount + this.#changedCount
  }

  /** The time of the last event in the venue's history; null: it has none. */
  get lastListedMs(): TimeMs | null {
    return this.#lastListedMs
  }

  /** The venue's history reaches the ledger's last event: the time behind it can be believed. */
  get isUpToDate(): boolean {
    const lastMs = this.#ledger.lastMs
    return lastMs === null || (this.#lastListedMs ?? 0) >= lastMs
  }

  /** Lacking events before a time; all of them when the venue's history is empty. */
  difference(settledToMs: TimeMs): Omit<LedgerDifference, 'atMs'> {
    const endMs = this.#lastListedMs === null ? Number.POSITIVE_INFINITY : settledToMs
    return {
      lackingCount: this.#lackingMs.filter((atMs) => atMs < endMs).length,
      lacking: this.#lacking.filter(({ timeMs: atMs }) => atMs < endMs),
      ...{ addedCount: this.#addedCount, changedCount: this.#changedCount },
    }
  }

  /** Takes the next settled events. Rejects with LedgerDamage. */
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

  /** The venue's history is at its end. */
  async finish(): Promise<void> {
    await this.#readLedger(Number.POSITIVE_INFINITY)
    this.#out = inOrder(this.#out)
    await this.#merged.append(this.#out)
    this.#out = []
  }

  /** Reads the ledger up to two minutes behind a time; its events two minutes before that time have no counterpart. */
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

  /** The ledger's counterpart of an event: of the same second, or of the same transaction. */
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

  /** Writes whole blocks of events before which no other event can come any more. */
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

/** The event as the venue sent it now, with the known role and fee where they are missing now; `known` itself if nothing changed. */
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
