// What a command does: generators that pause between markets, so that a connection can wait for its
// socket or for others. Between two pauses everything is one synchronous turn: no await may ever
// come in here or in the files below. Upholds WS1, WS2, SUB1, SUB2 and SUB4.

import { subscriptionsMax } from '../../engine/limits.ts'
import { CHANNEL_NAMES, type ChannelName } from './channels.ts'
import { type Connection, skipsPerTurn, type Task } from './connection.ts'
import type { Desk } from './desk.ts'
import { idsOf, subscribeSingles, subscribeWide } from './fill.ts'
import type { Command, CommandId } from './protocol.ts'
import { subscribeTrades } from './replay.ts'
import { type Resolved, resolve } from './resolve.ts'

/** Carries out one command and answers it. */
export function* carryOut(connection: Connection, desk: Desk, command: Command): Task {
  switch (command.kind) {
    case 'subscribe':
      return yield* subscribe(connection, desk, command)
    case 'unsubscribe':
      return unsubscribe(connection, desk, command)
    case 'snapshot':
      return yield* snapshots(connection, desk, command)
    case 'list':
      return yield* list(connection, desk, command.id)
    case 'ping':
      return connection.reply('pong', { id: command.id, timestamp_ms: desk.clock.nowMs() })
  }
}

function* subscribe(
  connection: Connection,
  desk: Desk,
  command: Command & { kind: 'subscribe' },
): Task {
  const { id, since } = command
  const resolved = resolve(desk.engine.catalog, command.target)
  if (resolved.kind === 'refused') return connection.refuse(id, 'INVALID_FILTER', resolved.message)
  for (const channel of command.channels) {
    if (!hasRoom(connection, channel, resolved)) {
      const message = `at most ${subscriptionsMax} subscriptions on a connection`
      return connection.refuse(id, 'SUBSCRIPTION_LIMIT', message)
    }
    connection.reply('subscribed', { id, channel, ...accepted(desk, resolved) })
    if (channel === 'trades') {
      if (!(yield* subscribeTrades(connection, desk, { id, since, resolved }))) continue
    } else if (resolved.kind === 'wide') {
      yield* subscribeWide(connection, desk, { channel, key: resolved.key, since })
    } else yield* subscribeSingles(connection, desk, { channel, refs: resolved.refs, since })
    synced(connection, desk, id, channel)
  }
}

function accepted(desk: Desk, resolved: Resolved): Record<string, unknown> {
  if (resolved.kind === 'markets') {
    return { accepted: resolved.refs.map((ref) => ref.id), rejected: resolved.rejected }
  }
  if (resolved.key === '*') return { accepted: ['*'], rejected: [] }
  const platform = desk.engine.catalog.names.platform(resolved.key)
  return { platform, accepted: [platform], rejected: [] }
}

function synced(connection: Connection, desk: Desk, id: CommandId, channel: ChannelName): void {
  const { epoch } = desk.publisher
  connection.reply('synced', { id, channel, epoch, offset: desk.publisher.offset(channel) })
}

function hasRoom(connection: Connection, channel: ChannelName, resolved: Resolved): boolean {
  const subscriptions = connection.subscriptions.of(channel)
  const fresh =
    resolved.kind === 'wide'
      ? Number(!subscriptions.covers(resolved.key))
      : resolved.refs.filter((ref) => !subscriptions.wants(ref)).length
  return fresh === 0 || connection.subscriptions.count + fresh <= subscriptionsMax
}

function unsubscribe(
  connection: Connection,
  desk: Desk,
  command: Command & { kind: 'unsubscribe' },
): void {
  const { id } = command
  const resolved = resolve(desk.engine.catalog, command.target)
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
      for (const wide of taken.wide) connection.ignore(channel, wide)
      for (const { number } of taken.singles) connection.ignore(channel, number)
    } else {
      for (const { number } of resolved.refs) {
        if (subscriptions.singles.delete(number)) connection.ignore(channel, number)
      }
    }
    connection.reply('unsubscribed', { id, channel, ...accepted(desk, resolved) })
  }
}

/** Fresh books at any time, subscribed or not. */
function* snapshots(
  connection: Connection,
  desk: Desk,
  command: Command & { kind: 'snapshot' },
): Task {
  const unknown: string[] = []
  for (const id of command.marketIds) {
    const view = desk.engine.catalog.find(id)
    if (view === null) {
      unknown.push(id)
      continue
    }
    connection.sendState('orderbook', view)
    yield
  }
  if (unknown.length > 0) {
    connection.refuse(command.id, 'UNKNOWN_MARKET', `no such market: ${unknown.join(', ')}`)
  } else synced(connection, desk, command.id, 'orderbook')
}

/** Every subscription with the newest seq of each of its markets. */
function* list(connection: Connection, desk: Desk, id: CommandId): Task {
  const subscriptions: Record<string, unknown>[] = []
  for (const channel of CHANNEL_NAMES) {
    const { wide, singles } = connection.subscriptions.of(channel)
    for (const key of wide) {
      const seqs: Record<string, number> = {}
      let count = 0
      for (const marketId of idsOf(desk, key)) {
        const view = desk.engine.catalog.find(marketId)
        const seq = view === null ? 0 : connection.seqOf(channel, view.ref)
        if (seq > 0) seqs[marketId] = seq
        count += 1
        if (count % skipsPerTurn === 0) yield
      }
      const named =
        key === '*' ? { market_ids: ['*'] } : { platform: desk.engine.catalog.names.platform(key) }
      subscriptions.push({ channel, ...named, seqs })
    }
    for (const ref of singles.values()) {
      subscriptions.push({ channel, market_id: ref.id, seq: connection.seqOf(channel, ref) })
    }
  }
  connection.reply('subscriptions', { id, subscriptions })
}
