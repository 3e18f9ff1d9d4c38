// How a connection that lagged is made whole again, once its buffer has drained: first every state is
// named as out of sync, then come the messages it missed, then the states.

import type { MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import { type ChannelName, channelOfVariant } from '../fan-out/channel-variants.ts'
import { type Connection, skipsPerTick, type Task } from '../session/connection.ts'
import { fill, idsOf } from '../session/fill.ts'
import type { HubAccess } from '../session/hub-access.ts'
import { WildcardSubscription } from '../session/wildcard-subscription.ts'
import { type Audience, sendLostRange } from './losses.ts'
import type { ChannelLog, LostRange } from './message-log.ts'
import { replay } from './replay.ts'

/** What a lagging connection left behind. */
export interface Lag {
  readonly sinceMs: TimeMs
  /** Up to these offsets of channels with a log everything is in the socket's buffer. */
  readonly after: ReadonlyMap<ChannelName, number>
}

/** Makes up for a lag: `resync` of every state, the missed messages, then the states. */
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

/** The missed messages of all subscriptions to a channel, then live in the same turn. */
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
    // Told at once, since each message moves the client's position on.
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
 * Names every state that is out of sync, in one turn unless they are so many that others would wait
 * (nothing live comes between); an interrupted row begins again.
 */
function* resyncAll(connection: Connection, hub: HubAccess): Task {
  let sentCount = 0
  for (const channel of stateChannels(hub)) {
    const { wide, singles } = connection.subscriptions.of(channel)
    const sendResync = (ref: MarketRef): void =>
      connection.send(connection.encoder.resync(channel, ref, 'slow_consumer'))
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
    connection.send(connection.encoder.resync(channel, ref, 'slow_consumer'))
    sentCount += 1
    if (sentCount % skipsPerTick === 0) yield
  }
  wildcard.restart()
  hub.openWildcard(wildcard)
}
