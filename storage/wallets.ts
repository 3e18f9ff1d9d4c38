// Wallets: their facts, ledgers in packed blocks, P&L states, owner addresses and traded markets. Blocks and P&L states
// carry a checksum and are opaque here. Retention never deletes them.

import { type NativeMarketId, type WalletAddress, walletAddress } from '../engine/ids.ts'
import type {
  StoredWallet,
  StoredWalletMarket,
  WalletHead,
  WalletTable,
} from './contract/wallets.ts'
import type { Environment } from './lmdb/environment.ts'
import type { Table } from './lmdb/table.ts'
import { chunkedRows } from './markets.ts'
import type { PackedSchemas } from './records/records.ts'
import {
  addressKey,
  blockKey,
  WALLET_MARKET_SCHEMA,
  WALLET_SCHEMA,
  walletFields,
  walletHeadSchemas,
  walletMarketFields,
  walletMarketKey,
  walletMarketSchemas,
  walletSchemas,
} from './records/wallet.ts'
import { TABLES } from './tables.ts'

const PACKED_SCHEMA = 1

/** A copy: uncommitted rows must not change while the caller uses them, nor be passed to a thread. */
const PACKED: PackedSchemas<Uint8Array<ArrayBuffer>> = { 1: (body) => new Uint8Array(body) }

export class StoredWallets implements WalletTable {
  readonly #wallets: Table
  readonly #owners: Table
  readonly #blocks: Table
  readonly #pnlStates: Table
  readonly #markets: Table
  #count: number

  constructor(environment: Environment) {
    this.#wallets = environment.table(TABLES.wallets)
    this.#owners = environment.table(TABLES.walletOwners)
    this.#blocks = environment.table(TABLES.walletBlocks)
    this.#pnlStates = environment.table(TABLES.walletAccounts)
    this.#markets = environment.table(TABLES.walletMarkets)
    this.#count = this.#wallets.committedCount()
  }

  *all(): Iterable<StoredWallet> {
    for (const row of chunkedRows(this.#wallets)) {
      const wallet = this.#wallets.decode(row, walletSchemas)
      if (wallet !== null) yield wallet
    }
  }

  get(proxy: WalletAddress): StoredWallet | null {
    return this.#wallets.getRecord(addressKey(proxy), walletSchemas)
  }

  head(proxy: WalletAddress): WalletHead | null {
    return this.#wallets.getRecord(addressKey(proxy), walletHeadSchemas)
  }

  put(wallet: StoredWallet): void {
    const key = addressKey(wallet.proxy)
    if (!this.#wallets.has(key)) this.#count += 1
    this.#wallets.putIfChanged(key, this.#wallets.encode(key, WALLET_SCHEMA, walletFields(wallet)))
  }

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

  block(proxy: WalletAddress, index: number): Uint8Array<ArrayBuffer> | null {
    return packedIn(this.#blocks, blockKey(proxy, index))
  }

  putBlock(proxy: WalletAddress, index: number, bytes: Uint8Array): void {
    putPacked(this.#blocks, blockKey(proxy, index), bytes)
  }

  pnlState(proxy: WalletAddress): Uint8Array<ArrayBuffer> | null {
    return packedIn(this.#pnlStates, addressKey(proxy))
  }

  putPnlState(proxy: WalletAddress, bytes: Uint8Array): void {
    putPacked(this.#pnlStates, addressKey(proxy), bytes)
  }

  removeBlocks(proxy: WalletAddress, from: number): void {
    // Block numbers have no gaps; blocks that a crash left after the last counted one are removed too.
    for (let index = from; this.#blocks.has(blockKey(proxy, index)); index += 1) {
      this.#blocks.remove(blockKey(proxy, index))
    }
  }

  market(id: NativeMarketId): StoredWalletMarket | null {
    return this.#markets.getRecord(walletMarketKey(id), walletMarketSchemas)
  }

  putMarket(market: StoredWalletMarket): void {
    const key = walletMarketKey(market.nativeId)
    const fields = walletMarketFields(market)
    this.#markets.putIfChanged(key, this.#markets.encode(key, WALLET_MARKET_SCHEMA, fields))
  }
}

function packedIn(table: Table, key: Buffer): Uint8Array<ArrayBuffer> | null {
  const value = table.get(key)
  return value === null ? null : table.decodePacked({ key, value }, PACKED)
}

function putPacked(table: Table, key: Buffer, bytes: Uint8Array): void {
  table.put(key, table.encodePacked(key, PACKED_SCHEMA, bytes))
}
