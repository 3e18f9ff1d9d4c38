// Subscriptions to channels that begin with a state: single markets, each live from its own state on,
// and whole venues, which end in one topic.

import type { MarketView } from '../../../actors/views.ts'
import type { MarketId } from '../../../engine/ids.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import type { Lane, WideKey } from '../fan-out/lanes.ts'
import type { Connection, Task } from './connection.ts'
import type { HubAccess } from './hub-access.ts'
import { Row } from './row.ts'

/** Called before each state; null: a market that is subscribed to already is passed over. */
type Before = ((view: MarketView) => void) | null

/** States of single markets, each live from its own on. Within a wide one it stays there. */
export function* subscribeSingles(
  connection: Connection,
  hub: HubAccess,
  wanted: { lane: Lane; refs: readonly MarketRef[]; before: Before },
): Task {
  const { lane, refs, before } = wanted
  const subscriptions = connection.subscriptions.ofLane(lane)
  for (const ref of refs) {
    const known = subscriptions.laneOf(ref)
    if (before === null && known === lane) continue
    yield* arrival(connection, hub, { lane, id: ref.id })
    const view = hub.engine.catalog.find(ref.id)
    if (view === null) continue
    before?.(view)
    if (subscriptions.covers(ref.venue)) connection.sendState(lane, view)
    else {
      if (known !== null && known !== lane) connection.ignore(known, ref.number)
      connection.begin(lane, view)
      subscriptions.singles.set(ref.number, { ref, lane })
    }
    yield
  }
}

/** States of a whole venue or everything, then one topic in place of them all. */
export function* subscribeWide(
  connection: Connection,
  hub: HubAccess,
  wanted: { lane: Lane; key: WideKey; before: Before },
): Task {
  const { lane, key, before } = wanted
  const subscriptions = connection.subscriptions.ofLane(lane)
  const isRepeat = subscriptions.wide.has(key) && before !== null
  if (subscriptions.wideLane(key) === lane && !isRepeat) return
  for (const taken of subscriptions.takeContained(key)) connection.ignore(taken.lane, taken.key)
  const row = new Row({ connection, lane, key, ids: idsOf(hub, key) })
  connection.row = row
  yield* fill(connection, hub, row, before ?? (() => {}))
  connection.row = null
  subscriptions.wide.set(key, lane)
}

/** Until a market's state is here, in a gateway that asks the engine for it. */
function* arrival(
  connection: Connection,
  hub: HubAccess,
  { lane, id }: { readonly lane: Lane; readonly id: MarketId },
): Task {
  for (;;) {
    const view = hub.engine.catalog.find(id)
    const coming = view === null ? null : hub.arrival(lane, view)
    if (coming === null) return
    connection.waitFor(coming)
    yield
  }
}

export function idsOf(hub: HubAccess, key: WideKey): readonly MarketId[] {
  return Array.from(hub.engine.catalog.markets(key === '*' ? null : key), (view) => view.ref.id)
}

/** Sends a row's states; ends with its topic live, in the turn of the last of them. */
export function* fill(
  connection: Connection,
  hub: HubAccess,
  row: Row,
  before: (view: MarketView) => void,
): Task {
  hub.openRow(row)
  for (let id = row.take(); id !== null; id = row.take()) {
    yield* arrival(connection, hub, { lane: row.lane, id })
    const view = hub.engine.catalog.find(id)
    // The hub may have sent it already: its book was replaced while the row was on its way.
    if (view === null || row.sent.has(view.ref.number)) continue
    before(view)
    connection.sendState(row.lane, view, row.isResync)
    row.sent.set(view.ref.number, view.ref)
    yield
  }
  hub.closeRow(row)
  connection.listen(row.lane, row.key)
}
