// Subscriptions to trades, which have no state but a history: live at once, or after the trades that
// a client missed. Upholds RESUME2 and RESUME3.

import { replayTradesMax } from '../../engine/limits.ts'
import type { MarketRef } from '../../engine/market.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { WideKey } from './channels.ts'
import { type Connection, skipsPerTurn } from './connection.ts'
import type { Desk } from './desk.ts'
import type { CommandId, Since } from './protocol.ts'
import type { Resolved } from './resolve.ts'

/** Trades have no state: live at once, or after a replay. False: limited, and answered. */
export function* subscribeTrades(
  connection: Connection,
  desk: Desk,
  wanted: { id: CommandId; since: Since | null; resolved: Resolved },
): Generator<void, boolean> {
  const { id, since, resolved } = wanted
  const trades = connection.subscriptions.of('trades')
  const refs =
    resolved.kind === 'markets' ? resolved.refs.filter((ref) => !trades.covers(ref.venue)) : []
  const key =
    resolved.kind === 'wide' && !(trades.covers(resolved.key) && since === null)
      ? resolved.key
      : null
  const goLive = (): void => {
    if (key !== null && !trades.covers(key)) {
      connection.listen('trades', key)
      trades.wide.add(key)
    }
    for (const ref of refs) {
      if (!trades.singles.has(ref.number)) connection.listen('trades', ref.number)
      trades.singles.set(ref.number, ref)
    }
  }
  if (since === null) {
    if (key !== null) takeTrades(connection, key)
    goLive()
    return true
  }
  // Out of the topics first, so that live trades cannot overtake the replayed ones.
  if (key !== null) takeTrades(connection, key)
  for (const ref of refs) {
    if (trades.singles.delete(ref.number)) connection.ignore('trades', ref.number)
  }
  const numbers = new Set(refs.map((ref) => ref.number))
  const wants = (ref: MarketRef): boolean =>
    key === null ? numbers.has(ref.number) : key === '*' || key === ref.venue
  const isOurs = since.epoch === desk.publisher.epoch && since.offset <= desk.trades.newest
  const after = isOurs ? since.offset : -1
  connection.isReplaying = true
  const replayed = yield* replay(connection, desk, { wants, after, countMax: replayTradesMax })
  connection.isReplaying = false
  const { epoch } = desk.publisher
  if (replayed.kind === 'limited') {
    connection.reply('resume_limited', { id, channel: 'trades', epoch, offset: replayed.offset })
    return false
  }
  goLive()
  if (replayed.kind === 'lost') {
    tellLost(connection, desk, { key, refs, fromMs: null })
    return true
  }
  const { count } = replayed
  connection.reply('resumed', {
    id,
    channel: 'trades',
    replayed: count,
    epoch,
    offset: desk.trades.newest,
  })
  return false
}

/** Leaves the topics of what a wide subscription of trades will contain. */
function takeTrades(connection: Connection, key: WideKey): void {
  const taken = connection.subscriptions.of('trades').takeContained(key)
  for (const wide of taken.wide) connection.ignore('trades', wide)
  for (const { number } of taken.singles) connection.ignore('trades', number)
}

type Replayed =
  | { readonly kind: 'done'; readonly count: number }
  | { readonly kind: 'limited'; readonly offset: number }
  /** The history does not reach back. */
  | { readonly kind: 'lost' }

/** Sends the kept trades behind an offset; returns in the turn in which none is missing. */
export function* replay(
  connection: Connection,
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
      connection.send(connection.encoder.trade(update))
      count += 1
    }
    if (isWanted || offset % skipsPerTurn === 0) yield
  }
  return wanted.after < 0 ? { kind: 'lost' } : { kind: 'done', count }
}

export function tellLost(
  connection: Connection,
  desk: Desk,
  lost: { key: WideKey | null; refs: readonly MarketRef[]; fromMs: TimeMs | null },
): void {
  const { key, refs, fromMs } = lost
  const toMs = desk.clock.nowMs()
  const { names } = desk.engine.catalog
  const platforms = key === null ? [] : key === '*' ? [names.a, names.b] : [names.platform(key)]
  for (const platform of platforms) {
    connection.send(
      connection.encoder.gap({ channel: 'trades', where: { platform }, fromMs, toMs }),
    )
  }
  for (const ref of refs) {
    const where = { marketId: ref.id }
    connection.send(connection.encoder.gap({ channel: 'trades', where, fromMs, toMs }))
  }
}
