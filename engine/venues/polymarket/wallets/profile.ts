// Reads a wallet's profile from Gamma, or checks in the Data API that a wallet without a profile has traded.

import { getIfFound, type JsonReader } from '../../../fetch.ts'
import { type WalletAddress, walletAddress } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type { WalletProfile } from '../../../wallet.ts'
import type { DataApi } from '../data-api.ts'

interface WalletProfileParts {
  readonly gamma: JsonReader
  readonly data: DataApi
}

/** Null if the wallet has no profile, trade or activity. Rejects with FetchError or SuspectAnswerError. */
export async function readProfile(
  parts: WalletProfileParts,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<WalletProfile | null> {
  const found = await getIfFound(parts.gamma, '/public-profile', { address }, signal)
  const proxy = isRecord(found) ? walletAddress(textOf(found.proxyWallet) ?? '') : null
  if (isRecord(found) && proxy !== null) {
    const base = walletAddress(textOf(found.baseAddress) ?? '')
    const owner = address === proxy ? base : address
    return {
      proxy,
      eoa: owner === proxy ? null : owner,
      handle: textOf(found.name),
      pseudonym: textOf(found.pseudonym),
      image: textOf(found.profileImage),
    }
  }
  if (!(await hasDone(parts.data, address, signal))) return null
  return { proxy: address, eoa: null, handle: null, pseudonym: null, image: null }
}

/**
 * Whether the wallet has any activity. Statistics alone do not show splits or payments, because they count traded
 * markets.
 */
export async function hasDone(
  data: DataApi,
  user: WalletAddress,
  signal: AbortSignal,
): Promise<boolean> {
  const kind = 'wallet'
  const stats = await data.value({ path: '/v2/user-stats', query: { user }, kind }, { signal })
  if (isRecord(stats) && Number(stats.trades) > 0) return true
  const activity = { path: '/v2/activity', query: { user, limit: 1 }, kind } as const
  const { rows } = await data.page(activity, undefined, { signal })
  return rows.length > 0
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
