// Subscriptions to channels that begin with a state: single markets, each live from its own state on,
// and whole venues, which end in one topic. Upholds WS1, SUB3.

import type { MarketView } from '../../actors/views.ts'
import type { MarketId } from '../../engine/ids.ts'
import type { MarketRef } from '../../engine/market.ts'
import type { ChannelName, WideKey } from './channels.ts'
import type { Connection, Task } from './connection.ts'
import type { Desk } from './desk.ts'
import type { Since } from './protocol.ts'
import { Row } from './row.ts'

/** States of single markets, each live from its own on. A repeat is passed over. */
export function* subscribeSingles(
  connection: Connection,
  desk: Desk,
  wanted: { channel: ChannelName; refs: readonly MarketRef[]; since: Since | null },
): Task {
  const { channel, refs, since } = wanted
  const subscriptions = connection.subscriptions.of(channel)
  for (const ref of refs) {
    if (since === null && subscriptions.wants(ref)) continue
    const view = desk.engine.catalog.find(ref.id)
    if (view === null) continue
    announce(connection, desk, channel, view, since)
    if (subscriptions.covers(ref.venue)) connection.sendState(channel, view)
    else {
      connection.begin(channel, view)
      subscriptions.singles.set(ref.number, ref)
    }
    yield
  }
}

/** Our history does not reach back in this channel: the book is replaced, and says so. */
function announce(
  connection: Connection,
  desk: Desk,
  channel: ChannelName,
  view: MarketView,
  since: Since | null,
): void {
  if (since === null || channel !== 'orderbook') return
  const reason = since.epoch === desk.publisher.epoch ? 'slow_consumer' : 'restart'
  connection.send(connection.encoder.resync(channel, view.ref, reason))
}

/** States of a whole venue or everything, then one topic in place of them all. */
export function* subscribeWide(
  connection: Connection,
  desk: Desk,
  wanted: { channel: ChannelName; key: WideKey; since: Since | null },
): Task {
  const { channel, key, since } = wanted
  const subscriptions = connection.subscriptions.of(channel)
  const isExact = subscriptions.wide.has(key)
  if (subscriptions.covers(key) && !(isExact && since !== null)) return
  const taken = subscriptions.takeContained(key)
  for (const wide of taken.wide) connection.ignore(channel, wide)
  for (const { number } of taken.singles) connection.ignore(channel, number)
  const row = new Row({ connection, channel, key, ids: idsOf(desk, key) })
  connection.row = row
  yield* fill(connection, desk, row, (view) => announce(connection, desk, channel, view, since))
  connection.row = null
  subscriptions.wide.add(key)
}

export function idsOf(desk: Desk, key: WideKey): readonly MarketId[] {
  return Array.from(desk.engine.catalog.markets(key === '*' ? null : key), (view) => view.ref.id)
}

/** Sends a row's states; ends with its topic live, in the turn of the last of them. */
export function* fill(
  connection: Connection,
  desk: Desk,
  row: Row,
  before: (view: MarketView) => void,
): Task {
  desk.openRow(row)
  for (let id = row.take(); id !== null; id = row.take()) {
    const view = desk.engine.catalog.find(id)
    // The hub may have sent it already: its book was replaced while the row was on its way.
    if (view === null || row.sent.has(view.ref.number)) continue
    before(view)
    connection.sendState(row.channel, view)
    row.sent.set(view.ref.number, view.ref)
    yield
  }
  desk.closeRow(row)
  connection.listen(row.channel, row.key)
}
