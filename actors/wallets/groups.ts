// The groups of markets that a wallet converted, asked for before its conversions are taken into the account: each
// divides what it cost over the whole of its group. Not for: where groups are kept (actors/wallets/markets.ts), nor how a
// conversion is divided (engine/wallets/account.ts). Upholds WALLETS19.

import type { Clock } from '../../engine/clock.ts'
import type { NativeMarketId } from '../../engine/ids.ts'
import type { Log } from '../../engine/process/log.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import type { WalletAccount } from '../../engine/wallets/account.ts'
import { Turns } from '../turns.ts'
import type { WalletLedger } from './ledger.ts'
import type { FetchGroup, FetchMarkets, WalletMarkets } from './markets.ts'

export interface GroupsParts {
  readonly markets: WalletMarkets
  readonly clock: Clock
  readonly log: Log
}

/** Where groups, and the markets in them, are asked for. */
export interface AskingGroups {
  readonly fetchMarkets: FetchMarkets
  readonly fetchGroup: FetchGroup
}

/** The events of a ledger from a place up to, not including, another; read one by one. Throws LedgerDamage. */
export function* eventsBetween(ledger: WalletLedger, from: number, to: number) {
  for (let place = from; place < to; place += 1) yield ledger.at(place)
}

/** Of the markets that events converted. Otherwise as `learnGroups`; throws what `events` throws. */
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

/** Whether a conversion in an account, or among later events, was divided over no group, or over a part of it. */
export function lacksGroups(
  { markets }: Pick<GroupsParts, 'markets'>,
  account: WalletAccount,
  later: readonly WalletEvent[],
): boolean {
  const guessed = account.guessedMarkets()
  return [...guessed, ...later.flatMap(({ converted }) => converted)].some((id) =>
    markets.lacksGroup(id),
  )
}

/** Groups that the venue does not tell now stay unknown, and are asked for again. Rejects when `signal` aborts. */
export async function learnGroups(
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
