// Tasks of commands: generators that yield between markets, so that a connection can wait for its socket and let other
// connections run. Never add an await between two yields here or in fill.ts, replay.ts and book-resume.ts.

import type { CatalogView } from '../../../actors/views.ts'
import { subscriptionsMax } from '../../../engine/limits.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import { coverBooks } from '../../records/books.ts'
import { listOf } from '../../request/find-market.ts'
import { ORDERBOOK } from '../channels/orderbook.ts'
import type { Command, CommandId, Since, Target } from '../command.ts'
import { type ChannelVariant, channelOfVariant } from '../fan-out/channel-variants.ts'
import { resumeBooks } from '../resume/book-resume.ts'
import { subscribeLogged } from '../resume/replay.ts'
import { type Connection, type HubAccess, skipsPerTick, type Task } from './connection.ts'
import { idsOf, subscribeSingles, subscribeWide } from './fill.ts'
import type { Subscribed } from './subscriptions.ts'

/** For calls that need only a channel's offset. Market numbers begin at 1. */
const NO_MARKET = 0

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
      return connection.reply({
        type: 'pong',
        id: command.id,
        timestamp_ms: hub.clock.nowMs(),
      })
    case 'pause':
    case 'resume':
    case 'seek': {
      const message = `${command.kind} is a command of replays: connect with replay_from`
      return connection.refuse(command.id, 'UNKNOWN_ACTION', message)
    }
  }
}

function* subscribe(
  connection: Connection,
  hub: HubAccess,
  command: Command & { kind: 'subscribe' },
): Task {
  const { id, since } = command
  const target = resolve(hub.engine.catalog, command.target)
  if ('refused' in target) return connection.refuse(id, 'INVALID_FILTER', target.refused)
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
    if (yield* begin(connection, hub, { id, variant, since, subscribed: resolved })) {
      synced(connection, hub, id, variant)
    }
  }
}

export interface Resolved extends Subscribed {
  readonly rejected: readonly Readonly<Record<string, string>>[]
}

/** The distinct markets of a target in request order. Unknown markets and events are rejected one by one. */
export function resolve(
  catalog: CatalogView,
  target: Target,
): Resolved | { readonly refused: string } {
  if (target.kind === 'all') return { key: '*', refs: [], rejected: [] }
  if (target.kind === 'venue') {
    const key = catalog.names.venue(target.platform)
    return key === null
      ? { refused: `platform is ${catalog.names.platforms.join(' or ')}` }
      : { key, refs: [], rejected: [] }
  }
  const refs = new Map<number, MarketRef>()
  const rejected: Record<string, string>[] = []
  for (const id of target.marketIds) {
    const view = catalog.find(id)
    if (view === null) rejected.push({ market_id: id, code: 'UNKNOWN_MARKET' })
    else refs.set(view.ref.number, view.ref)
  }
  for (const slug of target.eventSlugs) {
    // A slug is an event id of a venue, and several venues may have an event with this id.
    const found = catalog.names.keys.flatMap((venue) => catalog.marketsOfEvent(venue, slug))
    if (found.length === 0) rejected.push({ event_slug: slug, code: 'UNKNOWN_MARKET' })
    for (const { ref } of found) refs.set(ref.number, ref)
  }
  return { key: null, refs: [...refs.values()], rejected }
}

/** Moves markets about which the channel never sends messages to the rejected markets. */
function supportedMarkets(hub: HubAccess, variant: ChannelVariant, resolved: Resolved): Resolved {
  const rejected = [...resolved.rejected]
  const channel = hub.channelOf(variant)
  const refs = resolved.refs.filter((ref) => {
    const message = channel.unsupportedReason?.(ref) ?? null
    if (message !== null) rejected.push({ market_id: ref.id, code: 'NEVER_TOLD', message })
    return message === null
  })
  return { key: resolved.key, refs, rejected }
}

/** Sends the start of a subscription. Returns true if the caller must send `synced`. */
function* begin(
  connection: Connection,
  hub: HubAccess,
  wanted: { id: CommandId; variant: ChannelVariant; since: Since | null; subscribed: Subscribed },
): Generator<void, boolean> {
  const { variant, since, subscribed } = wanted
  const { log, books } = hub.channelOf(variant)
  if (log !== undefined) return yield* subscribeLogged(connection, hub, { ...wanted, log })
  if (books !== undefined && since !== null) {
    return yield* resumeBooks(connection, hub, { ...wanted, since, books })
  }
  // A reconnecting client needs every current state, even of markets that are already subscribed.
  const before = since === null ? null : () => {}
  const { key, refs } = subscribed
  if (key !== null) yield* subscribeWide(connection, hub, { variant, key, before })
  else yield* subscribeSingles(connection, hub, { variant, refs, before })
  return true
}

/** True if a wide subscription with other options contains a requested market or key. */
function isOtherVariant(
  connection: Connection,
  variant: ChannelVariant,
  { key, refs }: Subscribed,
): boolean {
  const subscriptions = connection.subscriptions.ofVariant(variant)
  if (key !== null && subscriptions.wide.has(key)) return false
  const keys = key === null ? refs.map(({ venue }) => venue) : [key]
  return keys.some((wide) => (subscriptions.wideVariant(wide) ?? variant) !== variant)
}

export function accepted(
  { engine: { catalog } }: Pick<HubAccess, 'engine'>,
  { key, refs, rejected }: Resolved,
): Record<string, unknown> {
  if (key === null) return { accepted: refs.map((ref) => ref.id), rejected }
  if (key === '*') return { accepted: ['*'], rejected }
  const platform = catalog.names.platform(key)
  return { platform, accepted: [platform], rejected }
}

function synced(
  connection: Connection,
  hub: HubAccess,
  id: CommandId,
  variant: ChannelVariant,
): void {
  const { epoch } = hub.publisher
  const { offset } = hub.channelOf(variant).latest(variant, NO_MARKET)
  connection.reply({ type: 'synced', id, channel: channelOfVariant(variant), epoch, offset })
}

export function isWithinLimit(
  connection: Pick<Connection, 'subscriptions'>,
  variant: ChannelVariant,
  { key, refs }: Subscribed,
): boolean {
  const subscriptions = connection.subscriptions.ofVariant(variant)
  const fresh =
    key === null
      ? refs.filter((ref) => subscriptions.variantOf(ref) === null).length
      : Number(!subscriptions.covers(key))
  return fresh === 0 || connection.subscriptions.count + fresh <= subscriptionsMax
}

function unsubscribe(
  connection: Connection,
  hub: HubAccess,
  command: Command & { kind: 'unsubscribe' },
): void {
  const { id } = command
  const resolved = resolve(hub.engine.catalog, command.target)
  if ('refused' in resolved) return connection.refuse(id, 'INVALID_FILTER', resolved.refused)
  for (const channel of command.channels) {
    if (connection.subscriptions.of(channel).isPart(resolved)) {
      const message = 'a market cannot be taken out of a whole venue or *'
      return connection.refuse(id, 'INVALID_FILTER', message)
    }
    connection.leave(channel, resolved)
    connection.reply({ type: 'unsubscribed', id, channel, ...accepted(hub, resolved) })
  }
}

/** Sends current books, whether subscribed or not. Covers their markets and waits for newly covered books. */
function* snapshots(
  connection: Connection,
  hub: HubAccess,
  command: Command & { kind: 'snapshot' },
): Task {
  const unknownIds: string[] = []
  const views = command.marketIds.flatMap((id) => listOf(hub.engine.catalog.find(id)))
  const covering = coverBooks(hub.engine, views, connection.caller.accountId)
  if (covering !== null) {
    connection.waitFor(covering)
    yield
  }
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

function* list(connection: Connection, hub: HubAccess, id: CommandId): Task {
  const subscriptions: Record<string, unknown>[] = []
  const { catalog } = hub.engine
  for (const channel of hub.variants.names) {
    const open = hub.channelOf(channel)
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const [key, variant] of wide) {
      const seqs: Record<string, number> = {}
      let count = 0
      for (const marketId of idsOf(hub, key)) {
        const view = catalog.find(marketId)
        const seq = view === null ? 0 : open.latest(variant, view.ref.number).seq
        if (seq > 0) seqs[marketId] = seq
        count += 1
        if (count % skipsPerTick === 0) yield
      }
      const named = key === '*' ? { market_ids: ['*'] } : { platform: catalog.names.platform(key) }
      subscriptions.push({ channel, ...hub.variants.optionsOf(variant), ...named, seqs })
    }
    for (const { ref, variant } of singles.values()) {
      const { seq } = open.latest(variant, ref.number)
      subscriptions.push({ channel, ...hub.variants.optionsOf(variant), market_id: ref.id, seq })
    }
  }
  connection.reply({ type: 'subscriptions', id, subscriptions })
}
