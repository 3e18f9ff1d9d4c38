// What a wallet holds of combos (bets on several markets at once): the contracts of each, which say whether what was paid
// for them has come back. A combo that lost and was not redeemed looks like one that is not decided yet: which one won is
// in no row of the activity.

import type { WalletEvent } from '../wallet.ts'
import { IntegerColumn } from './columns.ts'
import { TextTable } from './text-table.ts'

export class ComboHoldings {
  readonly #tokens: TextTable
  /** Micro-contracts; UNKNOWN once more was given away than was known to be held. */
  readonly #amounts: IntegerColumn

  private constructor(tokens: TextTable, amounts: IntegerColumn) {
    this.#tokens = tokens
    this.#amounts = amounts
  }

  static empty(): ComboHoldings {
    return new ComboHoldings(TextTable.empty(), IntegerColumn.empty())
  }

  /** Over the sections that `sections` gave; null when they are damaged. */
  static over(sections: readonly Uint8Array<ArrayBuffer>[]): ComboHoldings | null {
    const [packed, hashes, numbers] = sections
    if (packed === undefined || hashes === undefined || numbers === undefined) return null
    const tokens = TextTable.over(packed, hashes)
    const amounts = tokens === null ? null : IntegerColumn.over(numbers, tokens.count)
    return tokens === null || amounts === null ? null : new ComboHoldings(tokens, amounts)
  }

  /** As `over` takes them; views, good until the next change. */
  sections(): readonly Uint8Array<ArrayBuffer>[] {
    return [...this.#tokens.sections(), this.#amounts.bytes()]
  }

  copy(): ComboHoldings {
    return new ComboHoldings(this.#tokens.copy(), this.#amounts.copy())
  }

  /** Whether nothing is held, so that what was paid and received is the result. */
  get isClosed(): boolean {
    for (let row = 0; row < this.#amounts.count; row += 1) {
      if (this.#amounts.at(row) !== 0) return false
    }
    return true
  }

  /** Takes in the next event of a combo; returns the dollars that came in (below 0: that were paid). */
  apply({ kind, market, token, size, usd }: WalletEvent): number {
    const row = this.#tokens.add(token ?? market)
    if (row === this.#amounts.count) this.#amounts.push(0)
    const held = this.#amounts.at(row)
    if (kind === 'comboBuy') {
      if (held !== UNKNOWN) this.#amounts.put(row, held + size)
      return -usd
    }
    // A loser's row may say no contracts: all of them are turned in.
    const given = kind === 'comboRedeem' && usd === 0 ? held : size
    const isBalanceKnown = kind !== 'comboOther' && held !== UNKNOWN && given <= held
    this.#amounts.put(row, isBalanceKnown ? held - given : UNKNOWN)
    return kind === 'comboOther' ? 0 : usd
  }
}

const UNKNOWN = -1
