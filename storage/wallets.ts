// Wallets: profiles, ledgers in packed blocks, P&L states, owner addresses and traded markets. Retention never deletes
// them.

import { type NativeMarketId, type WalletAddress, walletAddress } from '../engine/ids.ts'
import type { StoredWallet, StoredWalletMarket, WalletHead } from './contract/wallets.ts'
import type { Environment } from './lmdb/environment.ts'
import { RecordTable } from './lmdb/record-table.ts'
import type { Table } from './lmdb/table.ts'
import type { RecordCodec } from './records/records.ts'
import {
  addressKey,
  blockKey,
  walletCodec,
  walletHeadCodec,
  walletMarketCodec,
  walletMarketKey,
} from './records/wallet.ts'
import { TABLES } from './tables.ts'

/** Decodes to a copy: stored bytes must not change or be transferred to a thread before they are committed. */
const packedCodec: RecordCodec<Uint8Array<ArrayBuffer>> = {
  newest: 1,
  encode: (body) => body,
  decode: (body) => new Uint8Array(body),
}

export class StoredWallets {
  readonly #wallets: RecordTable<StoredWallet>
  readonly #heads: RecordTable<WalletHead>
  readonly #owners: Table
  readonly #blocks: RecordTable<Uint8Array<ArrayBuffer>>
  readonly #pnlStates: RecordTable<Uint8Array<ArrayBuffer>>
  readonly #markets: RecordTable<StoredWalletMarket>
  #count: number

  constructor(environment: Environment) {
    const wallets = environment.table(TABLES.wallets)
    this.#wallets = new RecordTable(wallets, walletCodec)
    this.#heads = new RecordTable(wallets, walletHeadCodec)
    this.#owners = environment.table(TABLES.walletOwners)
    this.#blocks = new RecordTable(environment.table(TABLES.walletBlocks), packedCodec)
    this.#pnlStates = new RecordTable(environment.table(TABLES.walletAccounts), packedCodec)
    this.#markets = new RecordTable(environment.table(TABLES.walletMarkets), walletMarketCodec)
    this.#count = wallets.committedCount()
  }

  all(): Iterable<StoredWallet> {
    return this.#wallets.all()
  }

  get(proxy: WalletAddress): StoredWallet | null {
    return this.#wallets.get(addressKey(proxy))
  }

  /** Like `get`, but without the hours. */
  head(proxy: WalletAddress): WalletHead | null {
    return this.#heads.get(addressKey(proxy))
  }

  put(wallet: StoredWallet): void {
    const key = addressKey(wallet.proxy)
    if (!this.#wallets.rows.has(key)) this.#count += 1
    this.#wallets.putIfChanged(key, wallet)
  }

  /** The proxy address of an owner. Null if the owner was never requested. */
  proxyOf(eoa: WalletAddress): WalletAddress | null {
    const value = this.#owners.get(addressKey(eoa))
    return value === null ? null : walletAddress(`0x${value.toString('hex')}`)
  }

  putOwner(eoa: WalletAddress, proxy: WalletAddress): void {
    this.#owners.putIfChanged(addressKey(eoa), addressKey(proxy))
  }

  count(): number {
    return this.#count
  }

  /** Null if the block is missing or damaged. The caller owns the bytes. */
  block(proxy: WalletAddress, index: number): Uint8Array<ArrayBuffer> | null {
    return this.#blocks.get(blockKey(proxy, index))
  }

  putBlock(proxy: WalletAddress, index: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#blocks.put(blockKey(proxy, index), bytes)
  }

  /** Null if the state is missing or damaged. The caller can then recompute it from the ledger. */
  pnlState(proxy: WalletAddress): Uint8Array<ArrayBuffer> | null {
    return this.#pnlStates.get(addressKey(proxy))
  }

  putPnlState(proxy: WalletAddress, bytes: Uint8Array<ArrayBuffer>): void {
    this.#pnlStates.put(addressKey(proxy), bytes)
  }

  /** Removes blocks from this number on, up to the first missing block. */
  removeBlocks(proxy: WalletAddress, from: number): void {
    const { rows } = this.#blocks
    // Block numbers have no gaps. The loop also removes blocks that a crash left after the last counted block.
    for (let index = from; rows.has(blockKey(proxy, index)); index += 1) {
      rows.remove(blockKey(proxy, index))
    }
  }

  market(id: NativeMarketId): StoredWalletMarket | null {
    return this.#markets.get(walletMarketKey(id))
  }

  putMarket(market: StoredWalletMarket): void {
    this.#markets.putIfChanged(walletMarketKey(market.nativeId), market)
  }
}
