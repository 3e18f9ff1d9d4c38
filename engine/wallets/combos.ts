// A wallet's holdings of combos (bets on several markets at once).

import type { WalletEvent } from '../wallet.ts'

/** Micro-contracts by token. Null once more was given away than was known to be held. */
export type ComboHoldings = Map<string, number | null>

/**
 * Whether nothing is held, so that receipts less payments are the final result. A lost combo that was not
 * redeemed looks like an undecided one, because no row of the activity states the winner.
 */
export function isClosed(combos: ComboHoldings): boolean {
  return [...combos.values()].every((amount) => amount === 0)
}

/** Applies the next event of a combo. Returns the dollars received (below 0: paid). */
export function applyCombo(
  combos: ComboHoldings,
  { kind, market, token, size, usd }: WalletEvent,
): number {
  const key = token ?? market
  const before = combos.get(key)
  const held = before === undefined ? 0 : before
  if (kind === 'comboBuy') {
    combos.set(key, held === null ? null : held + size)
    return -usd
  }
  // A loser's row may state no contracts. In that case all of them are redeemed.
  const given = kind === 'comboRedeem' && usd === 0 ? (held ?? 0) : size
  const isKnown = kind !== 'comboOther' && held !== null && given <= held
  combos.set(key, isKnown ? held - given : null)
  return kind === 'comboOther' ? 0 : usd
}
