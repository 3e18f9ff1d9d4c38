// How a connection that lagged is made whole again, once its buffer has drained. Upholds WS8.

import type { MarketRef } from '../../engine/market.ts'
import type { TimeMs } from '../../engine/units.ts'
import { type ChannelName, STATE_CHANNELS } from './channels.ts'
import type { Connection, Task } from './connection.ts'
import type { Desk } from './desk.ts'
import { fill, idsOf } from './fill.ts'
import { replay, tellLost } from './replay.ts'
import { Row } from './row.ts'

/** What a lagging connection left behind. */
export interface Lag {
  readonly sinceMs: TimeMs
  readonly tradesAfter: number
}

/** Makes up for a lag: `resync` of every state at once, the missed trades, then the states. */
export function* catchUp(connection: Connection, desk: Desk, lag: Lag): Task {
  resyncAll(connection, desk)
  yield
  const trades = connection.subscriptions.of('trades')
  if (trades.count > 0) {
    const wants = (ref: MarketRef): boolean => trades.wants(ref)
    const after = lag.tradesAfter
    const replayed = yield* replay(connection, desk, {
      wants,
      after,
      countMax: Number.POSITIVE_INFINITY,
    })
    for (const key of trades.wide) connection.listen('trades', key)
    for (const number of trades.singles.keys()) connection.listen('trades', number)
    if (replayed.kind === 'lost') {
      for (const key of trades.wide)
        tellLost(connection, desk, { key, refs: [], fromMs: lag.sinceMs })
      const refs = [...trades.singles.values()]
      tellLost(connection, desk, { key: null, refs, fromMs: lag.sinceMs })
    }
  }
  for (const channel of STATE_CHANNELS) {
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const ref of singles.values()) {
      const view = desk.engine.catalog.find(ref.id)
      if (view !== null) connection.begin(channel, view)
      yield
    }
    for (const key of wide) {
      const row = new Row({ connection, channel, key, ids: idsOf(desk, key) })
      yield* fill(connection, desk, row, () => {})
    }
  }
  connection.resumeLive()
}

/** Names every state that is out of sync, in one turn; an interrupted row begins again. */
function resyncAll(connection: Connection, desk: Desk): void {
  const tell = (channel: ChannelName, ref: MarketRef): void =>
    connection.send(connection.encoder.resync(channel, ref, 'slow_consumer'))
  for (const channel of STATE_CHANNELS) {
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const ref of singles.values()) tell(channel, ref)
    for (const key of wide) {
      for (const view of desk.engine.catalog.markets(key === '*' ? null : key))
        tell(channel, view.ref)
    }
  }
  const { row } = connection
  if (row === null) return
  for (const ref of row.sent.values()) tell(row.channel, ref)
  row.restart()
  desk.openRow(row)
}
