// What a request of the stream's path must carry to become a WebSocket, and the 426 that says what it lacks.
// The library upgrades whatever has a Sec-WebSocket-Key of 24 characters and hands the rest to the router,
// so both entries ask here: the handshake (upgrade.ts) and the route of a plain GET (api.ts). `Connection`
// is not asked for: of a repeated header the library gives the first line only.

import { type Answer, failure, withHeader } from '../../request/reply.ts'

/** A header by its name in lower case; '' for none. */
type ReadHeader = (name: string) => string

/** 16 bytes in base64. */
const KEY_CHARACTERS = 24
const VERSION = '13'

/** The answer to what is no handshake, with what it lacks; null: it is one. */
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
