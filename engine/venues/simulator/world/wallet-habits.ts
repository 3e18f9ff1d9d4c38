// What wallets are inclined to: how much they split, whether they merge, convert, redeem and when, what
// the venue pays them now and then. Only chances: whether something is possible, and what it does to a
// ledger, is wallet-ledgers.ts. Draws come from one seeded stream, in the order of the world's changes.

import { hash32, type Random } from '../../../random.ts'
import {
  MINUTE_MS,
  type SizeMicros,
  sizeMicros,
  type UsdMicros,
  usdMicros,
} from '../../../units.ts'
import type { SimMarket, SimWalletEventKind } from '../model.ts'
import { mixUnit } from './mix.ts'

/** A hundredth of a contract: nothing trades finer. */
const HUNDREDTH = 10_000
/** Sets that makers split at once. */
const LOT = 100_000_000
const EXACT_SPLIT_SHARE = 0.4
const MERGE_SHARE = 0.12
const FULL_MERGE_SHARE = 0.6
const CONVERT_SHARE = 0.3
const PLAN_DELAY_MS_MIN = 1_000
const PLAN_DELAY_MS_SPREAD = 5_000
const WINNER_REDEEMS_SHARE = 0.85
const LOSER_REDEEMS_SHARE = 0.35
const REDEEM_DELAY_MS_MIN = 5_000
const REDEEM_DELAY_MS_MEAN = 4 * MINUTE_MS
const MIGRATE_SHARE = 0.02
const RETAIN_LOSER_SHARE = 0.4
const INCOME_SHARE = 0.004

/** The chances of all wallets; one for the ledgers. */
export class WalletHabits {
  readonly #random: Random
  readonly #seed: number

  constructor(options: { random: Random; seed: number }) {
    this.#random = options.random
    this.#seed = options.seed
  }

  /** How many sets a seller splits who lacks `missing`: just these, or whole lots. */
  splitSize(missing: number): SizeMicros {
    if (this.#random.next() < EXACT_SPLIT_SHARE) return sizeMicros(missing)
    return sizeMicros(Math.ceil(missing / LOT) * LOT)
  }

  /** What the owner of a fill goes on to do in a moment, if anything. */
  plan(isNoBuyer: boolean): 'merge' | 'convert' | 'migrate' | null {
    const chance = this.#random.next()
    if (chance < MERGE_SHARE) return 'merge'
    if (isNoBuyer && chance < MERGE_SHARE + CONVERT_SHARE) return 'convert'
    return chance > 1 - MIGRATE_SHARE ? 'migrate' : null
  }

  /** How long such a plan takes, in milliseconds: never within the same second. */
  planDelayMs(): number {
    return PLAN_DELAY_MS_MIN + this.#random.below(PLAN_DELAY_MS_SPREAD)
  }

  /** How many of `sets` are merged: all or about half. */
  mergeSize(sets: number): number {
    if (this.#random.next() < FULL_MERGE_SHARE) return sets
    return Math.floor(sets / 2 / HUNDREDTH) * HUNDREDTH
  }

  /** Whether a winner who also holds the losing side leaves that where it is. */
  retainsLoser(address: string, { listing }: SimMarket): boolean {
    const key = hash32('keeps', this.#seed, address, listing.slug)
    return mixUnit(key, 0) < RETAIN_LOSER_SHARE
  }

  /**
   * How long after the resolution a holder redeems, in milliseconds; null: never. A pure function of the
   * wallet and the market, so that a restart changes no delay.
   */
  redeemDelayMs(holder: { address: string; chanceKey: string; isWinner: boolean }): number | null {
    const key = hash32('redeems', this.#seed, holder.address, holder.chanceKey)
    const share = holder.isWinner ? WINNER_REDEEMS_SHARE : LOSER_REDEEMS_SHARE
    if (mixUnit(key, 0) >= share) return null
    const wait = -Math.log(1 - mixUnit(key, 1)) * REDEEM_DELAY_MS_MEAN
    return REDEEM_DELAY_MS_MIN + Math.floor(wait)
  }

  /** What the venue pays a maker after a fill, to a tenth of a cent; null mostly. */
  income(): {
    readonly kind: Extract<SimWalletEventKind, 'REWARD' | 'MAKER_REBATE'>
    readonly usd: UsdMicros
  } | null {
    if (this.#random.next() >= INCOME_SHARE) return null
    const isReward = this.#random.next() < 0.5
    const usd = usdMicros((1 + this.#random.below(isReward ? 50_000 : 5_000)) * 1_000)
    return { kind: isReward ? 'REWARD' : 'MAKER_REBATE', usd }
  }
}
