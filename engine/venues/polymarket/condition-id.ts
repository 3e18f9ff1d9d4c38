// Converts ids of markets to 0x and 64 lower-case digits. Gamma writes v2 ids with 62 digits, other hosts append 00.

import { type NativeMarketId, nativeMarketId } from '../../ids.ts'

const CONDITION_ID = /^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i
const DIGITS = 64

/** Normalizes a condition id. Returns text of another format unchanged. */
export function conditionId(text: string): NativeMarketId {
  if (!CONDITION_ID.test(text)) return nativeMarketId(text)
  return nativeMarketId(text.toLowerCase().padEnd(2 + DIGITS, '0'))
}

const HEX_TOKEN = /^0x[0-9a-f]{1,64}$/i

/** Converts a token id from hexadecimal to decimal text. Returns text of another format unchanged. */
export function tokenId(text: string): string {
  return HEX_TOKEN.test(text) ? BigInt(text).toString() : text
}
