// Catches up a lagging connection after its buffer has drained. Sends `resync` for every state, then the missed
// messages, then the states.

import type { MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { resyncMessage } from '../encode/encoder.ts'
import { type ChannelName, channelOfVariant } from '../fan-out/channel-variants.ts'
import { type Connection, type HubAccess, skipsPerTick, type Task } from '../session/connection.ts'
import { fill, idsOf } from '../session/fill.ts'
import { WildcardSubscription } from '../session/wildcard-subscription.ts'
import { sendLostRange } from './losses.ts'
import type { ChannelLog, LostRange } from './message-log.ts'
import { replay } from './replay.ts'

/** Recorded when a connection starts to lag. */
export interface Lag {
  readonly sinceMs: TimeMs
  /** By channel with a log. All messages up to the offset are in the socket's buffer. */
  readonly after: ReadonlyMap<ChannelName, number>
}

export function* catchUp(connection: Connection, hub: HubAccess, lag: Lag): Task {
  const { variants } = hub
  const stateChannels = variants.names.filter((name) => variants.hasState(name))
  yield* resyncAll(connection, hub, stateChannels)
  yield
  for (const channel of variants.names) {
    const { log } = hub.channelOf(channel)
    if (log !== undefined) yield* catchUpLog(connection, hub, log, lag)
  }
  for (const channel of stateChannels) {
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const { ref, variant } of singles.values()) {
      const view = hub.engine.catalog.find(ref.id)
      if (view !== null) {
        connection.sendState(variant, view, true)
        connection.subscribe(variant, ref.number)
      }
      yield
    }
    for (const [key, variant] of wide) {
      const parts = { connection, variant, key, ids: idsOf(hub, key), isResync: true }
      yield* fill(connection, hub, new WildcardSubscription(parts), () => {})
    }
  }
  connection.resumeLive()
}

/** Makes the subscriptions to the channel live in the tick of the last missed message. */
function* catchUpLog(connection: Connection, hub: HubAccess, log: ChannelLog, lag: Lag): Task {
  const { channel, newest } = log.messages
  const subscriptions = connection.subscriptions.of(channel)
  if (subscriptions.count === 0) return
  const audience = {
    wide: [...subscriptions.wide.keys()],
    refs: Array.from(subscriptions.singles.values(), ({ ref }) => ref),
  }
  const from = log.messages.behind(lag.after.get(channel) ?? newest)
  if (from !== null) {
    // Report the gap before the messages after it, since each message advances the client's position.
    const onLost = (range: LostRange) =>
      sendLostRange(connection, hub, { channel, audience, range })
    const countMax = Number.POSITIVE_INFINITY
    const variantOf = (market: MarketRef) => subscriptions.variantOf(market) ?? channel
    yield* replay(connection, hub, { log, from, audience, variantOf, onLost, countMax })
  }
  for (const [key, variant] of subscriptions.wide) connection.subscribe(variant, key)
  for (const [number, { variant }] of subscriptions.singles) connection.subscribe(variant, number)
  if (from !== null) return
  const range = { fromMs: lag.sinceMs, toMs: hub.clock.nowMs(), count: null }
  sendLostRange(connection, hub, { channel, audience, range })
}

/**
 * Sends `resync` for every state. Restarts an interrupted wildcard subscription. The connection has no live topics
 * meanwhile.
 */
function* resyncAll(
  connection: Connection,
  hub: HubAccess,
  stateChannels: readonly ChannelName[],
): Task {
  let sentCount = 0
  function* resync(channel: ChannelName, refs: Iterable<MarketRef>): Task {
    for (const ref of refs) {
      connection.reply(resyncMessage(channel, ref, 'slow_consumer'))
      sentCount += 1
      if (sentCount % skipsPerTick === 0) yield
    }
  }
  for (const channel of stateChannels) {
    const { wide, singles } = connection.subscriptions.of(channel)
    const { catalog } = hub.engine
    yield* resync(
      channel,
      Array.from(singles.values(), ({ ref }) => ref),
    )
    for (const key of wide.keys()) {
      yield* resync(
        channel,
        Array.from(catalog.markets(key === '*' ? null : key), ({ ref }) => ref),
      )
    }
  }
  const { wildcard } = connection
  if (wildcard === null) return
  yield* resync(channelOfVariant(wildcard.variant), [...wildcard.sent.values()])
  wildcard.restart()
  hub.fanOut.openWildcard(wildcard)
}
