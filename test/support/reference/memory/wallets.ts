// Reference implementation of storage/wallets.ts, in memory.

import type { NativeMarketId, WalletAddress } from '../../../../engine/ids.ts'
import type {
  StoredWallet,
  StoredWalletMarket,
  WalletHead,
  WalletTable,
} from '../../../../storage/contract/wallets.ts'

export class MemoryWallets implements WalletTable {
  readonly #wallets = new Map<WalletAddress, StoredWallet>()
  readonly #owners = new Map<WalletAddress, WalletAddress>()
  readonly #blocks = new Map<WalletAddress, Map<number, Uint8Array>>()
  readonly #tallies = new Map<WalletAddress, Uint8Array>()
  readonly #markets = new Map<NativeMarketId, StoredWalletMarket>()

  all(): Iterable<StoredWallet> {
    return [...this.#wallets.values()].sort((one, other) => (one.proxy < other.proxy ? -1 : 1))
  }

  get(proxy: WalletAddress): StoredWallet | null {
    return this.#wallets.get(proxy) ?? null
  }

  head(proxy: WalletAddress): WalletHead | null {
    const wallet = this.#wallets.get(proxy)
    if (wallet === undefined) return null
    const { hours, ...head } = wallet
    void hours
    return head
  }

  put(wallet: StoredWallet): void {
    this.#wallets.set(wallet.proxy, wallet)
  }

  proxyOf(eoa: WalletAddress): WalletAddress | null {
    return this.#owners.get(eoa) ?? null
  }

  putOwner(eoa: WalletAddress, proxy: WalletAddress): void {
    this.#owners.set(eoa, proxy)
  }

  count(): number {
    return this.#wallets.size
  }

  block(proxy: WalletAddress, index: number): Uint8Array<ArrayBuffer> | null {
    return copyOf(this.#blocks.get(proxy)?.get(index))
  }

  putBlock(proxy: WalletAddress, index: number, bytes: Uint8Array): void {
    const blocks = this.#blocks.get(proxy) ?? new Map<number, Uint8Array>()
    this.#blocks.set(proxy, blocks.set(index, new Uint8Array(bytes)))
  }

  pnlState(proxy: WalletAddress): Uint8Array<ArrayBuffer> | null {
    return copyOf(this.#tallies.get(proxy))
  }

  putPnlState(proxy: WalletAddress, bytes: Uint8Array): void {
    this.#tallies.set(proxy, new Uint8Array(bytes))
  }

  removeBlocks(proxy: WalletAddress, from: number): void {
    const blocks = this.#blocks.get(proxy)
    for (let index = from; blocks?.delete(index) === true; index += 1);
  }

  market(id: NativeMarketId): StoredWalletMarket | null {
    return this.#markets.get(id) ?? null
  }

  putMarket(market: StoredWalletMarket): void {
    this.#markets.set(market.nativeId, market)
  }
}

/** A copy, since the caller may transfer the bytes to a thread. */
function copyOf(bytes: Uint8Array | undefined): Uint8Array<ArrayBuffer> | null {
  return bytes === undefined ? null : new Uint8Array(bytes)
}
