// Catches up a lagging connection once its buffer has drained: first `resync` for every state, then the missed
// messages, then the states.

import type { MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { resyncMessage } from '../encode/encoder.ts'
import { type ChannelName, channelOfVariant } from '../fan-out/channel-variants.ts'
import { type Connection, skipsPerTick, type Task } from '../session/connection.ts'
import { fill, idsOf } from '../session/fill.ts'
import type { HubAccess } from '../session/hub-access.ts'
import { WildcardSubscription } from '../session/wildcard-subscription.ts'
import { type Audience, sendLostRange } from './losses.ts'
import type { ChannelLog, LostRange } from './message-log.ts'
import { replay } from './replay.ts'

/** The state of a connection when it began to lag. */
export interface Lag {
  readonly sinceMs: TimeMs
  /** Per channel with a log: messages up to this offset are in the socket's buffer. */
  readonly after: ReadonlyMap<ChannelName, number>
}

/** Catches up after a lag: `resync` of every state, the missed messages, then the states. */
export function* catchUp(connection: Connection, hub: HubAccess, lag: Lag): Task {
  yield* resyncAll(connection, hub)
  yield
  for (const channel of hub.variants.names) {
    const log = hub.logOf(channel)
    if (log !== null) yield* catchUpLog(connection, hub, log, lag)
  }
  for (const channel of stateChannels(hub)) {
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const { ref, variant } of singles.values()) {
      const view = hub.engine.catalog.find(ref.id)
      if (view !== null) connection.begin(variant, view, true)
      yield
    }
    for (const [key, variant] of wide) {
      const wildcard = new WildcardSubscription({
        connection,
        variant,
        key,
        ids: idsOf(hub, key),
        isResync: true,
      })
      yield* fill(connection, hub, wildcard, () => {})
    }
  }
  connection.resumeLive()
}

/** The channels whose subscriptions begin with a state. */
function stateChannels({ variants }: HubAccess): readonly ChannelName[] {
  return variants.names.filter((name) => variants.hasState(name))
}

/** Sends the missed messages of all subscriptions to a channel and makes them live in the same tick. */
function* catchUpLog(connection: Connection, hub: HubAccess, log: ChannelLog, lag: Lag): Task {
  const { channel, newest } = log.messages
  const subscriptions = connection.subscriptions.of(channel)
  if (subscriptions.count === 0) return
  const audience: Audience = {
    wide: [...subscriptions.wide.keys()],
    refs: Array.from(subscriptions.singles.values(), ({ ref }) => ref),
  }
  const from = log.messages.behind(lag.after.get(channel) ?? newest)
  if (from !== null) {
    // Sent at once, since each message advances the client's position.
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
 * Sends `resync` for every state, in one tick unless they are so many that others would wait; nothing live comes
 * between. Restarts an interrupted wildcard subscription.
 */
function* resyncAll(connection: Connection, hub: HubAccess): Task {
  let sentCount = 0
  for (const channel of stateChannels(hub)) {
    const { wide, singles } = connection.subscriptions.of(channel)
    const sendResync = (ref: MarketRef): void =>
      connection.reply(resyncMessage(channel, ref, 'slow_consumer'))
    for (const { ref } of singles.values()) sendResync(ref)
    for (const key of wide.keys()) {
      for (const view of hub.engine.catalog.markets(key === '*' ? null : key)) {
        sendResync(view.ref)
        sentCount += 1
        if (sentCount % skipsPerTick === 0) yield
      }
    }
  }
  const { wildcard } = connection
  if (wildcard === null) return
  const channel = channelOfVariant(wildcard.variant)
  for (const ref of wildcard.sent.values()) {
    connection.reply(resyncMessage(channel, ref, 'slow_consumer'))
    sentCount += 1
    if (sentCount % skipsPerTick === 0) yield
  }
  wildcard.restart()
  hub.openWildcard(wildcard)
}
