// Learns the market facts that a wallet's PnlState requires, in time slices. What the venue's answer lacks is requested
// again later. All functions reject if `signal` aborts, and with what `events` throws.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { WalletEvent, WalletMarket } from '../../engine/wallet.ts'
import type { PnlState } from '../../engine/wallets/pnl-state.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { MarketSource, WalletMarkets } from './wallet-markets.ts'

interface FactsParts {
  readonly markets: WalletMarkets
  readonly clock: Clock
}

/**
 * Learns the groups of the markets that events converted. Call it before the conversions are applied, because each
 * divides its cost over its whole group.
 */
export async function learnGroupsOf(
  { markets, clock }: FactsParts,
  events: Iterable<WalletEvent>,
  source: MarketSource,
  signal: AbortSignal,
): Promise<void> {
  const ids = new Set<NativeMarketId>()
  const yielder = new EventLoopYielder(clock)
  for (const { converted } of events) {
    for (const id of converted) ids.add(id)
    await yielder.yieldIfDue()
  }
  await markets.learnGroups(ids, source, signal)
}

/** Whether a conversion in a PnlState or in later events was divided without its whole group. */
export function lacksGroups(
  markets: WalletMarkets,
  pnlState: PnlState,
  later: readonly WalletEvent[],
): boolean {
  const converted = later.flatMap((event) => event.converted)
  return [...pnlState.guessedMarkets(), ...converted].some((id) => markets.lacksGroup(id))
}

/** Learns and returns the facts about the markets that events name, and about markets in groups of converted ones. */
export async function learnMarketsOf(
  { markets, clock }: FactsParts,
  events: readonly WalletEvent[],
  source: MarketSource,
  signal: AbortSignal,
): Promise<readonly WalletMarket[]> {
  const ids = new Set<NativeMarketId>()
  for (const { market, converted } of events) {
    if (market !== '') ids.add(market)
    for (const id of converted) ids.add(id)
  }
  await markets.learn(ids, source, signal)
  for (const { converted } of events) {
    for (const id of converted) for (const other of markets.find(id)?.group ?? []) ids.add(other)
  }
  return found({ markets, clock }, ids)
}

/** Market facts that the PnlState may lack: markets with estimated values, and resolved markets with open positions. */
export async function newFacts(
  { markets, clock }: FactsParts,
  pnlState: PnlState,
  source: MarketSource,
  signal: AbortSignal,
): Promise<readonly WalletMarket[]> {
  const guessed = pnlState.guessedMarkets()
  const ungrouped = guessed.filter((id) => markets.lacksGroup(id))
  await markets.learnGroups(ungrouped, source, signal)
  const open = pnlState.openMarkets()
  const yielder = new EventLoopYielder(clock)
  const unlisted = [...guessed]
  for (const id of open) {
    if (markets.view(id) === null) unlisted.push(id)
    await yielder.yieldIfDue()
  }
  await markets.learn(unlisted, source, signal)
  const ids = new Set(guessed)
  for (const id of open) {
    if (markets.isResolved(id)) ids.add(id)
    await yielder.yieldIfDue()
  }
  return found({ markets, clock }, ids)
}

async function found(
  { markets, clock }: FactsParts,
  ids: Iterable<NativeMarketId>,
): Promise<readonly WalletMarket[]> {
  const yielder = new EventLoopYielder(clock)
  const all: WalletMarket[] = []
  for (const id of ids) {
    const facts = markets.find(id)
    if (facts !== null) all.push(facts)
    await yielder.yieldIfDue()
  }
  return all
}
