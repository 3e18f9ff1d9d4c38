// The simulated wallets. Addresses and names depend on the seed and the time of the world's first start (run-ids.ts).

import { type Random, seededRandom } from '../../../random.ts'
import type { SimWallet } from '../model.ts'
import { wordsOf } from '../questions/lists.ts'
import type { RunIds } from './run-ids.ts'

const WALLET_COUNT = 3_000
const WHALE_COUNT = 40

const MANNERS = wordsOf('walletManners')
const THINGS = wordsOf('walletThings')

/** Wallets in the order of their trading frequency, most frequent first. */
export class WalletPool {
  readonly #wallets: readonly SimWallet[]
  readonly #random: Random

  constructor(options: { ids: RunIds; random: Random }) {
    this.#random = options.random
    const wallets: SimWallet[] = []
    const nameRandom = seededRandom('wallet names', options.ids.address(0))
    for (let number = 0; number < WALLET_COUNT; number += 1) {
      wallets.push(inventWallet(options.ids.address(number), nameRandom))
    }
    this.#wallets = wallets
  }

  get all(): readonly SimWallet[] {
    return this.#wallets
  }

  /** A random wallet other than `other`. A tenth of the wallets does about half of the trading. */
  pick(other: SimWallet | null = null): SimWallet {
    const skewed = this.#random.next() ** 3.3
    return this.#at(Math.floor(skewed * WALLET_COUNT), other)
  }

  pickWhale(): SimWallet {
    return this.#at(WALLET_COUNT - 1 - this.#random.below(WHALE_COUNT), null)
  }

  #at(number: number, other: SimWallet | null): SimWallet {
    const wallet = this.#wallets[number]
    if (wallet !== undefined && wallet !== other) return wallet
    return this.#random.pick(this.#wallets.slice(0, 2).filter((candidate) => candidate !== other))
  }
}

function inventWallet(address: string, random: Random): SimWallet {
  const manner = random.pick(MANNERS)
  const thing = random.pick(THINGS)
  const pseudonym = `${random.pick(MANNERS)}-${random.pick(THINGS)}`
  const name = random.next() < 0.33 ? '' : `${manner}${thing}${random.below(1_000)}`
  return { address, name, pseudonym }
}
