// Subscribes to channels that replay every message. A subscription without `since` is live at once. A subscription with
// `since` becomes live in the tick in which no message is missing any more.

import type { RunView } from '../../../actors/views.ts'
import { replayTradesMax } from '../../../engine/limits.ts'
import type { MarketRef } from '../../../engine/market/market.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { CommandId, Since } from '../command.ts'
import type { ChannelVariant } from '../fan-out/channel-variants.ts'
import type { Connection, HubAccess, Task } from '../session/connection.ts'
import { contains, type Subscribed } from '../session/subscriptions.ts'
import { type Audience, joined, sendLoss, sendLostRange } from './losses.ts'
import type { ChannelLog, LoggedUpdate, LogPosition, LostRange, MessageLog } from './message-log.ts'

interface Wanted {
  readonly id: CommandId
  readonly variant: ChannelVariant
  readonly log: ChannelLog
  readonly since: Since | null
  readonly subscribed: Subscribed
}

/**
 * Subscribes, after a replay if `since` is given. Returns true if the caller must send `synced`, or false if the replay
 * has sent its own reply.
 */
export function* subscribeLogged(
  connection: Connection,
  hub: HubAccess,
  wanted: Wanted,
): Generator<void, boolean> {
  const { id, variant, log, since, subscribed } = wanted
  const { messages } = log
  const { channel } = messages
  const added = addedBy(connection, wanted)
  // Unsubscribe first, so that live messages cannot overtake replayed messages. This also ends subscriptions with other
  // options.
  connection.leave(channel, added)
  if (since === null) {
    connection.join(variant, added)
    return true
  }
  const { key } = subscribed
  const audience = { wide: key === null ? [] : [key], refs: added.refs }
  const from = messages.find(since)
  if (from === null) {
    yield* sendOfEarlier(connection, hub, { log, audience, variant })
    connection.join(variant, added)
    const range = { fromMs: null, toMs: hub.clock.nowMs(), count: null }
    sendLostRange(connection, hub, { channel, audience, range })
    return true
  }
  connection.isReplaying = true
  const asked = { log, from, audience, variantOf: () => variant }
  const { count, limitedAt } = yield* answerSince(connection, hub, asked)
  connection.isReplaying = false
  if (limitedAt !== null) {
    connection.reply({ type: 'resume_limited', id, channel, ...limitedAt })
    return false
  }
  connection.join(variant, added)
  const { epoch } = hub.publisher
  const offset = messages.newest
  connection.reply({ type: 'resumed', id, channel, replayed: count, epoch, offset })
  return false
}

/** Sends messages of this run that clients of earlier runs need. Returns in the tick in which no message is missing. */
function* sendOfEarlier(
  connection: Connection,
  hub: HubAccess,
  { log, audience, variant }: { log: ChannelLog; audience: Audience; variant: ChannelVariant },
): Task {
  const { isOfEarlier } = log
  if (isOfEarlier === undefined) return
  const isIn = (requested: ChannelVariant, update: LoggedUpdate) =>
    isOfEarlier(update) && log.isIn?.(requested, update) !== false
  const from = log.messages.present
  const wanted = { log: { ...log, isIn }, from, audience, variantOf: () => variant }
  yield* replay(connection, hub, { ...wanted, countMax: Infinity, onLost: () => {} })
}

/** The markets or wide key that a command adds. Excludes markets in a wide subscription, unless the command has `since`. */
function addedBy(connection: Connection, { variant, log, since, subscribed }: Wanted): Subscribed {
  const subscriptions = connection.subscriptions.of(log.messages.channel)
  const { key, refs } = subscribed
  if (key === null) {
    const isAdded = (ref: MarketRef) => since !== null || subscriptions.variantOf(ref) !== variant
    return { key, refs: refs.filter(isAdded) }
  }
  // A venue within `*` is not added: its messages arrive through the topic of `*`, also during a replay.
  const isWithin =
    subscriptions.wideVariant(key) === variant && !(since !== null && subscriptions.wide.has(key))
  return isWithin ? { key: null, refs: [] } : subscribed
}

/** Sends the missed messages of a command. Reports unavailable messages in the tick of the last message. */
function* answerSince(
  connection: Connection,
  hub: HubAccess,
  wanted: Pick<ReplayWanted, 'log' | 'from' | 'audience' | 'variantOf'>,
): Generator<void, Replayed> {
  const { log, from, audience } = wanted
  const { channel } = log.messages
  for (const loss of log.messages.losses(from)) {
    sendLoss(connection, hub, { channel, audience, loss })
    yield
  }
  // Report all expired messages as one range. The client's position does not advance before the reply. A client that
  // disconnects before the reply gets the range at its next resume.
  let lost: LostRange | null = null
  const replayed = yield* replay(connection, hub, {
    ...wanted,
    countMax: replayTradesMax,
    onLost: (range) => {
      lost = joined(lost, range)
    },
  })
  if (lost !== null) sendLostRange(connection, hub, { channel, audience, range: lost })
  return replayed
}

/** `limitedAt`: the position after which the rest follows if the limit was reached. Null if nothing is left. */
interface Replayed {
  readonly count: number
  readonly limitedAt: Since | null
}

interface ReplayWanted {
  readonly log: ChannelLog
  readonly from: LogPosition
  readonly audience: Audience
  /** The variant whose message a market gets. */
  readonly variantOf: (market: MarketRef) => ChannelVariant
  readonly countMax: number
  readonly onLost: (range: LostRange) => void
}

/**
 * Sends the messages after a position, over all later runs. Returns in the tick in which no message is missing. Calls
 * `onLost` for each gap before it sends the message after the gap.
 */
export function* replay(
  connection: Connection,
  hub: HubAccess,
  wanted: ReplayWanted,
): Generator<void, Replayed> {
  const { from, audience, variantOf, countMax, onLost } = wanted
  const { messages: log, write, isIn } = wanted.log
  const numbers = new Set(audience.refs.map((ref) => ref.number))
  const markets = audience.wide.length === 0 ? numbers : null
  const wants = (update: LoggedUpdate): boolean => {
    const { market } = update
    if (!numbers.has(market.number) && !audience.wide.some((key) => contains(key, market.venue))) {
      return false
    }
    return isIn === undefined || isIn(variantOf(market), update)
  }
  const { encoder } = connection
  let count = 0
  for (const [index, run] of from.runs.entries()) {
    const next = from.runs[index + 1]
    let offset = index === 0 ? from.offset : 0
    let lastMs: TimeMs | null = null
    const lostTo = (toMs: TimeMs, count: number | null) =>
      onLost({ fromMs: lastMs ?? timeAt(log, from, index) ?? run.startedAtMs, toMs, count })
    yield* arrivals(connection, log, run, offset)
    let entries = log.read(run, { offset, markets })
    while (entries.length > 0) {
      for (const { offset: entryOffset, update } of entries) {
        const message = typeof update === 'string' ? null : update
        const isHole = update === 'lost' || entryOffset > offset + 1
        // The number of missing messages is unknown if only selected markets were read.
        const holeCount =
          markets === null ? entryOffset - offset - (message === null ? 0 : 1) : null
        if (isHole) lostTo(message?.receivedAtMs ?? hub.clock.nowMs(), holeCount)
        if (message !== null && wants(message)) {
          if (count >= countMax) {
            return { count, limitedAt: { epoch: run.epoch, offset: entryOffset - 1 } }
          }
          const frame = write(encoder, message, run.epoch)
          if (frame !== null) connection.send(frame)
          count += 1
          offset = entryOffset
          yield
        }
        offset = entryOffset
        lastMs = message?.venueTimeMs ?? lastMs
      }
      yield
      yield* arrivals(connection, log, run, offset)
      entries = log.read(run, { offset, markets })
    }
    // The last messages of a run may be missing too. The end of a killed run is unknown.
    const end = next === undefined ? log.newest : (run.endOffset ?? offset)
    const endCount = markets === null ? end - offset : null
    if (offset < end) lostTo(next?.startedAtMs ?? hub.clock.nowMs(), endCount)
  }
  return { count, limitedAt: null }
}

function* arrivals(connection: Connection, log: MessageLog, run: RunView, offset: number): Task {
  for (let arrival = log.arrival(run, offset); arrival !== null; ) {
    connection.waitFor(arrival)
    yield
    arrival = log.arrival(run, offset)
  }
}

/** The time of the last message before the position. Null if it cannot be read. */
function timeAt(log: MessageLog, { runs, offset }: LogPosition, index: number): TimeMs | null {
  const run = runs[index]
  if (index > 0 || offset === 0 || run === undefined) return null
  const [entry] = log.read(run, { offset: offset - 1, markets: null })
  if (entry === undefined || typeof entry.update === 'string') return null
  return entry.offset === offset ? entry.update.venueTimeMs : null
}
