// One page of `/activity` of one wallet, oldest first, and what can be seen of it without reading its rows: how
// many there were, whether they are in order, whether the same page came before. Not for: where the next page
// begins (engine/venues/polymarket/wallets/history.ts). Upholds WALLETREAD5.

import { createHash } from 'node:crypto'
import { FetchError, type HttpClient } from '../../../fetch.ts'
import type { WalletAddress } from '../../../ids.ts'
import type { Intake } from '../intake.ts'
import { type PlacedRow, placeRow } from './rows.ts'

/** All that the readers of wallets need of a host. */
export type JsonHost = Pick<HttpClient, 'getJson'>

export interface ActivityPage {
  /** Rows as given, those that cannot be read included: what the next offset counts. */
  readonly count: number
  /** The rows whose second can be read, in the order given. */
  readonly rows: readonly PlacedRow[]
  /** Seconds never fall, and none is before the one asked for. */
  readonly isFit: boolean
  /** Equal for pages of equal rows. */
  readonly print: string
}

export interface PageAsked {
  /** Unix seconds, both inclusive. */
  readonly startS: number
  readonly endS: number
  readonly offset: number
  readonly limit: number
}

/** Reads pages for one reading of a wallet's history, and counts them. */
export class ActivityPages {
  readonly #parts: { readonly data: JsonHost; readonly intake: Intake }
  readonly #address: WalletAddress
  readonly #signal: AbortSignal
  #pageCount = 0
  #unreadableCount = 0

  constructor(
    parts: { readonly data: JsonHost; readonly intake: Intake },
    asked: { readonly address: WalletAddress; readonly signal: AbortSignal },
  ) {
    this.#parts = parts
    this.#address = asked.address
    this.#signal = asked.signal
  }

  get pageCount(): number {
    return this.#pageCount
  }

  /** Rows that have no second, or another wallet's; a row on two pages counts twice. */
  get unreadableCount(): number {
    return this.#unreadableCount
  }

  /** Rejects with FetchError, also when the answer is no list. */
  async read({ startS, endS, offset, limit }: PageAsked): Promise<ActivityPage> {
    this.#pageCount += 1
    // No `type`: the venue then tells every kind, also those it invents after us.
    const query = {
      user: this.#address,
      limit,
      offset,
      start: startS,
      end: endS,
      sortBy: 'TIMESTAMP',
      sortDirection: 'ASC',
    }
    const options = { signal: this.#signal }
    const answer = await this.#parts.data.getJson('/activity', query, options)
    return this.#pageOf(listOf(answer, '/activity'), startS)
  }

  /** Null: the venue refuses this offset. */
  async readDeep(asked: PageAsked): Promise<ActivityPage | null> {
    try {
      return await this.read(asked)
    } catch (error) {
      if (error instanceof FetchError && isRefusal(error.status)) return null
      throw error
    }
  }

  #pageOf(wires: readonly unknown[], startS: number): ActivityPage {
    const rows: PlacedRow[] = []
    const print = createHash('sha1')
    let isFit = true
    let lastS = startS
    for (const wire of wires) {
      const row = placeRow(wire, this.#address)
      print.update(row === null ? 'unreadable' : keyOf(row))
      if (row === null) {
        this.#unreadableCount += 1
        this.#parts.intake.reject('bad_wallet_row', JSON.stringify(wire) ?? '')
        continue
      }
      if (row.second < lastS) isFit = false
      lastS = row.second
      rows.push(row)
    }
    return { count: wires.length, rows, isFit, print: print.digest('base64') }
  }
}

/** What tells a row from others of its wallet; equal for rows that differ in nothing we read. */
export function keyOf({ second, wire }: PlacedRow): string {
  const { transactionHash, type, conditionId, asset, side, size, usdcSize, price } = wire
  return `${second} ${transactionHash} ${type} ${conditionId} ${asset} ${side} ${size} ${usdcSize} ${price};`
}

/** The rows of an answer. Throws FetchError ('body') when it is no list. */
export function listOf(answer: unknown, path: string): readonly unknown[] {
  if (Array.isArray(answer)) return answer
  throw new FetchError('body', `${path} answered something else than a list`)
}

/** The request itself is at fault: asking again would not help. 429 is the pace. */
function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 429
}
