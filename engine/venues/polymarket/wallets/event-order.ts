// Orders events by time, transaction and row. Rows of a conversion, one per market, become one event.

import { usdMicros } from '../../../units.ts'
import { compareEvents, type WalletEvent } from '../../../wallet.ts'

export interface FoundEvent {
  readonly event: WalletEvent
  readonly key: string | null
}

/** The rows must cover whole seconds, because a conversion may otherwise be split. */
export function inOrder(rows: readonly FoundEvent[]): readonly FoundEvent[] {
  // Hashes of one chain have equal length and case, so the order is the same for every reader.
  return joinConversions(rows).sort((one, other) => compareEvents(one.event, other.event))
}

/** By transaction and amount. A market that occurs again starts another conversion. */
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
