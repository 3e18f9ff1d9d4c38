// Wallets: their facts, ledgers in packed blocks, P&L states, owner addresses and traded markets. Blocks and P&L states
// carry a checksum and are opaque here. Retention never deletes them.

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

/** A copy: uncommitted rows must not change while the caller uses them, nor be passed to a thread. */
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

  /** All wallets in order of address; read at startup. */
  all(): Iterable<StoredWallet> {
    return this.#wallets.all()
  }

  get(proxy: WalletAddress): StoredWallet | null {
    return this.#wallets.get(addressKey(proxy))
  }

  /** As `get`, without decoding the hours: takes some 10 µs. */
  head(proxy: WalletAddress): WalletHead | null {
    return this.#heads.get(addressKey(proxy))
  }

  put(wallet: StoredWallet): void {
    const key = addressKey(wallet.proxy)
    if (!this.#wallets.rows.has(key)) this.#count += 1
    this.#wallets.putIfChanged(key, wallet)
  }

  /** The proxy of an owner's address; null if it was never requested. */
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

  /** A block, numbered from the start of its side; null if it is missing or damaged. The caller may keep the bytes. */
  block(proxy: WalletAddress, index: number): Uint8Array<ArrayBuffer> | null {
    return this.#blocks.get(blockKey(proxy, index))
  }

  putBlock(proxy: WalletAddress, index: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#blocks.put(blockKey(proxy, index), bytes)
  }

  /** The P&L state; null if it is missing or damaged. It can be recomputed from the ledger. */
  pnlState(proxy: WalletAddress): Uint8Array<ArrayBuffer> | null {
    return this.#pnlStates.get(addressKey(proxy))
  }

  putPnlState(proxy: WalletAddress, bytes: Uint8Array<ArrayBuffer>): void {
    this.#pnlStates.put(addressKey(proxy), bytes)
  }

  /** Removes blocks from a number on, up to the first missing one. */
  removeBlocks(proxy: WalletAddress, from: number): void {
    const { rows } = this.#blocks
    // Block numbers have no gaps; blocks that a crash left after the last counted one are removed too.
    for (let index = from; rows.has(blockKey(proxy, index)); index += 1) {
      rows.remove(blockKey(proxy, index))
    }
  }

  /** Markets that wallets traded. */
  market(id: NativeMarketId): StoredWalletMarket | null {
    return this.#markets.get(walletMarketKey(id))
  }

  putMarket(market: StoredWalletMarket): void {
    this.#markets.putIfChanged(walletMarketKey(market.nativeId), market)
  }
}
