// Checks the headers of a WebSocket handshake, for upgrade.ts and for the route of a plain GET: the library upgrades
// only requests with a Sec-WebSocket-Key of 24 characters. `Connection` is not checked, because the library returns
// only the first line of a repeated header.

import { type Answer, failure, withHeader } from '../../request/reply.ts'

/** The value of a header by its lower-case name, or '' if it is absent. */
type ReadHeader = (name: string) => string

/** Length of 16 bytes in base64. */
const KEY_CHARACTERS = 24
const VERSION = '13'

/** The 426 answer, which names the missing headers. Null if the handshake is complete. */
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
