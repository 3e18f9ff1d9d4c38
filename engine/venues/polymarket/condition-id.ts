// Normalizes condition ids. A market of protocol v2 has an id of 31 bytes: Gamma writes 62 hex digits; the CLOB, the
// Data API and the sockets append 00 to get 64 digits, as in protocol v1. Inside the service a condition id is 0x and
// 64 lower-case digits.

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
