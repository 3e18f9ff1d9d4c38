// A wallet's events after its ledger: the unsettled events of the last sync, and shown events that no sync has returned
// yet. They are stored, because the venue may lose events that users have seen.

import type { WalletAddress } from '../../engine/ids.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { packBlock, unpackBlock } from '../../engine/wallets/ledger-block.ts'
import type { WalletTable } from '../../storage/contract/storage.ts'
import { walletSides } from '../../storage/contract/wallets.ts'
import type { HistorySyncResult } from './history-sync.ts'
import { blockEvents } from './ledger.ts'
import { inOrder, notAmong } from './live-fills.ts'

/**
 * A wallet counts as stuck when its syncs make no progress for this time. The venue then no longer lists its last
 * event.
 */
const STUCK_MS = HOUR_MS
/** Maximum retained events that no sync has returned. The oldest are dropped when full. */
const RETAINED_MAX = 8 * blockEvents

export class WalletTail {
  readonly #table: Pick<WalletTable, 'block' | 'putBlock' | 'removeBlocks'>
  readonly #proxy: WalletAddress
  /** Shown events that the last sync did not return, then live fills since the sync began, in order of arrival. */
  #retained: readonly WalletEvent[]
  /** The first events of `#retained` were compared with the last sync, which did not return them. */
  #comparedCount = 0
  #stored: readonly WalletEvent[]
  #lastSync: { readonly atMs: TimeMs; readonly result: HistorySyncResult } | null = null
  #fillCount = 0
  #readFillCount = 0
  #retainedCount = 0
  #unlisted: readonly WalletEvent[] = []
  /** Time of the last fill that the stream sent twice. Null after a sync has settled the events of that time. */
  #repeatMs: TimeMs | null = null
  /** Start of the first of the last consecutive syncs that made no progress. Null: the last sync made progress. */
  #stuckMs: TimeMs | null = null

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

  get readAtMs(): TimeMs | null {
    return this.#lastSync?.atMs ?? null
  }

  /** Whether the last sync appears to contain every event after the ledger. */
  get isComplete(): boolean {
    return this.#lastSync?.result.isTailComplete ?? true
  }

  get isLastMissing(): boolean {
    return this.#lastSync?.result.isLastListed === false
  }

  get unlisted(): readonly WalletEvent[] {
    return this.#unlisted
  }

  get isCovered(): boolean {
    return this.#unlisted.length === 0
  }

  get hasNewerFill(): boolean {
    return !this.isCovered && this.#readFillCount < this.#fillCount
  }

  /** Whether the stream delivered a fill twice. Only the venue's history shows whether there were one or two fills. */
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

  /** Adds events that did not come from a sync, and drops the oldest beyond RETAINED_MAX. */
  add(events: readonly WalletEvent[]): void {
    this.#retainedCount += events.length
    const retained = [...this.#retained, ...events]
    this.#retained = retained.slice(-RETAINED_MAX)
    this.#comparedCount = Math.max(
      0,
      this.#comparedCount - (retained.length - this.#retained.length),
    )
  }

  /** Records a fill that the stream delivered twice. The fill is shown once until the history contains it twice. */
  noteRepeat(fill: WalletEvent): void {
    this.#repeatMs = timeMs(Math.max(this.#repeatMs ?? 0, fill.timeMs))
  }

  /** Begins a sync. The caller passes its result to the returned function. */
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

  events(settledToMs: TimeMs): readonly WalletEvent[] {
    const isBehind = (event: WalletEvent) => event.timeMs >= settledToMs
    const read = this.#lastSync?.result
    // The sync matched these events one to one, so of two equal fills it may have returned one. They are not compared
    // again.
    const compared = this.#retained.slice(0, this.#comparedCount).filter(isBehind)
    const since = this.#retained.slice(this.#comparedCount).filter(isBehind)
    const more = [...compared, ...notAmong(since, read?.recent ?? [])]
    this.#unlisted = more
    return inOrder([...(read?.unsettled.filter(isBehind) ?? []), ...more])
  }

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
