// A wallet's ledger beside the venue's whole history, told again from the beginning: what the ledger lacks comes in at
// its place, what the venue lacks stays, and an event that both have is as the venue tells it now, unless it tells less.
// The result is written beside the ledger, some blocks at a time, and takes its place only when all of it is there.
// Not for: when that is done (actors/wallets/rereads.ts), nor what is done with the result (wallet.ts).
// Upholds WALLETS22, WALLETS26.

import type { Clock } from '../../engine/clock.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { Turns } from '../turns.ts'
import { blockEvents, type WalletLedger } from './ledger.ts'
import { eventKey, inOrder } from './live.ts'
import type { Settled } from './reading.ts'

/** The time of one event as the stream and the history tell it differs by less. */
const SHIFT_MS = 120_000
/** Gathered before they are written. */
const WRITTEN_EVENTS = 2 * blockEvents

/** Kept events shown to an operator; how many there are is told in any case. */
const SHOWN_MAX = 1_000

/** What the venue's whole history and the ledger did not have in common. */
export interface LedgerDifference {
  readonly atMs: TimeMs
  /** Events that are kept and that the venue does not tell: how many, and the first of them. */
  readonly lackingCount: number
  readonly lacking: readonly WalletEvent[]
  /** Events that the venue told and that were not kept; and those that it told otherwise. All are kept now. */
  readonly addedCount: number
  readonly changedCount: number
}

export class WalletMerge {
  readonly #kept: WalletLedger
  readonly #merged: WalletLedger
  readonly #turns: Turns
  /** The next kept event to be looked at. */
  #place = 0
  /** Kept events of the minutes around the last one told that have not been told, by key; the oldest first. */
  readonly #waiting = new Map<WalletEvent, string>()
  readonly #byKey = new Map<string, WalletEvent[]>()
  /** Not written yet. */
  #out: WalletEvent[] = []
  readonly #untoldMs: TimeMs[] = []
  readonly #untold: WalletEvent[] = []
  #addedCount = 0
  #changedCount = 0
  #lastToldMs: TimeMs | null = null

  /** `merged` is empty, and on the other side of the disk. */
  constructor(kept: WalletLedger, merged: WalletLedger, clock: Pick<Clock, 'monotonicMs'>) {
    this.#kept = kept
    this.#merged = merged
    this.#turns = new Turns(clock)
  }

  /** Events that were not in the ledger, and those that are told otherwise than they were kept. */
  get newCount(): number {
    return this.#addedCount + this.#changedCount
  }

  /** Of the last event that the venue told; null: it told none. */
  get lastToldMs(): TimeMs | null {
    return this.#lastToldMs
  }

  /** The venue tells what was kept last, or something later: what comes behind it can be believed. */
  get isUpToDate(): boolean {
    const lastMs = this.#kept.lastMs
    return lastMs === null || (this.#lastToldMs ?? 0) >= lastMs
  }

  /** Of kept events those before a time; of all times where the venue tells nothing at all. */
  difference(settledToMs: TimeMs): Omit<LedgerDifference, 'atMs'> {
    const endMs = this.#lastToldMs === null ? Number.POSITIVE_INFINITY : settledToMs
    return {
      lackingCount: this.#untoldMs.filter((atMs) => atMs < endMs).length,
      lacking: this.#untold.filter(({ timeMs: atMs }) => atMs < endMs),
      ...{ addedCount: this.#addedCount, changedCount: this.#changedCount },
    }
  }

  /** Takes what is settled next. Rejects with LedgerDamage. */
  async take({ events, toldToMs }: Pick<Settled, 'events' | 'toldToMs'>): Promise<void> {
    this.#turns.begin()
    this.#lastToldMs = toldToMs ?? this.#lastToldMs
    for (const event of events) {
      await this.#readKept(event.timeMs)
      const known = this.#match(event)
      if (known === null) this.#addedCount += 1
      const fuller = known === null ? event : fullerOf(known, event)
      if (known !== null && fuller !== known) this.#changedCount += 1
      this.#out.push(fuller)
      await this.#turns.next()
    }
    await this.#write(events.at(-1)?.timeMs ?? 0)
  }

  /** The venue has told everything. */
  async finish(): Promise<void> {
    await this.#readKept(Number.POSITIVE_INFINITY)
    this.#out = inOrder(this.#out)
    await this.#merged.append(this.#out)
    this.#out = []
  }

  /** Takes in kept events up to some minutes behind a time; those some minutes before it are not told any more. */
  async #readKept(toldMs: number): Promise<void> {
    for (const event of this.#waiting.keys()) {
      if (event.timeMs >= toldMs - SHIFT_MS) break
      this.#keep(event)
    }
    for (; this.#place < this.#kept.count; this.#place += 1) {
      const event = this.#kept.at(this.#place)
      if (event.timeMs > toldMs + SHIFT_MS) break
      const key = eventKey(event)
      this.#waiting.set(event, key)
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), event])
      if (event.timeMs < toldMs - SHIFT_MS) this.#keep(event)
      if (this.#out.length >= WRITTEN_EVENTS) await this.#write(Math.min(event.timeMs, toldMs))
      await this.#turns.next()
    }
  }

  /** The kept event that is told: of the same second, or where a transaction says that it is the same. */
  #match(told: WalletEvent): WalletEvent | null {
    const same = this.#byKey.get(eventKey(told)) ?? []
    const first = told.txHash === '' ? undefined : same[0]
    const found = same.find(({ timeMs: atMs }) => atMs === told.timeMs) ?? first
    if (found === undefined) return null
    this.#forget(found)
    return found
  }

  #keep(event: WalletEvent): void {
    this.#forget(event)
    this.#untoldMs.push(event.timeMs)
    if (this.#untold.length < SHOWN_MAX) this.#untold.push(event)
    this.#out.push(event)
  }

  #forget(event: WalletEvent): void {
    const key = this.#waiting.get(event) ?? ''
    this.#waiting.delete(event)
    const others = (this.#byKey.get(key) ?? []).filter((one) => one !== event)
    if (others.length === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, others)
  }

  /** Writes whole blocks of what nothing can come before any more. */
  async #write(toldMs: number): Promise<void> {
    if (this.#out.length < WRITTEN_EVENTS) return
    this.#out = inOrder(this.#out)
    const young = this.#out.findIndex(({ timeMs: atMs }) => atMs >= toldMs - SHIFT_MS)
    const oldCount = young < 0 ? this.#out.length : young
    const count = oldCount - (oldCount % blockEvents)
    await this.#merged.append(this.#out.slice(0, count))
    this.#out = this.#out.slice(count)
  }
}

/** As it is told, but for the role and the fee where it is told without them; itself where that is what was known. */
function fullerOf(known: WalletEvent, told: WalletEvent): WalletEvent {
  const { usd, fee } = told.fee === 0 ? known : told
  const fuller = { ...told, usd, fee, role: told.role ?? known.role }
  const isSame =
    known.timeMs === fuller.timeMs &&
    known.usd === usd &&
    known.fee === fee &&
    known.role === fuller.role
  return isSame ? known : fuller
}
