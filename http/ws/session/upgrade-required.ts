// Checks the headers of a WebSocket handshake and builds the 426 that names what is missing. The library upgrades
// requests with a Sec-WebSocket-Key of 24 characters and passes all others to the router, so both entries call this:
// the handshake (upgrade.ts) and the route of a plain GET. `Connection` is not checked: the library returns only the
// first line of a repeated header.

import { type Answer, failure, withHeader } from '../../request/reply.ts'

/** A header by its lower-case name; '' for none. */
type ReadHeader = (name: string) => string

/** 16 bytes in base64. */
const KEY_CHARACTERS = 24
const VERSION = '13'

/** The answer to an incomplete handshake, which names what is missing; null: it is complete. */
export function upgradeRequired(header: ReadHeader): Answer | null {
  const lacks = lacksOf(header)
  if (lacks.length === 0) return null
  const detail = `this path speaks WebSocket: the request lacks ${lacks.join(', ')}`
  const answer = withHeader(failure('UPGRADE_REQUIRED', detail), 'Upgrade', 'websocket')
  return withHeader(withHeader(answer, 'Connection', 'Upgrade'), 'Sec-WebSocket-Version', VERSION)
}

function lacksOf(header: ReadHeader): readonly string[] {
  const lacks: string[] = []
  const protocols = header('upgrade').toLowerCase().split(',')
  if (!protocols.some((name) => name.trim() === 'websocket')) lacks.push('`Upgrade: websocket`')
  if (header('sec-websocket-version') !== VERSION)
    lacks.push(`\`Sec-WebSocket-Version: ${VERSION}\``)
  if (header('sec-websocket-key').length !== KEY_CHARACTERS) {
    lacks.push('`Sec-WebSocket-Key` of 16 bytes in base64')
  }
  return lacks
}
