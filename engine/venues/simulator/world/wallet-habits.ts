// Probabilities of wallets' actions and of the venue's payments. They are drawn from one seeded stream, in the order of
// changes.

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

const HUNDREDTH = 10_000
/** Usual unit of a split: 100 contracts, in micros. */
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

export class WalletHabits {
  readonly #random: Random
  readonly #seed: number

  constructor(options: { random: Random; seed: number }) {
    this.#random = options.random
    this.#seed = options.seed
  }

  /**
   * Number of sets that a seller splits to get `missing` contracts: exactly this number, or the next multiple of a lot.
   */
  splitSize(missing: number): SizeMicros {
    if (this.#random.next() < EXACT_SPLIT_SHARE) return sizeMicros(missing)
    return sizeMicros(Math.ceil(missing / LOT) * LOT)
  }

  /** The next action of a wallet after a fill. Null: none. */
  plan(isNoBuyer: boolean): 'merge' | 'convert' | 'migrate' | null {
    const chance = this.#random.next()
    if (chance < MERGE_SHARE) return 'merge'
    if (isNoBuyer && chance < MERGE_SHARE + CONVERT_SHARE) return 'convert'
    return chance > 1 - MIGRATE_SHARE ? 'migrate' : null
  }

  /** Delay of a planned action in milliseconds. It is never in the same second. */
  planDelayMs(): number {
    return PLAN_DELAY_MS_MIN + this.#random.below(PLAN_DELAY_MS_SPREAD)
  }

  /** Number of `sets` that a wallet merges: all, or about half. */
  mergeSize(sets: number): number {
    if (this.#random.next() < FULL_MERGE_SHARE) return sets
    return Math.floor(sets / 2 / HUNDREDTH) * HUNDREDTH
  }

  /** Whether a winner does not redeem the losing outcome. */
  retainsLoser(address: string, { listing }: SimMarket): boolean {
    const key = hash32('keeps', this.#seed, address, listing.slug)
    return mixUnit(key, 0) < RETAIN_LOSER_SHARE
  }

  /**
   * In milliseconds after the resolution. Null: the holder never redeems. The result depends only on wallet and market,
   * so a restart does not change it.
   */
  redeemDelayMs(holder: { address: string; chanceKey: string; isWinner: boolean }): number | null {
    const key = hash32('redeems', this.#seed, holder.address, holder.chanceKey)
    const share = holder.isWinner ? WINNER_REDEEMS_SHARE : LOSER_REDEEMS_SHARE
    if (mixUnit(key, 0) >= share) return null
    const wait = -Math.log(1 - mixUnit(key, 1)) * REDEEM_DELAY_MS_MEAN
    return REDEEM_DELAY_MS_MIN + Math.floor(wait)
  }

  /** The venue's payment to a maker after a fill, in multiples of a tenth of a cent. Usually null. */
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
