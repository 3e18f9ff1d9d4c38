import type { MarketRef } from '../../../engine/market/market.ts'
import { gapMessage } from '../encode/encoder.ts'
import type { ChannelName, WideKey } from '../fan-out/channel-variants.ts'
import type { Connection, HubAccess } from '../session/connection.ts'
import { contains } from '../session/subscriptions.ts'
import type { Loss, LostRange } from './message-log.ts'

export interface Audience {
  readonly wide: readonly WideKey[]
  readonly refs: readonly MarketRef[]
}

export function joined(one: LostRange | null, other: LostRange): LostRange {
  if (one === null) return other
  const hasBothStarts = one.fromMs !== null && other.fromMs !== null
  const first = hasBothStarts && one.fromMs > other.fromMs ? other.fromMs : one.fromMs
  const toMs = one.toMs > other.toMs ? one.toMs : other.toMs
  const count = one.count === null || other.count === null ? null : one.count + other.count
  return { fromMs: hasBothStarts ? first : null, toMs, count }
}

/** Sends one `gap` for each subscribed venue or market whose messages in the range may be lost. */
export function sendLostRange(
  connection: Connection,
  hub: HubAccess,
  lost: { channel: ChannelName; audience: Audience; range: LostRange },
): void {
  const { channel, audience, range } = lost
  const { names } = hub.engine.catalog
  const keys = audience.wide.includes('*') ? ['*' as const] : audience.wide
  const platforms = keys.flatMap((key) => (key === '*' ? names.platforms : [names.platform(key)]))
  for (const platform of platforms) {
    connection.reply(gapMessage({ channel, where: { platform }, ...range }))
  }
  for (const ref of audience.refs) {
    const where = { marketId: ref.id }
    connection.reply(gapMessage({ channel, where, ...range }))
  }
}

export function sendLoss(
  connection: Connection,
  hub: HubAccess,
  parts: { channel: ChannelName; audience: Audience; loss: Loss },
): void {
  const { channel, audience, loss } = parts
  const { venue, market, fromMs, toMs, count } = loss
  const isTouched =
    audience.wide.some((key) => contains(key, venue)) ||
    audience.refs.some((ref) => (market === null ? ref.venue === venue : ref.number === market))
  if (!isTouched) return
  const { catalog } = hub.engine
  const id = market === null ? null : catalog.byNumber(market)?.ref.id
  // An evicted market has no id, so the `gap` names its venue.
  const where =
    id === null || id === undefined ? { platform: catalog.names.platform(venue) } : { marketId: id }
  connection.reply(gapMessage({ channel, where, fromMs, toMs, count }))
}
