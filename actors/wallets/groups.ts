// What a wallet's tally must learn of markets: the groups of converted markets, asked for before conversions enter the
// tally (each conversion divides its cost over its whole group), and markets that were resolved meanwhile.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { Log } from '../../engine/process/log.ts'
import type { WalletEvent, WalletMarket } from '../../engine/wallet.ts'
import type { WalletTally } from '../../engine/wallets/tally.ts'
import { Turns } from '../turns.ts'
import type { WalletLedger } from './ledger.ts'
import type { FetchGroup, FetchMarkets, WalletMarkets } from './markets.ts'

interface GroupsParts {
  readonly markets: WalletMarkets
  readonly clock: Clock
  readonly log: Log
}

/** How groups, and the markets in them, are asked for. */
interface AskingGroups {
  readonly fetchMarkets: FetchMarkets
  readonly fetchGroup: FetchGroup
}

/** The events of a ledger from a place up to, not including, another; read one by one. Throws LedgerDamage. */
export function* eventsBetween(ledger: WalletLedger, from: number, to: number) {
  for (let place = from; place < to; place += 1) yield ledger.at(place)
}

/** Learns the groups of the markets that events converted, as `learnGroups`; throws what `events` throws. */
export async function learnGroupsOf(
  parts: GroupsParts,
  events: Iterable<WalletEvent>,
  asking: AskingGroups & { readonly signal: AbortSignal },
): Promise<void> {
  const ids = new Set<NativeMarketId>()
  const turns = new Turns(parts.clock)
  for (const { converted } of events) {
    for (const id of converted) ids.add(id)
    await turns.next()
  }
  await learnGroups(parts, ids, asking)
}

/** Whether a conversion in a tally, or among later events, was divided without knowing its whole group. */
export function lacksGroups(
  { markets }: Pick<GroupsParts, 'markets'>,
  tally: WalletTally,
  later: readonly WalletEvent[],
): boolean {
  const guessed = tally.guessedMarkets()
  return [...guessed, ...later.flatMap(({ converted }) => converted)].some((id) =>
    markets.lacksGroup(id),
  )
}

/** Learns groups; those that the venue's answer lacks now are asked for again later. Rejects when `signal` aborts. */
async function learnGroups(
  { markets, log }: GroupsParts,
  ids: Iterable<NativeMarketId>,
  asking: AskingGroups & { readonly signal: AbortSignal },
): Promise<void> {
  try {
    await markets.learnGroups(ids, asking, asking.signal)
  } catch (error) {
    if (asking.signal.aborted) throw error
    log.warn({ err: error }, 'groups that a wallet converted are not known')
  }
}

/**
 * Facts about markets that the tally may lack: markets around which it guesses, and resolved markets in which it has open
 * positions. In turns of the loop. Facts that the venue's answer lacks stay as they were. Rejects when `signal` aborts.
 */
export async function newFacts(
  parts: GroupsParts,
  tally: WalletTally,
  asking: AskingGroups & { readonly signal: AbortSignal },
): Promise<readonly WalletMarket[]> {
  const { markets, clock, log } = parts
  const { fetchMarkets, signal } = asking
  const guessed = tally.guessedMarkets()
  const ungrouped = guessed.filter((id) => markets.lacksGroup(id))
  await learnGroups(parts, ungrouped, asking)
  const open = tally.openMarkets()
  const turns = new Turns(clock)
  const unlisted: NativeMarketId[] = [...guessed]
  for (const id of open) {
    if (markets.view(id) === null) unlisted.push(id)
    await turns.next()
  }
  try {
    await markets.learn(unlisted, fetchMarkets, signal)
  } catch (error) {
    if (signal.aborted) throw error
    log.warn({ err: error, markets: unlisted.length }, 'markets of a wallet are not known')
  }
  turns.begin()
  const found: WalletMarket[] = []
  const isWanted = new Set(guessed)
  for (const id of [...guessed, ...open]) {
    const facts = isWanted.has(id) || markets.isResolved(id) ? markets.find(id) : null
    if (facts !== null) found.push(facts)
    await turns.next()
  }
  return found
}
