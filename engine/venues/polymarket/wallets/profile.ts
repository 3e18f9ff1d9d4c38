// Who an address is: Gamma knows the proxy of an owner and the names; the Data API knows who traded without ever
// having made a profile. Upholds WALLETREAD12.

import { FetchError } from '../../../fetch.ts'
import { type WalletAddress, walletAddress } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type { WalletProfile } from '../../../wallet.ts'
import type { Json } from '../messages.ts'
import { type JsonHost, listOf } from './pages.ts'

export interface WalletProfileParts {
  readonly gamma: JsonHost
  readonly data: JsonHost
}

/** Null: no profile, no trade and no activity. Rejects with FetchError. */
export async function readProfile(
  parts: WalletProfileParts,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<WalletProfile | null> {
  const told = await publicProfile(parts.gamma, address, signal)
  const proxy = told === null ? null : walletAddress(textOf(told.proxyWallet) ?? '')
  if (told !== null && proxy !== null) {
    const base = walletAddress(textOf(told.baseAddress) ?? '')
    const owner = address === proxy ? base : address
    return {
      proxy,
      eoa: owner === proxy ? null : owner,
      handle: textOf(told.name),
      pseudonym: textOf(told.pseudonym),
      image: textOf(told.profileImage),
    }
  }
  if (!(await hasTraded(parts.data, address, signal))) return null
  return { proxy: address, eoa: null, handle: null, pseudonym: null, image: null }
}

async function publicProfile(
  gamma: JsonHost,
  address: WalletAddress,
  signal: AbortSignal,
): Promise<Json | null> {
  try {
    const answer = await gamma.getJson('/public-profile', { address }, { signal })
    return isRecord(answer) ? answer : null
  } catch (error) {
    if (error instanceof FetchError && error.status === 404) return null
    throw error
  }
}

/** `/traded` counts markets traded in; a wallet may also have only split, or been paid. */
async function hasTraded(
  data: JsonHost,
  user: WalletAddress,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await data.getJson('/traded', { user }, { signal })
  if (isRecord(answer) && Number(answer.traded) > 0) return true
  const rows = await data.getJson('/activity', { user, limit: 1 }, { signal })
  return listOf(rows, '/activity').length > 0
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
