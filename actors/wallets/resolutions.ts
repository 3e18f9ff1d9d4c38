// What has become known of markets around which a wallet's account guesses, or in which something is held: resolved
// while nobody looked or a thread was at work, or told by the venue now. Not for: what a resolution does to the account
// (engine/wallets/account.ts). Upholds WALLETS8, WALLETS9, WALLETS19.

import type { NativeMarketId } from '../../engine/ids.ts'
import type { WalletMarket } from '../../engine/wallet.ts'
import type { WalletAccount } from '../../engine/wallets/account.ts'
import { Turns } from '../turns.ts'
import { type AskingGroups, type GroupsParts, learnGroups } from './groups.ts'

/**
 * Facts that the account may not have, in turns of the loop. What the venue does not tell stays as it was. Rejects when
 * `signal` aborts.
 */
export async function newFacts(
  parts: GroupsParts,
  account: WalletAccount,
  asking: AskingGroups & { readonly signal: AbortSignal },
): Promise<readonly WalletMarket[]> {
  const { markets, clock, log } = parts
  const { fetchMarkets, signal } = asking
  const guessed = account.guessedMarkets()
  const ungrouped = guessed.filter((id) => markets.lacksGroup(id))
  await learnGroups(parts, ungrouped, asking)
  const open = account.openMarkets()
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
