// Subscribes to channels with states. A single market becomes live with its own state. A wildcard subscription sends
// all states and then uses one topic.

import type { MarketView } from '../../../actors/views.ts'
import type { MarketId } from '../../../engine/ids.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { type ChannelVariant, channelOfVariant, type WideKey } from '../fan-out/channel-variants.ts'
import type { Connection, HubAccess, Task } from './connection.ts'
import { WildcardSubscription } from './wildcard-subscription.ts'

/** Called before each state is sent. Null: skip markets that are already subscribed. */
type Before = ((view: MarketView) => void) | null

/** Each market becomes live with its state. Markets in a wide subscription stay in it. */
export function* subscribeSingles(
  connection: Connection,
  hub: HubAccess,
  wanted: { variant: ChannelVariant; refs: readonly MarketRef[]; before: Before },
): Task {
  const { variant, refs, before } = wanted
  const subscriptions = connection.subscriptions.ofVariant(variant)
  for (const ref of refs) {
    const current = subscriptions.variantOf(ref)
    if (before === null && current === variant) continue
    yield* arrival(connection, hub, { variant, id: ref.id })
    const view = hub.engine.catalog.find(ref.id)
    if (view === null) continue
    before?.(view)
    const isPart = subscriptions.covers(ref.venue)
    if (!isPart && current !== null && current !== variant) {
      connection.unsubscribe(current, ref.number)
    }
    connection.sendState(variant, view)
    if (!isPart) {
      connection.subscribe(variant, ref.number)
      subscriptions.add(ref, variant)
    }
    yield
  }
}

/** Sends the states of a venue or of all markets. Then replaces the topics of single markets by one topic. */
export function* subscribeWide(
  connection: Connection,
  hub: HubAccess,
  wanted: { variant: ChannelVariant; key: WideKey; before: Before },
): Task {
  const { variant, key, before } = wanted
  const subscriptions = connection.subscriptions.ofVariant(variant)
  const isRepeat = subscriptions.wide.has(key) && before !== null
  if (subscriptions.wideVariant(key) === variant && !isRepeat) return
  connection.leave(channelOfVariant(variant), { key, refs: [] })
  const wildcard = new WildcardSubscription({ connection, variant, key, ids: idsOf(hub, key) })
  connection.wildcard = wildcard
  yield* fill(connection, hub, wildcard, before ?? (() => {}))
  connection.wildcard = null
  subscriptions.wide.set(key, variant)
}

function* arrival(
  connection: Connection,
  hub: HubAccess,
  { variant, id }: { readonly variant: ChannelVariant; readonly id: MarketId },
): Task {
  for (;;) {
    const view = hub.engine.catalog.find(id)
    const pending = view === null ? null : (hub.channelOf(variant).arrival?.(view) ?? null)
    if (pending === null) return
    connection.waitFor(pending)
    yield
  }
}

export function idsOf(hub: HubAccess, key: WideKey): readonly MarketId[] {
  return Array.from(hub.engine.catalog.markets(key === '*' ? null : key), (view) => view.ref.id)
}

/** Sends the states of a wildcard subscription. Its topic becomes live in the tick of the last state. */
export function* fill(
  connection: Connection,
  hub: HubAccess,
  wildcard: WildcardSubscription,
  before: (view: MarketView) => void,
): Task {
  hub.fanOut.openWildcard(wildcard)
  for (let id = wildcard.take(); id !== null; id = wildcard.take()) {
    yield* arrival(connection, hub, { variant: wildcard.variant, id })
    const view = hub.engine.catalog.find(id)
    // If the book was replaced during the loop, the hub has already sent this state.
    if (view === null || wildcard.sent.has(view.ref.number)) continue
    before(view)
    connection.sendState(wildcard.variant, view, wildcard.isResync)
    wildcard.sent.set(view.ref.number, view.ref)
    yield
  }
  hub.fanOut.closeWildcard(wildcard)
  connection.subscribe(wildcard.variant, wildcard.key)
}
