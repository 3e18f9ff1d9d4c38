// Tasks of commands: generators that yield between markets, so that a connection can wait for its socket or for others.
// Between two yields everything is synchronous: never add an await here or in the files below.

import { subscriptionsMax } from '../../../engine/limits.ts'
import { ORDERBOOK } from '../channels/orderbook.ts'
import type { Command, CommandId, Since } from '../command.ts'
import { type ChannelVariant, channelOfVariant } from '../fan-out/channel-variants.ts'
import { subscribeLogged } from '../resume/replay.ts'
import { type Connection, skipsPerTick, type Task } from './connection.ts'
import { idsOf, subscribeSingles, subscribeWide } from './fill.ts'
import type { HubAccess } from './hub-access.ts'
import { type Resolved, resolve } from './resolve.ts'

/** Placeholder where only a channel's offset is needed: market numbers begin at 1. */
const NO_MARKET = 0

/** Runs one command and answers it. */
export function* carryOut(connection: Connection, hub: HubAccess, command: Command): Task {
  switch (command.kind) {
    case 'subscribe':
      return yield* subscribe(connection, hub, command)
    case 'unsubscribe':
      return unsubscribe(connection, hub, command)
    case 'snapshot':
      return yield* snapshots(connection, hub, command)
    case 'list':
      return yield* list(connection, hub, command.id)
    case 'ping':
      return connection.reply({ type: 'pong', id: command.id, timestamp_ms: hub.clock.nowMs() })
  }
}

function* subscribe(
  connection: Connection,
  hub: HubAccess,
  command: Command & { kind: 'subscribe' },
): Task {
  const { id, since } = command
  const target = resolve(hub.engine.catalog, command.target)
  if (target.kind === 'refused') return connection.refuse(id, 'INVALID_FILTER', target.message)
  for (const variant of command.variants) {
    const resolved = supportedMarkets(hub, variant, target)
    if (isOtherVariant(connection, variant, resolved)) {
      const message = 'a market within a whole venue or * has the options of that subscription'
      return connection.refuse(id, 'INVALID_FILTER', message)
    }
    if (!isWithinLimit(connection, variant, resolved)) {
      const message = `at most ${subscriptionsMax} subscriptions on a connection`
      return connection.refuse(id, 'SUBSCRIPTION_LIMIT', message)
    }
    const channel = channelOfVariant(variant)
    const options = hub.variants.optionsOf(variant)
    connection.reply({ type: 'subscribed', id, channel, ...options, ...accepted(hub, resolved) })
    if (yield* begin(connection, hub, { id, variant, since, resolved })) {
      synced(connection, hub, id, variant)
    }
  }
}

/** Removes markets about which the channel never sends anything: these are rejected by name. */
function supportedMarkets(hub: HubAccess, variant: ChannelVariant, resolved: Resolved): Resolved {
  if (resolved.kind === 'wide') return resolved
  const rejected = [...resolved.rejected]
  const refs = resolved.refs.filter((ref) => {
    const message = hub.unsupportedReason(channelOfVariant(variant), ref)
    if (message !== null) rejected.push({ market_id: ref.id, code: 'NEVER_TOLD', message })
    return message === null
  })
  return { kind: 'markets', refs, rejected }
}

/** Sends the start of a subscription. True: `synced` must follow. */
function* begin(
  connection: Connection,
  hub: HubAccess,
  wanted: { id: CommandId; variant: ChannelVariant; since: Since | null; resolved: Resolved },
): Generator<void, boolean> {
  const { variant, since, resolved } = wanted
  const channel = channelOfVariant(variant)
  const log = hub.logOf(channel)
  if (log !== null) return yield* subscribeLogged(connection, hub, { ...wanted, log })
  const resume = hub.resumeOf(channel)
  if (resume !== null && since !== null) {
    return yield* resume(connection, hub, { ...wanted, since })
  }
  // A reconnecting client gets every current state, even if it looks like a duplicate subscription.
  const before = since === null ? null : () => {}
  if (resolved.kind === 'wide') {
    yield* subscribeWide(connection, hub, { variant, key: resolved.key, before })
  } else yield* subscribeSingles(connection, hub, { variant, refs: resolved.refs, before })
  return true
}

/** Whether a wide subscription with other options contains any of it. */
function isOtherVariant(
  connection: Connection,
  variant: ChannelVariant,
  resolved: Resolved,
): boolean {
  const subscriptions = connection.subscriptions.ofVariant(variant)
  if (resolved.kind === 'wide') {
    const { key } = resolved
    return !subscriptions.wide.has(key) && (subscriptions.wideVariant(key) ?? variant) !== variant
  }
  return resolved.refs.some((ref) => (subscriptions.wideVariant(ref.venue) ?? variant) !== variant)
}

function accepted(hub: HubAccess, resolved: Resolved): Record<string, unknown> {
  if (resolved.kind === 'markets') {
    return { accepted: resolved.refs.map((ref) => ref.id), rejected: resolved.rejected }
  }
  if (resolved.key === '*') return { accepted: ['*'], rejected: [] }
  const platform = hub.engine.catalog.names.platform(resolved.key)
  return { platform, accepted: [platform], rejected: [] }
}

function synced(
  connection: Connection,
  hub: HubAccess,
  id: CommandId,
  variant: ChannelVariant,
): void {
  const { epoch } = hub.publisher
  const { offset } = hub.latest(variant, NO_MARKET)
  connection.reply({ type: 'synced', id, channel: channelOfVariant(variant), epoch, offset })
}

function isWithinLimit(
  connection: Connection,
  variant: ChannelVariant,
  resolved: Resolved,
): boolean {
  const subscriptions = connection.subscriptions.ofVariant(variant)
  const fresh =
    resolved.kind === 'wide'
      ? Number(!subscriptions.covers(resolved.key))
      : resolved.refs.filter((ref) => !subscriptions.wants(ref)).length
  return fresh === 0 || connection.subscriptions.count + fresh <= subscriptionsMax
}

function unsubscribe(
  connection: Connection,
  hub: HubAccess,
  command: Command & { kind: 'unsubscribe' },
): void {
  const { id } = command
  const resolved = resolve(hub.engine.catalog, command.target)
  if (resolved.kind === 'refused') return connection.refuse(id, 'INVALID_FILTER', resolved.message)
  for (const channel of command.channels) {
    const subscriptions = connection.subscriptions.of(channel)
    const isWithin =
      resolved.kind === 'wide'
        ? subscriptions.covers(resolved.key) && !subscriptions.wide.has(resolved.key)
        : resolved.refs.some((ref) => subscriptions.covers(ref.venue))
    if (isWithin) {
      const message = 'a market cannot be taken out of a whole venue or *'
      return connection.refuse(id, 'INVALID_FILTER', message)
    }
    if (resolved.kind === 'wide') {
      const taken = subscriptions.takeContained(resolved.key)
      for (const { variant, key } of taken) connection.unsubscribe(variant, key)
    } else {
      for (const { number } of resolved.refs) {
        const single = subscriptions.singles.get(number)
        if (single === undefined) continue
        subscriptions.singles.delete(number)
        connection.unsubscribe(single.variant, number)
      }
    }
    connection.reply({ type: 'unsubscribed', id, channel, ...accepted(hub, resolved) })
  }
}

/** Fresh books at any time, subscribed or not. */
function* snapshots(
  connection: Connection,
  hub: HubAccess,
  command: Command & { kind: 'snapshot' },
): Task {
  const unknownIds: string[] = []
  for (const id of command.marketIds) {
    const view = hub.engine.catalog.find(id)
    if (view === null) {
      unknownIds.push(id)
      continue
    }
    connection.sendState(ORDERBOOK, view)
    yield
  }
  if (unknownIds.length > 0) {
    connection.refuse(command.id, 'UNKNOWN_MARKET', `no such market: ${unknownIds.join(', ')}`)
  } else synced(connection, hub, command.id, ORDERBOOK)
}

/** Every subscription, with the newest seq of each of its markets. */
function* list(connection: Connection, hub: HubAccess, id: CommandId): Task {
  const subscriptions: Record<string, unknown>[] = []
  for (const channel of hub.variants.names) {
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const [key, variant] of wide) {
      const seqs: Record<string, number> = {}
      let count = 0
      for (const marketId of idsOf(hub, key)) {
        const view = hub.engine.catalog.find(marketId)
        const seq = view === null ? 0 : hub.latest(variant, view.ref.number).seq
        if (seq > 0) seqs[marketId] = seq
        count += 1
        if (count % skipsPerTick === 0) yield
      }
      const named =
        key === '*' ? { market_ids: ['*'] } : { platform: hub.engine.catalog.names.platform(key) }
      subscriptions.push({ channel, ...hub.variants.optionsOf(variant), ...named, seqs })
    }
    for (const { ref, variant } of singles.values()) {
      const { seq } = hub.latest(variant, ref.number)
      subscriptions.push({ channel, ...hub.variants.optionsOf(variant), market_id: ref.id, seq })
    }
  }
  connection.reply({ type: 'subscriptions', id, subscriptions })
}
