// Event ids are derived from the event. If a venue repeats an event or the engine restarts, the event gets the same id,
// so that receivers detect the repeat.

import { createHash } from 'node:crypto'
import type { WebhookEventType } from './webhook.ts'

const PREFIX = 'evt_'
/** 130 bits of the hash, so that collisions are negligible. */
const CHARACTERS = 26
/** RFC 4648 section 6 in lower case. It contains no '.', which separates the signed parts of a delivery. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * `evt_` and 26 characters of a-z2-7: the SHA-256 of type and parts joined by '|'. The parts identify the event (market
 * id and native trade id, both ids of a match sorted, …). Only the last part may contain a '|'.
 */
export function eventId(type: WebhookEventType, ...parts: readonly string[]): string {
  const digest = createHash('sha256')
    .update([type, ...parts].join('|'))
    .digest()
  let text = PREFIX
  let bits = 0
  let bitCount = 0
  for (const byte of digest) {
    bits = (bits << 8) | byte
    for (bitCount += 8; bitCount >= 5; bitCount -= 5) {
      text += ALPHABET[(bits >>> (bitCount - 5)) & 31]
      if (text.length === PREFIX.length + CHARACTERS) return text
    }
    bits &= (1 << bitCount) - 1
  }
  return text
}
