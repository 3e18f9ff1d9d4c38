// Applies ledger events to a wallet's PnlState: a few events on this thread in time slices, many in a worker thread.
// Each message to the worker has the packed state and a bounded number of blocks.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { Log } from '../../engine/process/log.ts'
import type { WalletMarket } from '../../engine/wallet.ts'
import { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletPort } from '../../engine/wallets/wallet-thread.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import { blockEvents, LedgerDamage, type WalletLedger } from './ledger.ts'
import type { MarketSource, WalletMarkets } from './wallet-markets.ts'

export interface ForwardParts {
  readonly port: WalletPort
  readonly markets: WalletMarkets
  readonly clock: Clock
  readonly log: Log
}

interface PackedPnlState {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly events: number
}

interface ForwardBase {
  readonly pnlState: PnlState
  readonly events: number
}

export interface Forwarded extends ForwardBase {
  /** The newest state that a worker returned. Null: no worker was used. */
  readonly packed: PackedPnlState | null
}

interface ForwardTask extends ForwardBase {
  /** Returns the state on disk if it ends at a block boundary, else null. */
  readonly stored: () => PackedPnlState | null
}

/** Blocks per message to the worker: about 16,000 events, 1 MB. */
const TASK_BLOCKS = 32
const HERE_EVENTS = 2 * blockEvents

export class PnlForward {
  readonly #parts: ForwardParts
  readonly #ledger: WalletLedger
  readonly #source: MarketSource

  constructor(parts: ForwardParts, ledger: WalletLedger, source: MarketSource) {
    this.#parts = parts
    this.#ledger = ledger
    this.#source = source
  }

  /**
   * Returns a copy of the PnlState advanced to the ledger's end. Rebuilds it from all events if facts about earlier
   * events became known. Rejects with LedgerDamage, with EngineError if the worker is down, and if the signal aborts.
   */
  async advance(task: ForwardTask): Promise<Forwarded> {
    const isNear = this.#ledger.count - task.events <= HERE_EVENTS
    const next = isNear ? await this.#nearby(task) : await this.#inThread(task.stored())
    if (next !== 'rebuild') return next
    this.#parts.log.info({ events: this.#ledger.count }, 'the PnL state of a wallet is rebuilt')
    return this.rebuild()
  }

  async rebuild(): Promise<Forwarded> {
    const rebuilt = await this.#inThread(null)
    if (rebuilt !== 'rebuild') return rebuilt
    // A fact became known during the rebuild. The next call handles facts that become known after this point.
    const { isStale: _, ...next } = await this.#apply({ pnlState: PnlState.empty(), events: 0 })
    return { ...next, packed: null }
  }

  /** Advances a copy, because requests may read the given PnlState meanwhile. */
  async #nearby({ pnlState, events }: ForwardBase): Promise<Forwarded | 'rebuild'> {
    // Copying a large PnlState takes milliseconds, so it runs in a separate event-loop tick.
    await nextTurn()
    const copy = pnlState.copy()
    await nextTurn()
    return this.#here({ pnlState: copy, events })
  }

  async #here(base: ForwardBase): Promise<Forwarded | 'rebuild'> {
    const { isStale, ...next } = await this.#apply(base)
    return isStale ? 'rebuild' : { ...next, packed: null }
  }

  /** Applies full blocks in the worker, and the remaining events on this thread. */
  async #inThread(base: PackedPnlState | null): Promise<Forwarded | 'rebuild'> {
    let bytes = base?.bytes ?? null
    let index = (base?.events ?? 0) / blockEvents
    const end = Math.floor(this.#ledger.count / blockEvents)
    while (index < end) {
      this.#source.signal.throwIfAborted()
      const count = Math.min(TASK_BLOCKS, end - index)
      const result = await this.#runTask(bytes, index, count)
      if (result === 'rebuild') return result
      bytes = result
      index += count
    }
    const events = index * blockEvents
    const pnlState = bytes === null ? PnlState.empty() : PnlState.unpack(bytes)
    if (pnlState === null) return 'rebuild'
    const next = await this.#here({ pnlState, events })
    return next === 'rebuild' || bytes === null ? next : { ...next, packed: { bytes, events } }
  }

  async #runTask(
    base: Uint8Array | null,
    index: number,
    count: number,
  ): Promise<Uint8Array<ArrayBuffer> | 'rebuild'> {
    const blocks: Uint8Array<ArrayBuffer>[] = []
    const markets = new Map<NativeMarketId, WalletMarket>()
    for (let block = index; block < index + count; block += 1) {
      for (const facts of await this.#learnBetween(block * blockEvents, (block + 1) * blockEvents))
        markets.set(facts.nativeId, facts)
      blocks.push(this.#ledger.bytesOf(block))
      await nextTurn()
    }
    const result = await this.#parts.port.run({ base, blocks, markets: [...markets.values()] })
    if (result === 'damaged') throw new LedgerDamage(`blocks from ${index} on cannot be read`)
    return result
  }

  async #apply(base: ForwardBase): Promise<ForwardBase & { readonly isStale: boolean }> {
    const { pnlState } = base
    const end = this.#ledger.count
    const yielder = new EventLoopYielder(this.#parts.clock)
    let { events } = base
    let isStale = false
    while (events < end) {
      this.#source.signal.throwIfAborted()
      const to = Math.min(end, (Math.floor(events / blockEvents) + 1) * blockEvents)
      await this.#learnBetween(events, to)
      yielder.restart()
      for (const event of this.#ledger.read(events, to)) {
        if (pnlState.apply(event, this.#parts.markets.find) === 'rebuild') isStale = true
        await yielder.yieldIfDue()
      }
      events = to
    }
    return { pnlState, events, isStale }
  }

  #learnBetween(from: number, to: number): Promise<readonly WalletMarket[]> {
    return this.#parts.markets.learnMarketsOf(this.#ledger.events(from, to), this.#source)
  }
}
