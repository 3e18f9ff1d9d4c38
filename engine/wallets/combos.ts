// A wallet's holdings of combos (bets on several markets at once).

import type { WalletEvent } from '../wallet.ts'

/** Micro-contracts by token. Null after more contracts left than were known to be held. */
export type ComboHoldings = Map<string, number | null>

/**
 * If nothing is held, receipts minus payments are the final result. A lost combo that was not redeemed counts as held,
 * because no row states the winner.
 */
export function isClosed(combos: ComboHoldings): boolean {
  return [...combos.values()].every((amount) => amount === 0)
}

/** Returns the received dollars. Negative: paid dollars. */
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
  // A row of a lost combo may state no contracts. All its contracts are then redeemed.
  const given = kind === 'comboRedeem' && usd === 0 ? (held ?? 0) : size
  const isKnown = kind !== 'comboOther' && held !== null && given <= held
  combos.set(key, isKnown ? held - given : null)
  return kind === 'comboOther' ? 0 : usd
}
