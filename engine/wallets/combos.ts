// A wallet's holdings of combos (bets on several markets at once): the contracts of each combo. While
// contracts are held, the result is open. A lost combo that was not redeemed looks like an undecided one,
// because no row of the activity states the winner.

import type { WalletEvent } from '../wallet.ts'
import { IntegerColumn } from './columns.ts'
import { TextTable } from './text-table.ts'

export class ComboHoldings {
  readonly #tokens: TextTable
  /** Micro-contracts. UNKNOWN once more was given away than was known to be held. */
  readonly #amounts: IntegerColumn

  private constructor(tokens: TextTable, amounts: IntegerColumn) {
    this.#tokens = tokens
    this.#amounts = amounts
  }

  static empty(): ComboHoldings {
    return new ComboHoldings(TextTable.empty(), IntegerColumn.empty())
  }

  /** Opens the sections that `sections` returned. Null when they are damaged. */
  static over(sections: readonly Uint8Array<ArrayBuffer>[]): ComboHoldings | null {
    const [packed, hashes, numbers] = sections
    if (packed === undefined || hashes === undefined || numbers === undefined) return null
    const tokens = TextTable.over(packed, hashes)
    const amounts = tokens === null ? null : IntegerColumn.over(numbers, tokens.count)
    return tokens === null || amounts === null ? null : new ComboHoldings(tokens, amounts)
  }

  /** The sections for `over`, as views that are valid until the next change. */
  sections(): readonly Uint8Array<ArrayBuffer>[] {
    return [...this.#tokens.sections(), this.#amounts.bytes()]
  }

  copy(): ComboHoldings {
    return new ComboHoldings(this.#tokens.copy(), this.#amounts.copy())
  }

  /** Whether nothing is held, so that receipts less payments are the final result. */
  get isClosed(): boolean {
    for (let row = 0; row < this.#amounts.count; row += 1) {
      if (this.#amounts.at(row) !== 0) return false
    }
    return true
  }

  /** Applies the next event of a combo. Returns the dollars received (below 0: paid). */
  apply({ kind, market, token, size, usd }: WalletEvent): number {
    const row = this.#tokens.add(token ?? market)
    if (row === this.#amounts.count) this.#amounts.push(0)
    const held = this.#amounts.at(row)
    if (kind === 'comboBuy') {
      if (held !== UNKNOWN) this.#amounts.put(row, held + size)
      return -usd
    }
    // A loser's row may state no contracts. In that case all of them are redeemed.
    const given = kind === 'comboRedeem' && usd === 0 ? held : size
    const isBalanceKnown = kind !== 'comboOther' && held !== UNKNOWN && given <= held
    this.#amounts.put(row, isBalanceKnown ? held - given : UNKNOWN)
    return kind === 'comboOther' ? 0 : usd
  }
}

const UNKNOWN = -1
