// Ids of markets: 0x and 64 lower-case digits. Gamma writes v2 ids with 62, other hosts append 00 to them.

import { type NativeMarketId, nativeMarketId } from '../../ids.ts'

const CONDITION_ID = /^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i
const DIGITS = 64

/** Normalizes a condition id. Other text is returned unchanged, in case the venue changes its format. */
export function conditionId(text: string): NativeMarketId {
  if (!CONDITION_ID.test(text)) return nativeMarketId(text)
  return nativeMarketId(text.toLowerCase().padEnd(2 + DIGITS, '0'))
}

const HEX_TOKEN = /^0x[0-9a-f]{1,64}$/i

/** Converts a token id, a 256-bit integer, from hexadecimal to decimal text. Other text is returned unchanged. */
export function tokenId(text: string): string {
  return HEX_TOKEN.test(text) ? BigInt(text).toString() : text
}
