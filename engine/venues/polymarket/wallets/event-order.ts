// Events of whole seconds in the order in which the rules take them: by time, then transaction, then row; the rows
// of a conversion, one for each market whose No was given, become one event.

import { usdMicros } from '../../../units.ts'
import { compareEvents, type WalletEvent } from '../../../wallet.ts'

/** An event, and of a fill the key by which the list of takers is asked for it. */
export interface FoundEvent {
  readonly event: WalletEvent
  readonly key: string | null
}

/** Takes whole seconds in the order of the rows; a second that is cut may cut a conversion. */
export function inOrder(rows: readonly FoundEvent[]): readonly FoundEvent[] {
  // The hashes of one chain are equally long and lower case: every reader sorts them alike.
  return joinConversions(rows).sort((one, other) => compareEvents(one.event, other.event))
}

/**
 * Rows of one transaction and one amount are one conversion; a market that comes again in it begins another.
 * The joined event stands where its first row stood.
 */
function joinConversions(rows: readonly FoundEvent[]): FoundEvent[] {
  const joined: FoundEvent[] = []
  const positions = new Map<string, number[]>()
  for (const found of rows) {
    const { event } = found
    if (event.kind !== 'conversion') {
      joined.push(found)
      continue
    }
    const name = `${event.timeMs} ${event.txHash} ${event.size}`
    const existing = positions.get(name) ?? []
    const position = existing.find(
      (at) => joined[at]?.event.converted.includes(event.market) === false,
    )
    const begun = position === undefined ? undefined : joined[position]?.event
    if (position !== undefined && begun !== undefined) {
      joined[position] = { event: withRow(begun, event), key: null }
      continue
    }
    positions.set(name, [...existing, joined.length])
    joined.push(found)
  }
  return joined
}

function withRow(conversion: WalletEvent, row: WalletEvent): WalletEvent {
  return {
    ...conversion,
    usd: usdMicros(conversion.usd + row.usd),
    converted: [...conversion.converted, ...row.converted],
  }
}
