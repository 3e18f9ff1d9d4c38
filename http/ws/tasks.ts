// What a command does, and how a connection that lagged is caught up: generators that yield between
// markets, so that a session can pause for its socket or for others. Between two yields everything
// is one synchronous turn; no await may ever come in here. Upholds WS1, WS2, RESUME1 to RESUME3.

import type { MarketView } from '../../actors/views.ts'
import type { MarketId } from '../../engine/ids.ts'
import { replayTradesMax, subscriptionsMax } from '../../engine/limits.ts'
import type { MarketRef } from '../../engine/market.ts'
import type { TimeMs } from '../../engine/units.ts'
import {
  CHANNEL_NAMES,
  CHANNELS,
  type ChannelName,
  STATE_CHANNELS,
  type WideKey,
} from './channels.ts'
import type { Desk } from './desk.ts'
import type { Command, CommandId, Since } from './protocol.ts'
import { type Resolved, resolve } from './resolve.ts'
import { Row } from './row.ts'
import type { Session } from './session.ts'

export type Task = Generator<void, void>

/** Markets looked at between two yields where most are skipped. */
const SKIPS_PER_TURN = 256

/** Carries out one command and answers it. */
export function* carryOut(session: Session, desk: Desk, command: Command): Task {
  switch (command.kind) {
    case 'subscribe':
      return yield* subscribe(session, desk, command)
    case 'unsubscribe':
      return unsubscribe(session, desk, command)
    case 'snapshot':
      return yield* snapshots(session, desk, command)
    case 'list':
      return yield* list(session, desk, command.id)
    case 'ping':
      return session.reply('pong', { id: command.id, timestamp_ms: desk.clock.nowMs() })
  }
}

function* subscribe(session: Session, desk: Desk, command: Command & { kind: 'subscribe' }): Task {
  const { id, since } = command
  const resolved = resolve(desk.engine.catalog, command.target)
  if (resolved.kind === 'refused') return session.refuse(id, 'INVALID_FILTER', resolved.message)
  for (const channel of command.channels) {
    if (!hasRoom(session, channel, resolved)) {
      const message = `at most ${subscriptionsMax} subscriptions on a connection`
      return session.refuse(id, 'SUBSCRIPTION_LIMIT', message)
    }
    session.reply('subscribed', { id, channel, ...accepted(desk, resolved) })
    if (channel === 'trades') {
      if (!(yield* subscribeTrades(session, desk, { id, since, resolved }))) continue
    } else if (resolved.kind === 'wide') {
      yield* subscribeWide(session, desk, { channel, key: resolved.key, since })
    } else yield* subscribeSingles(session, desk, { channel, refs: resolved.refs, since })
    synced(session, desk, id, channel)
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

function synced(session: Session, desk: Desk, id: CommandId, channel: ChannelName): void {
  const { epoch } = desk.publisher
  session.reply('synced', { id, channel, epoch, offset: desk.publisher.offset(channel) })
}

function hasRoom(session: Session, channel: ChannelName, resolved: Resolved): boolean {
  const subscriptions = session.subscriptions.of(channel)
  const fresh =
    resolved.kind === 'wide'
      ? Number(!subscriptions.covers(resolved.key))
      : resolved.refs.filter((ref) => !subscriptions.wants(ref)).length
  return fresh === 0 || session.subscriptions.count + fresh <= subscriptionsMax
}

/** States of single markets, each live from its own on. A repeat is passed over. */
function* subscribeSingles(
  session: Session,
  desk: Desk,
  wanted: { channel: ChannelName; refs: readonly MarketRef[]; since: Since | null },
): Task {
  const { channel, refs, since } = wanted
  const subscriptions = session.subscriptions.of(channel)
  for (const ref of refs) {
    if (since === null && subscriptions.wants(ref)) continue
    const view = desk.engine.catalog.find(ref.id)
    if (view === null) continue
    announce(session, desk, channel, view, since)
    if (subscriptions.covers(ref.venue)) session.sendState(channel, view)
    else {
      session.begin(channel, view)
      subscriptions.singles.set(ref.number, ref)
    }
    yield
  }
}

/** Our history does not reach back in this channel: the book is replaced, and says so. */
function announce(
  session: Session,
  desk: Desk,
  channel: ChannelName,
  view: MarketView,
  since: Since | null,
): void {
  if (since === null || channel !== 'orderbook') return
  const reason = since.epoch === desk.publisher.epoch ? 'slow_consumer' : 'restart'
  session.send(session.encoder.resync(channel, view.ref, reason))
}

/** States of a whole venue or everything, then one topic in place of them all. */
function* subscribeWide(
  session: Session,
  desk: Desk,
  wanted: { channel: ChannelName; key: WideKey; since: Since | null },
): Task {
  const { channel, key, since } = wanted
  const subscriptions = session.subscriptions.of(channel)
  const isExact = subscriptions.wide.has(key)
  if (subscriptions.covers(key) && !(isExact && since !== null)) return
  const taken = subscriptions.takeContained(key)
  for (const wide of taken.wide) session.ignore(channel, wide)
  for (const { number } of taken.singles) session.ignore(channel, number)
  const row = new Row({ session, channel, key, ids: idsOf(desk, key) })
  session.row = row
  yield* fill(session, desk, row, (view) => announce(session, desk, channel, view, since))
  session.row = null
  subscriptions.wide.add(key)
}

function idsOf(desk: Desk, key: WideKey): readonly MarketId[] {
  return Array.from(desk.engine.catalog.markets(key === '*' ? null : key), (view) => view.ref.id)
}

/** Sends a row's states; ends with its topic live, in the turn of the last of them. */
function* fill(session: Session, desk: Desk, row: Row, before: (view: MarketView) => void): Task {
  desk.openRow(row)
  for (let id = row.take(); id !== null; id = row.take()) {
    const view = desk.engine.catalog.find(id)
    // The hub may have sent it already: its book was replaced while the row was on its way.
    if (view === null || row.sent.has(view.ref.number)) continue
    before(view)
    session.sendState(row.channel, view)
    row.sent.set(view.ref.number, view.ref)
    yield
  }
  desk.closeRow(row)
  session.listen(row.channel, row.key)
}

/** Trades have no state: live at once, or after a replay. False: limited, and answered. */
function* subscribeTrades(
  session: Session,
  desk: Desk,
  wanted: { id: CommandId; since: Since | null; resolved: Resolved },
): Generator<void, boolean> {
  const { id, since, resolved } = wanted
  const trades = session.subscriptions.of('trades')
  const refs =
    resolved.kind === 'markets' ? resolved.refs.filter((ref) => !trades.covers(ref.venue)) : []
  const key =
    resolved.kind === 'wide' && !(trades.covers(resolved.key) && since === null)
      ? resolved.key
      : null
  const goLive = (): void => {
    if (key !== null && !trades.covers(key)) {
      session.listen('trades', key)
      trades.wide.add(key)
    }
    for (const ref of refs) {
      if (!trades.singles.has(ref.number)) session.listen('trades', ref.number)
      trades.singles.set(ref.number, ref)
    }
  }
  if (since === null) {
    if (key !== null) takeTrades(session, key)
    goLive()
    return true
  }
  // Out of the topics first, so that live trades cannot overtake the replayed ones.
  if (key !== null) takeTrades(session, key)
  for (const ref of refs) {
    if (trades.singles.delete(ref.number)) session.ignore('trades', ref.number)
  }
  const numbers = new Set(refs.map((ref) => ref.number))
  const wants = (ref: MarketRef): boolean =>
    key === null ? numbers.has(ref.number) : key === '*' || key === ref.venue
  const isOurs = since.epoch === desk.publisher.epoch && since.offset <= desk.trades.newest
  const after = isOurs ? since.offset : -1
  session.isReplaying = true
  const replayed = yield* replay(session, desk, { wants, after, countMax: replayTradesMax })
  session.isReplaying = false
  const { epoch } = desk.publisher
  if (replayed.kind === 'limited') {
    session.reply('resume_limited', { id, channel: 'trades', epoch, offset: replayed.offset })
    return false
  }
  goLive()
  if (replayed.kind === 'lost') {
    tellLost(session, desk, { key, refs, fromMs: null })
    return true
  }
  const { count } = replayed
  session.reply('resumed', {
    id,
    channel: 'trades',
    replayed: count,
    epoch,
    offset: desk.trades.newest,
  })
  return false
}

/** Leaves the topics of what a wide subscription of trades will contain. */
function takeTrades(session: Session, key: WideKey): void {
  const taken = session.subscriptions.of('trades').takeContained(key)
  for (const wide of taken.wide) session.ignore('trades', wide)
  for (const { number } of taken.singles) session.ignore('trades', number)
}

type Replayed =
  | { readonly kind: 'done'; readonly count: number }
  | { readonly kind: 'limited'; readonly offset: number }
  /** The history does not reach back. */
  | { readonly kind: 'lost' }

/** Sends the kept trades behind an offset; returns in the turn in which none is missing. */
function* replay(
  session: Session,
  desk: Desk,
  wanted: { wants: (ref: MarketRef) => boolean; after: number; countMax: number },
): Generator<void, Replayed> {
  let count = 0
  for (let offset = wanted.after + 1; offset <= desk.trades.newest; offset += 1) {
    const update = desk.trades.get(offset)
    if (update === null) return { kind: 'lost' }
    const isWanted = wanted.wants(update.market)
    if (isWanted && count >= wanted.countMax) return { kind: 'limited', offset: offset - 1 }
    if (isWanted) {
      session.send(session.encoder.trade(update))
      count += 1
    }
    if (isWanted || offset % SKIPS_PER_TURN === 0) yield
  }
  return wanted.after < 0 ? { kind: 'lost' } : { kind: 'done', count }
}

function tellLost(
  session: Session,
  desk: Desk,
  lost: { key: WideKey | null; refs: readonly MarketRef[]; fromMs: TimeMs | null },
): void {
  const { key, refs, fromMs } = lost
  const toMs = desk.clock.nowMs()
  const { names } = desk.engine.catalog
  const platforms = key === null ? [] : key === '*' ? [names.a, names.b] : [names.platform(key)]
  for (const platform of platforms) {
    session.send(session.encoder.gap({ channel: 'trades', where: { platform }, fromMs, toMs }))
  }
  for (const ref of refs) {
    const where = { marketId: ref.id }
    session.send(session.encoder.gap({ channel: 'trades', where, fromMs, toMs }))
  }
}

function unsubscribe(
  session: Session,
  desk: Desk,
  command: Command & { kind: 'unsubscribe' },
): void {
  const { id } = command
  const resolved = resolve(desk.engine.catalog, command.target)
  if (resolved.kind === 'refused') return session.refuse(id, 'INVALID_FILTER', resolved.message)
  for (const channel of command.channels) {
    const subscriptions = session.subscriptions.of(channel)
    const isWithin =
      resolved.kind === 'wide'
        ? subscriptions.covers(resolved.key) && !subscriptions.wide.has(resolved.key)
        : resolved.refs.some((ref) => subscriptions.covers(ref.venue))
    if (isWithin) {
      const message = 'a market cannot be taken out of a whole venue or *'
      return session.refuse(id, 'INVALID_FILTER', message)
    }
    if (resolved.kind === 'wide') {
      const taken = subscriptions.takeContained(resolved.key)
      for (const wide of taken.wide) session.ignore(channel, wide)
      for (const { number } of taken.singles) session.ignore(channel, number)
    } else {
      for (const { number } of resolved.refs) {
        if (subscriptions.singles.delete(number)) session.ignore(channel, number)
      }
    }
    session.reply('unsubscribed', { id, channel, ...accepted(desk, resolved) })
  }
}

/** Fresh books at any time, subscribed or not. */
function* snapshots(session: Session, desk: Desk, command: Command & { kind: 'snapshot' }): Task {
  const unknown: string[] = []
  for (const id of command.marketIds) {
    const view = desk.engine.catalog.find(id)
    if (view === null) {
      unknown.push(id)
      continue
    }
    session.sendState('orderbook', view)
    yield
  }
  if (unknown.length > 0) {
    session.refuse(command.id, 'UNKNOWN_MARKET', `no such market: ${unknown.join(', ')}`)
  } else synced(session, desk, command.id, 'orderbook')
}

/** Every subscription with the newest seq of each of its markets. */
function* list(session: Session, desk: Desk, id: CommandId): Task {
  const subscriptions: Record<string, unknown>[] = []
  for (const channel of CHANNEL_NAMES) {
    const { wide, singles } = session.subscriptions.of(channel)
    for (const key of wide) {
      const seqs: Record<string, number> = {}
      let count = 0
      for (const marketId of idsOf(desk, key)) {
        const view = desk.engine.catalog.find(marketId)
        const seq = view === null ? 0 : session.seqOf(channel, view.ref)
        if (seq > 0) seqs[marketId] = seq
        count += 1
        if (count % SKIPS_PER_TURN === 0) yield
      }
      const named =
        key === '*' ? { market_ids: ['*'] } : { platform: desk.engine.catalog.names.platform(key) }
      subscriptions.push({ channel, ...named, seqs })
    }
    for (const ref of singles.values()) {
      subscriptions.push({ channel, market_id: ref.id, seq: session.seqOf(channel, ref) })
    }
  }
  session.reply('subscriptions', { id, subscriptions })
}

/** What a lagging connection left behind. */
export interface Lag {
  readonly sinceMs: TimeMs
  readonly tradesAfter: number
}

/** Makes up for a lag: `resync` of every state at once, the missed trades, then the states. */
export function* catchUp(session: Session, desk: Desk, lag: Lag): Task {
  resyncAll(session, desk)
  yield
  const trades = session.subscriptions.of('trades')
  if (trades.count > 0) {
    const wants = (ref: MarketRef): boolean => trades.wants(ref)
    const after = lag.tradesAfter
    const replayed = yield* replay(session, desk, {
      wants,
      after,
      countMax: Number.POSITIVE_INFINITY,
    })
    for (const key of trades.wide) session.listen('trades', key)
    for (const number of trades.singles.keys()) session.listen('trades', number)
    if (replayed.kind === 'lost') {
      for (const key of trades.wide) tellLost(session, desk, { key, refs: [], fromMs: lag.sinceMs })
      const refs = [...trades.singles.values()]
      tellLost(session, desk, { key: null, refs, fromMs: lag.sinceMs })
    }
  }
  for (const channel of STATE_CHANNELS) {
    const { wide, singles } = session.subscriptions.of(channel)
    for (const ref of singles.values()) {
      const view = desk.engine.catalog.find(ref.id)
      if (view !== null) session.begin(channel, view)
      yield
    }
    for (const key of wide) {
      const row = new Row({ session, channel, key, ids: idsOf(desk, key) })
      yield* fill(session, desk, row, () => {})
    }
  }
  session.resumeLive()
}

/** Names every state that is out of sync, in one turn; an interrupted row begins again. */
function resyncAll(session: Session, desk: Desk): void {
  const tell = (channel: ChannelName, ref: MarketRef): void =>
    session.send(session.encoder.resync(channel, ref, 'slow_consumer'))
  for (const channel of STATE_CHANNELS) {
    if (!CHANNELS[channel].hasState) continue
    const { wide, singles } = session.subscriptions.of(channel)
    for (const ref of singles.values()) tell(channel, ref)
    for (const key of wide) {
      for (const view of desk.engine.catalog.markets(key === '*' ? null : key))
        tell(channel, view.ref)
    }
  }
  const { row } = session
  if (row === null) return
  for (const ref of row.sent.values()) tell(row.channel, ref)
  row.restart()
  desk.openRow(row)
}
