// Applies ledger events to a wallet's PnlState: a few on this thread in time slices, many in a worker thread. The
// worker receives the stored state and some blocks at a time, so that messages to it stay small for any history. A
// large state is never packed on this thread.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { Log } from '../../engine/process/log.ts'
import type { WalletEvent, WalletMarket } from '../../engine/wallet.ts'
import { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletPort } from '../../engine/wallets/wallet-thread.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import { blockEvents, LedgerDamage, type WalletLedger } from './ledger.ts'
import type { FetchMarkets, WalletMarkets } from './wallet-markets.ts'

export interface ForwardParts {
  readonly port: WalletPort
  readonly markets: WalletMarkets
  readonly clock: Clock
  readonly log: Log
}

/** A PnlState and the number of ledger events in it. */
export interface Forwarded {
  readonly pnlState: PnlState
  readonly events: number
}

/** The packed state as far as a worker advanced it; null: it was advanced on this thread. */
export interface Packed {
  readonly packed: { readonly bytes: Uint8Array; readonly events: number } | null
}

/** How to request unknown markets. */
interface FetchOptions {
  readonly fetchMarkets: FetchMarkets
  readonly signal: AbortSignal
}

/** The wallet of the PnlState. */
interface ForwardTask extends Forwarded {
  readonly ledger: WalletLedger
  /** The state on disk, if it ends at a block boundary; else null. */
  readonly stored: () => { readonly bytes: Uint8Array; readonly events: number } | null
}

/** Blocks per message to the worker: about 16,000 events, 1 MB. */
const TASK_BLOCKS = 32
/** At most this many events are applied on this thread, in time slices. */
const HERE_EVENTS = 2 * blockEvents

/**
 * Returns a copy of the PnlState advanced to the ledger's end. Rebuilds it from all events if facts about earlier
 * events became known. Rejects with LedgerDamage, with EngineError if the worker is down, and if `signal` aborts.
 * Markets that neither the catalogue nor the venue knows stay unknown.
 */
export async function bringForward(
  parts: ForwardParts,
  task: ForwardTask,
  options: FetchOptions,
): Promise<Forwarded & Packed> {
  const isNear = task.ledger.count - task.events <= HERE_EVENTS
  const next = isNear
    ? await applyEvents(parts, task, { ...options, mustEnd: false })
    : await throughThread(parts, task, options)
  if (next !== 'rebuild') return { packed: null, ...next }
  parts.log.info({ events: task.ledger.count }, 'the tally of a wallet is made anew')
  return rebuilt(parts, task.ledger, options)
}

/** Rebuilds the PnlState from all events of the ledger. */
export async function rebuilt(
  parts: ForwardParts,
  ledger: WalletLedger,
  options: FetchOptions,
): Promise<Forwarded & Packed> {
  const nothing = { pnlState: PnlState.empty(), events: 0, ledger, stored: () => null }
  const made = await throughThread(parts, nothing, options)
  if (made !== 'rebuild') return made
  // A fact became known during the first attempt. Facts that become known during this one are left for the next call.
  return { packed: null, ...(await applyEvents(parts, nothing, { ...options, mustEnd: true })) }
}

/** Full blocks in the worker, the rest on this thread. */
async function throughThread(
  parts: ForwardParts,
  { ledger, stored }: ForwardTask,
  options: FetchOptions,
): Promise<(Forwarded & Packed) | 'rebuild'> {
  const base = stored()
  let bytes = base?.bytes ?? null
  let index = (base?.events ?? 0) / blockEvents
  const end = Math.floor(ledger.count / blockEvents)
  while (index < end) {
    options.signal.throwIfAborted()
    const count = Math.min(TASK_BLOCKS, end - index)
    const result = await inThread(parts, { ledger, bytes, index, count }, options)
    if (result === 'rebuild') return result
    bytes = result
    index += count
  }
  const events = index * blockEvents
  // The PnlState takes ownership of the bytes.
  const packed = bytes === null ? null : { bytes: bytes.slice(), events }
  const pnlState = bytes === null ? PnlState.empty() : PnlState.unpack(bytes)
  if (pnlState === null) return 'rebuild'
  const next = await applyEvents(
    parts,
    { pnlState, events, ledger },
    { ...options, mustEnd: false },
  )
  return next === 'rebuild' ? next : { ...next, packed }
}

async function inThread(
  parts: ForwardParts,
  task: {
    readonly ledger: WalletLedger
    readonly bytes: Uint8Array | null
    readonly index: number
    readonly count: number
  },
  options: FetchOptions,
): Promise<Uint8Array<ArrayBuffer> | 'rebuild'> {
  const { ledger, bytes, index, count } = task
  const blocks: Uint8Array<ArrayBuffer>[] = []
  const markets = new Map<NativeMarketId, WalletMarket>()
  for (let block = index; block < index + count; block += 1) {
    const inBlock = ledger.events(block * blockEvents, (block + 1) * blockEvents)
    for (const facts of await learn(parts, inBlock, options)) markets.set(facts.nativeId, facts)
    blocks.push(ledger.bytesOf(block))
    await nextTurn()
  }
  const result = await parts.port.run({ base: bytes, blocks, markets: [...markets.values()] })
  if (result === 'damaged') throw new LedgerDamage(`blocks from ${index} on cannot be read`)
  return result
}

function applyEvents(
  parts: ForwardParts,
  start: Forwarded & Pick<ForwardTask, 'ledger'>,
  options: FetchOptions & { readonly mustEnd: true },
): Promise<Forwarded>
function applyEvents(
  parts: ForwardParts,
  start: Forwarded & Pick<ForwardTask, 'ledger'>,
  options: FetchOptions & { readonly mustEnd: false },
): Promise<Forwarded | 'rebuild'>
/** Continues on this thread, one block at a time. */
async function applyEvents(
  parts: ForwardParts,
  start: Forwarded & Pick<ForwardTask, 'ledger'>,
  options: FetchOptions & { readonly mustEnd: boolean },
): Promise<Forwarded | 'rebuild'> {
  const { ledger } = start
  // Copying a large PnlState takes milliseconds.
  await nextTurn()
  const end = ledger.count
  const pnlState = start.pnlState.copy()
  await nextTurn()
  const yielder = new EventLoopYielder(parts.clock)
  let { events } = start
  while (events < end) {
    options.signal.throwIfAborted()
    const to = Math.min(end, (Math.floor(events / blockEvents) + 1) * blockEvents)
    const inBlock = ledger.events(events, to)
    await learn(parts, inBlock, options)
    yielder.restart()
    for (const event of inBlock) {
      const applied = pnlState.apply(event, parts.markets.find)
      if (applied === 'rebuild' && !options.mustEnd) return 'rebuild'
      await yielder.yieldIfDue()
    }
    events = to
  }
  return { pnlState, events }
}

/**
 * Learns the facts about markets that events name, and about markets in groups of converted ones. Requests unknown
 * ones.
 */
export async function learn(
  parts: Pick<ForwardParts, 'markets' | 'clock' | 'log'>,
  events: readonly WalletEvent[],
  { fetchMarkets, signal }: FetchOptions,
): Promise<readonly WalletMarket[]> {
  const { markets } = parts
  const ids = new Set<NativeMarketId>()
  for (const { market, converted } of events) {
    if (market !== '') ids.add(market)
    for (const id of converted) ids.add(id)
  }
  const yielder = new EventLoopYielder(parts.clock)
  for (const id of ids) {
    markets.find(id)
    await yielder.yieldIfDue()
  }
  try {
    await markets.learn(ids, fetchMarkets, signal)
  } catch (error) {
    if (signal.aborted) throw error
    parts.log.warn({ err: error, markets: ids.size }, 'markets of a wallet are not known')
  }
  yielder.restart()
  for (const { converted } of events) {
    for (const id of converted) for (const other of markets.find(id)?.group ?? []) ids.add(other)
  }
  const found: WalletMarket[] = []
  for (const id of ids) {
    const facts = markets.find(id)
    if (facts !== null) found.push(facts)
    await yielder.yieldIfDue()
  }
  return found
}
