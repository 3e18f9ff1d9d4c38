// Condition ids at the edge. A market of protocol v2 has 31 bytes: Gamma writes them as 62 hex digits, the CLOB, the Data
// API and the sockets pad them on the right with 00 to the 64 digits that every market of protocol v1 has. Inside the
// service a condition id is 0x and 64 lower-case digits, whichever host names it.

import { type NativeMarketId, nativeMarketId } from '../../ids.ts'

const CONDITION_ID = /^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i
const DIGITS = 64

/** The one form of a condition id. What looks like none is kept as it is, in case ids change their form. */
export function conditionId(text: string): NativeMarketId {
  if (!CONDITION_ID.test(text)) return nativeMarketId(text)
  return nativeMarketId(text.toLowerCase().padEnd(2 + DIGITS, '0'))
}

const HEX_TOKEN = /^0x[0-9a-f]{1,64}$/i

/** A token's id, an integer of 256 bits, as decimal text; what is no hexadecimal text stays as it is. */
export function tokenId(text: string): string {
  return HEX_TOKEN.test(text) ? BigInt(text).toString() : text
}
