// Market facts that a wallet's PnlState requires: groups of converted markets, and newly resolved markets. Groups are
// requested before conversions are applied, because each conversion divides its cost over its whole group.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { Log } from '../../engine/process/log.ts'
import type { WalletEvent, WalletMarket } from '../../engine/wallet.ts'
import type { PnlState } from '../../engine/wallets/pnl-state.ts'
import { EventLoopYielder } from '../event-loop-yielder.ts'
import type { WalletLedger } from './ledger.ts'
import type { FetchGroup, FetchMarkets, WalletMarkets } from './wallet-markets.ts'

interface GroupsParts {
  readonly markets: WalletMarkets
  readonly clock: Clock
  readonly log: Log
}

/** Requests for groups and their markets. */
interface GroupFetchers {
  readonly fetchMarkets: FetchMarkets
  readonly fetchGroup: FetchGroup
}

/** The events of a ledger at offsets [from, to), read one by one. Throws LedgerDamage. */
export function* eventsBetween(ledger: WalletLedger, from: number, to: number) {
  for (let position = from; position < to; position += 1) yield ledger.at(position)
}

/** Learns the groups of the markets that events converted, like `learnGroups`. Throws what `events` throws. */
export async function learnGroupsOf(
  parts: GroupsParts,
  events: Iterable<WalletEvent>,
  options: GroupFetchers & { readonly signal: AbortSignal },
): Promise<void> {
  const ids = new Set<NativeMarketId>()
  const yielder = new EventLoopYielder(parts.clock)
  for (const { converted } of events) {
    for (const id of converted) ids.add(id)
    await yielder.yieldIfDue()
  }
  await learnGroups(parts, ids, options)
}

/** Whether a conversion in a PnlState or in later events was divided without its whole group. */
export function lacksGroups(
  { markets }: Pick<GroupsParts, 'markets'>,
  pnlState: PnlState,
  later: readonly WalletEvent[],
): boolean {
  const guessed = pnlState.guessedMarkets()
  return [...guessed, ...later.flatMap(({ converted }) => converted)].some((id) =>
    markets.lacksGroup(id),
  )
}

/** Learns groups. Those that the venue's answer lacks are requested again later. Rejects if `signal` aborts. */
async function learnGroups(
  { markets, log }: GroupsParts,
  ids: Iterable<NativeMarketId>,
  options: GroupFetchers & { readonly signal: AbortSignal },
): Promise<void> {
  try {
    await markets.learnGroups(ids, options, options.signal)
  } catch (error) {
    if (options.signal.aborted) throw error
    log.warn({ err: error }, 'groups that a wallet converted are not known')
  }
}

/**
 * Market facts that the PnlState may lack: markets with estimated values, and resolved markets with open positions.
 * Runs in time slices. Facts that the venue's answer lacks keep their value. Rejects if `signal` aborts.
 */
export async function newFacts(
  parts: GroupsParts,
  pnlState: PnlState,
  options: GroupFetchers & { readonly signal: AbortSignal },
): Promise<readonly WalletMarket[]> {
  const { markets, clock, log } = parts
  const { fetchMarkets, signal } = options
  const guessed = pnlState.guessedMarkets()
  const ungrouped = guessed.filter((id) => markets.lacksGroup(id))
  await learnGroups(parts, ungrouped, options)
  const open = pnlState.openMarkets()
  const yielder = new EventLoopYielder(clock)
  const unlisted: NativeMarketId[] = [...guessed]
  for (const id of open) {
    if (markets.view(id) === null) unlisted.push(id)
    await yielder.yieldIfDue()
  }
  try {
    await markets.learn(unlisted, fetchMarkets, signal)
  } catch (error) {
    if (signal.aborted) throw error
    log.warn({ err: error, markets: unlisted.length }, 'markets of a wallet are not known')
  }
  yielder.restart()
  const found: WalletMarket[] = []
  const isWanted = new Set(guessed)
  for (const id of [...guessed, ...open]) {
    const facts = isWanted.has(id) || markets.isResolved(id) ? markets.find(id) : null
    if (facts !== null) found.push(facts)
    await yielder.yieldIfDue()
  }
  return found
}
