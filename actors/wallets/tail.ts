// What a wallet did since its ledger ends: what the last reading told of it, and what was shown before and no reading
// has told: live fills, and what the venue told once and does not tell any more. As long as there are such, what is
// shown is not the venue's word alone. The tail is stored, so that a venue that forgets and a restart lose nothing of it.
// Not for: what is settled (actors/wallets/ledger.ts), nor when the venue is asked (wallets.ts).
// Upholds WALLETS4, WALLETS5, WALLETS20, WALLETS21, WALLETS26, WALLETS27.

import type { WalletAddress } from '../../engine/ids.ts'
import { HOUR_MS, type TimeMs, timeMs } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import { LedgerBlock, packBlock } from '../../engine/wallets/ledger.ts'
import { type WalletTable, walletSides } from '../../storage/contract/wallets.ts'
import { blockEvents } from './ledger.ts'
import { inOrder, untold } from './live.ts'
import type { ReadingResult } from './reading.ts'

/** A reading that moves nowhere for so long has lost its place: what it looks for is not told any more. */
const STUCK_MS = HOUR_MS
/** Events kept that no reading tells; full: the oldest go, and the venue's history is to tell them. */
const KEPT_MAX = 8 * blockEvents

export class WalletTail {
  readonly #table: Pick<WalletTable, 'block' | 'putBlock' | 'removeBlocks'>
  readonly #proxy: WalletAddress
  /** Shown, and not told by the last reading: live fills that came since it began included; in order of arrival. */
  #kept: readonly WalletEvent[]
  /** The first of these that the last reading was shown, and left over: it told none of them. */
  #leftCount = 0
  /** What is stored, to tell whether it is what is shown. */
  #stored: readonly WalletEvent[]
  #reading: { readonly atMs: TimeMs; readonly result: ReadingResult } | null = null
  /** Counts live fills; how many there were when the last reading began. */
  #fillCount = 0
  #readFillCount = 0
  /** Counts what was kept, live fills and all else. */
  #keptCount = 0
  #untold: readonly WalletEvent[] = []
  /** When the stream's last fill was that may have been a repeat; null: a settled reading has told since. */
  #doubtMs: TimeMs | null = null
  /** Since when readings could not go on from where the ledger ends; null: they can. */
  #stuckMs: TimeMs | null = null

  /** Takes up what is stored, and the live fills that came while the wallet was not in memory. */
  constructor(
    table: Pick<WalletTable, 'block' | 'putBlock' | 'removeBlocks'>,
    proxy: WalletAddress,
    live: readonly WalletEvent[],
  ) {
    this.#table = table
    this.#proxy = proxy
    this.#stored = this.#read()
    this.#kept = [...this.#stored, ...untold(live, this.#stored)]
  }

  /** When the last reading of this process began; null before it. */
  get readAtMs(): TimeMs | null {
    return this.#reading?.atMs ?? null
  }

  /** The last reading told everything since the ledger ends, as far as anybody can see. */
  get isWhole(): boolean {
    return this.#reading?.result.isTailWhole ?? true
  }

  /** The venue's last answer did not hold what it had told last. */
  get isForgotten(): boolean {
    return this.#reading?.result.isLastTold === false
  }

  /** Events that are shown and that the last reading did not tell. */
  get untold(): readonly WalletEvent[] {
    return this.#untold
  }

  /** Everything that is shown was told by a reading. */
  get isCovered(): boolean {
    return this.#untold.length === 0
  }

  /** A live fill is shown that came after the last reading began. */
  get isOutrun(): boolean {
    return !this.isCovered && this.#readFillCount < this.#fillCount
  }

  /** The stream told a fill twice: only the venue's history says whether there were two. */
  get isDoubtful(): boolean {
    return this.#doubtMs !== null
  }

  get isStuck(): boolean {
    return this.#stuckMs !== null && (this.readAtMs ?? 0) - this.#stuckMs >= STUCK_MS
  }

  noteFill(fill: WalletEvent): void {
    this.#fillCount += 1
    this.keep([fill])
  }

  /** Something that the wallet did is known otherwise than by a reading. */
  keep(events: readonly WalletEvent[]): void {
    this.#keptCount += events.length
    const kept = [...this.#kept, ...events]
    this.#kept = kept.slice(-KEPT_MAX)
    this.#leftCount = Math.max(0, this.#leftCount - (kept.length - this.#kept.length))
  }

  /** The stream told a fill again that it had told: it is not shown twice until the history tells it twice. */
  noteRepeat(fill: WalletEvent): void {
    this.#doubtMs = timeMs(Math.max(this.#doubtMs ?? 0, fill.timeMs))
  }

  /** A reading begins, which is told what is shown; call what is given with its result. */
  begin(atMs: TimeMs): (result: ReadingResult) => void {
    const fillCount = this.#fillCount
    const keptCount = this.#keptCount
    return (result) => {
      const since = Math.min(this.#keptCount - keptCount, this.#kept.length)
      this.#kept = [...result.kept, ...this.#kept.slice(this.#kept.length - since)]
      this.#leftCount = result.kept.length
      this.#reading = { atMs, result }
      this.#readFillCount = fillCount
      if (this.#doubtMs !== null && this.#doubtMs < result.settledToMs) this.#doubtMs = null
      this.#stuckMs = result.isStuck ? (this.#stuckMs ?? atMs) : null
    }
  }

  /** In order, from the end of the ledger on. */
  events(settledToMs: TimeMs): readonly WalletEvent[] {
    const isBehind = (event: WalletEvent) => event.timeMs >= settledToMs
    const told = this.#reading?.result
    // What is left over has been compared: of two equal fills of which one was told, the other stays.
    const left = this.#kept.slice(0, this.#leftCount).filter(isBehind)
    const since = this.#kept.slice(this.#leftCount).filter(isBehind)
    const more = [...left, ...untold(since, told?.recent ?? [])]
    this.#untold = more
    // A later reading may have settled some of them, and failed then.
    return inOrder([...(told?.unsettled.filter(isBehind) ?? []), ...more])
  }

  // Storing

  /** Puts what is shown on disk, where it is not there. */
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

  /** A block that is damaged is left out: the venue is to tell it again. */
  #read(): readonly WalletEvent[] {
    const events: WalletEvent[] = []
    for (let index = 0; ; index += 1) {
      const bytes = this.#table.block(this.#proxy, walletSides.tail + index)
      const block = bytes === null ? null : LedgerBlock.open(bytes)
      if (block === null) return events
      events.push(...block.events())
    }
  }
}
