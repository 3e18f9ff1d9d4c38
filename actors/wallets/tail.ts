// A wallet's events after its ledger: those of the last sync, and shown events that no sync contains. They are stored,
// so that neither a venue's data loss nor a restart loses events.

import type { WalletAddress } from '../../engine/ids.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { packBlock, unpackBlock } from '../../engine/wallets/ledger-block.ts'
import type { WalletTable } from '../../storage/contract/storage.ts'
import { walletSides } from '../../storage/contract/wallets.ts'
import type { HistorySyncResult } from './history-sync.ts'
import { blockEvents } from './ledger.ts'
import { inOrder, notAmong } from './live-fills.ts'

/** After this time of syncs without progress the wallet counts as stuck: the venue no longer lists its last event. */
const STUCK_MS = HOUR_MS
/**
 * Maximum retained events that no sync contains. When full, the oldest are dropped, and must come from the venue's
 * history.
 */
const RETAINED_MAX = 8 * blockEvents

export class WalletTail {
  readonly #table: Pick<WalletTable, 'block' | 'putBlock' | 'removeBlocks'>
  readonly #proxy: WalletAddress
  /** Shown events that the last sync lacks, and live fills since it began; in order of arrival. */
  #retained: readonly WalletEvent[]
  /** Number of events at the start of `#retained` that were compared with the last sync and not found in it. */
  #comparedCount = 0
  /** The stored events, for comparison with the shown ones. */
  #stored: readonly WalletEvent[]
  #lastSync: { readonly atMs: TimeMs; readonly result: HistorySyncResult } | null = null
  /** Number of live fills, and its value when the last sync began. */
  #fillCount = 0
  #readFillCount = 0
  /** Number of all retained events, live fills and others. */
  #retainedCount = 0
  #unlisted: readonly WalletEvent[] = []
  /** Time of the stream's last repeated fill; null: a sync has settled that time since. */
  #repeatMs: TimeMs | null = null
  /** Since when syncs could not continue from the ledger's end; null: they can. */
  #stuckMs: TimeMs | null = null

  /** Takes the stored events, and the live fills that arrived while the wallet was not in memory. */
  constructor(
    table: Pick<WalletTable, 'block' | 'putBlock' | 'removeBlocks'>,
    proxy: WalletAddress,
    live: readonly WalletEvent[],
  ) {
    this.#table = table
    this.#proxy = proxy
    this.#stored = this.#read()
    this.#retained = [...this.#stored, ...notAmong(live, this.#stored)]
  }

  /** Start of the last sync in this process; null: none. */
  get readAtMs(): TimeMs | null {
    return this.#lastSync?.atMs ?? null
  }

  /** Whether the last sync appears to contain every event after the ledger. */
  get isComplete(): boolean {
    return this.#lastSync?.result.isTailComplete ?? true
  }

  /** The venue's last answer lacked the last known event. */
  get isLastMissing(): boolean {
    return this.#lastSync?.result.isLastListed === false
  }

  /** Shown events that the last sync lacks. */
  get unlisted(): readonly WalletEvent[] {
    return this.#unlisted
  }

  /** The last sync contains every shown event. */
  get isCovered(): boolean {
    return this.#unlisted.length === 0
  }

  /** A shown live fill arrived after the last sync began. */
  get hasNewerFill(): boolean {
    return !this.isCovered && this.#readFillCount < this.#fillCount
  }

  /** The stream delivered a fill twice: only the venue's history shows whether there were two. */
  get hasRepeat(): boolean {
    return this.#repeatMs !== null
  }

  get isStuck(): boolean {
    return this.#stuckMs !== null && (this.readAtMs ?? 0) - this.#stuckMs >= STUCK_MS
  }

  noteFill(fill: WalletEvent): void {
    this.#fillCount += 1
    this.add([fill])
  }

  /** Adds events that did not come from a sync. */
  add(events: readonly WalletEvent[]): void {
    this.#retainedCount += events.length
    const retained = [...this.#retained, ...events]
    this.#retained = retained.slice(-RETAINED_MAX)
    this.#comparedCount = Math.max(
      0,
      this.#comparedCount - (retained.length - this.#retained.length),
    )
  }

  /** The stream repeated a fill: it is shown once until the history contains it twice. */
  noteRepeat(fill: WalletEvent): void {
    this.#repeatMs = timeMs(Math.max(this.#repeatMs ?? 0, fill.timeMs))
  }

  /** Begins a sync; call the returned function with its result. */
  begin(atMs: TimeMs): (result: HistorySyncResult) => void {
    const fillCount = this.#fillCount
    const retainedCount = this.#retainedCount
    return (result) => {
      const since = Math.min(this.#retainedCount - retainedCount, this.#retained.length)
      this.#retained = [...result.retained, ...this.#retained.slice(this.#retained.length - since)]
      this.#comparedCount = result.retained.length
      this.#lastSync = { atMs, result }
      this.#readFillCount = fillCount
      if (this.#repeatMs !== null && this.#repeatMs < result.settledToMs) this.#repeatMs = null
      this.#stuckMs = result.isStuck ? (this.#stuckMs ?? atMs) : null
    }
  }

  /** The events after the ledger, in order. */
  events(settledToMs: TimeMs): readonly WalletEvent[] {
    const isBehind = (event: WalletEvent) => event.timeMs >= settledToMs
    const read = this.#lastSync?.result
    // If the last sync contained one of two equal fills, the other one stays.
    const compared = this.#retained.slice(0, this.#comparedCount).filter(isBehind)
    const since = this.#retained.slice(this.#comparedCount).filter(isBehind)
    const more = [...compared, ...notAmong(since, read?.recent ?? [])]
    this.#unlisted = more
    // A sync that failed afterwards may have settled some of these events.
    return inOrder([...(read?.unsettled.filter(isBehind) ?? []), ...more])
  }

  // Storage

  /** Stores the shown events if they changed. */
  store(shown: readonly WalletEvent[]): void {
    const stored = this.#stored
    const isSame = shown.length === stored.length && shown.every((one, at) => one === stored[at])
    if (isSame) return
    let index = 0
    for (; index * blockEvents < shown.length; index += 1) {
      const events = shown.slice(index * blockEvents, (index + 1) * blockEvents)
      this.#table.putBlock(this.#proxy, walletSides.tail + index, packBlock(events))
    }
    this.#table.removeBlocks(this.#proxy, walletSides.tail + index)
    this.#stored = shown
  }

  /** Reads up to the first damaged block. Later events must come from the venue again. */
  #read(): readonly WalletEvent[] {
    const events: WalletEvent[] = []
    for (let index = 0; ; index += 1) {
      const bytes = this.#table.block(this.#proxy, walletSides.tail + index)
      const block = bytes === null ? null : unpackBlock(bytes)
      if (block === null) return events
      events.push(...block)
    }
  }
}
