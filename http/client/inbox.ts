// Checks the `seq` of data messages and emits new messages. A resume fetches missing messages. If that fails, a gap
// event reports them.

import { Books } from './books.ts'
import { type ChannelState, gapEvent } from './channel-state.ts'
import {
  type Channel,
  type DataMessage,
  isFiltered,
  isRecord,
  PerChannel,
  rulesOf,
} from './channels.ts'
import type {
  FreshMessage,
  GapCause,
  GapEvent,
  LostMessage,
  Position,
  ResyncMessage,
  StaleMessage,
} from './messages.ts'
import { checkSequence, IdWindow, Marks, type SequenceCheck } from './sequence-check.ts'
import { StateTracker } from './state-tracker.ts'
import type { Key } from './subscription-keys.ts'

interface InboxParts {
  readonly channelStates: PerChannel<ChannelState>
  readonly emit: (event: DataMessage | GapEvent | StaleMessage | FreshMessage) => void
  readonly requestSnapshots: (marketIds: readonly string[]) => void
  /** Called for each message. Returns the `since` of the pending command that delivers the message, or null. */
  readonly onCounted: (key: Key, position: Position) => Position | null
  /** Closes the connection. The next connection resumes from the current positions. */
  readonly cut: (reason: string) => void
}

/** Detects duplicates in a channel that delivers every message: by `seq`, and for trades also by id. */
interface Flow {
  readonly marks: Marks
  readonly ids: IdWindow | null
}

export class Inbox {
  readonly books: Books
  readonly #parts: InboxParts
  readonly #flows = new PerChannel((channel): Flow | null => {
    const { delivery, hasIds } = rulesOf(channel)
    const ids = hasIds === true ? new IdWindow() : null
    return delivery === 'every' ? { marks: new Marks(), ids } : null
  })
  readonly #states: PerChannel<StateTracker | null>
  #connection = 0

  constructor(parts: InboxParts) {
    this.#parts = parts
    const reportGap = (gap: GapEvent): void => this.#reportGap(gap)
    this.books = new Books({ onGap: reportGap, request: parts.requestSnapshots })
    this.#states = new PerChannel((channel) =>
      rulesOf(channel).delivery === 'state' ? new StateTracker(channel, reportGap) : null,
    )
  }

  /** Called on each new connection. States that the server sent before it count as missed. */
  connect(): void {
    this.#connection += 1
  }

  take(message: DataMessage): void {
    const channelState = this.#parts.channelStates.of(message.channel)
    const key = channelState.keys.keyOf(message.market_id)
    if (key === null) return
    const since = this.#parts.onCounted(key, message)
    const flow = this.#flows.of(message.channel)
    const states = this.#states.of(message.channel)
    if (message.channel === 'orderbook') {
      channelState.move(message.epoch, message.offset)
      if (this.books.take(message)) this.#parts.emit(message)
    } else if (flow !== null) this.#takeFlow(channelState, key, { flow, message, since })
    else if (states !== null) this.#takeState(channelState, key, { states, message })
  }

  resync({ channel, market_id, reason }: ResyncMessage): void {
    if (this.#parts.channelStates.of(channel).keys.keyOf(market_id) === null) return
    const cause = causeOf(reason)
    const states = this.#states.of(channel)
    if (channel === 'orderbook') this.books.resync(market_id, cause)
    else if (states !== null) states.resync(market_id, cause)
    else this.#reportGap(gapEvent(channel, { cause, market_id, state_follows: false }))
  }

  handleStaleness(message: StaleMessage | FreshMessage): void {
    const { channel, market_id } = message
    if (this.#parts.channelStates.of(channel).keys.keyOf(market_id) === null) return
    if (channel === 'orderbook') this.books.updateStaleness(message)
    this.#parts.emit(message)
  }

  /** Handles a `gap` message. The next message of each affected market may have any `seq`. */
  lost(message: LostMessage): void {
    const { channel, market_id = null, platform = null, from_ms, to_ms, count } = message
    this.#flows
      .of(channel)
      ?.marks.reset((marketId) =>
        market_id === null
          ? platform === null || marketId.startsWith(`${platform}_`)
          : marketId === market_id,
      )
    const channelState = this.#parts.channelStates.of(channel)
    if (channelState.resuming > 0) channelState.hasLost = true
    for (const key of channelState.keys.all()) key.completeTo = null
    const scope = { market_id, platform, from_ms: from_ms ?? null, to_ms: to_ms ?? null }
    const lost = count ?? null
    this.#reportGap(gapEvent(channel, { cause: 'lost', state_follows: false, ...scope, lost }))
  }

  /**
   * Compares the server's latest `seq` of a market with the local one. Call it when all messages before `newest` have
   * been processed.
   */
  compare(channel: Channel, marketId: string, newest: Position & { readonly seq: number }): void {
    if (channel === 'orderbook') return this.books.fellBehind(marketId, newest.seq)
    const marks = this.#flows.of(channel)?.marks
    if (marks === undefined) return
    const channelState = this.#parts.channelStates.of(channel)
    const key = channelState.keys.keyOf(marketId)
    if (key !== null && isFiltered(channel, key.options)) return
    const completeTo = key?.completeTo ?? null
    const newestSeen = marks.newest(marketId, newest.epoch, completeTo)
    if (newestSeen === null) marks.note(marketId, newest)
    else if (newestSeen.seq < newest.seq) {
      this.#fetch(channelState, newestSeen, `the server has more ${channel} of ${marketId}`)
    }
  }

  expect(channel: Channel, keys: readonly Key[]): void {
    const states = this.#states.of(channel)
    for (const { target } of keys) {
      if (target.kind === 'market') states?.expect(target.marketId)
      else states?.expectAll()
    }
  }

  dropUnwanted(channelState: ChannelState): void {
    const { channel, keys } = channelState
    const tracker = channel === 'orderbook' ? this.books : this.#states.of(channel)
    if (tracker === null) return
    for (const marketId of tracker.marketIds()) {
      if (keys.keyOf(marketId) === null) tracker.drop(marketId)
    }
  }

  /**
   * Called when a resume delivered `lost` fewer messages than the server reported. Returns false the first time, so
   * that the resume is repeated.
   */
  handleShortResume(channelState: ChannelState, lost: number): boolean {
    if (this.#flows.of(channelState.channel) === null) return true
    if (!channelState.isRetry) {
      channelState.isRetry = true
      this.#parts.cut(`a resume of ${channelState.channel} lacks ${lost} messages`)
      return false
    }
    // Missing `seq` of single markets have already been reported.
    const unreported = lost - channelState.lostReported
    const fields = { cause: 'replay_short', state_follows: false, lost: unreported } as const
    if (unreported > 0) this.#reportGap(gapEvent(channelState.channel, fields))
    return true
  }

  #takeFlow(
    channelState: ChannelState,
    key: Key,
    { flow, message, since }: { flow: Flow; message: DataMessage; since: Position | null },
  ): void {
    const { marks, ids } = flow
    const { market_id, epoch, offset, seq } = message
    // A resume from an earlier epoch delivers all messages of the current epoch.
    const isFromFirst = since !== null && since.epoch !== epoch && !channelState.hasLost
    const completeTo = isFromFirst ? { epoch, offset: 0 } : key.completeTo
    const sequence = checkSequence(marks.newest(market_id, epoch, completeTo), seq)
    const isHole = sequence.kind === 'hole' && !isFiltered(key.channel, key.options)
    if (isHole && !this.#mayPass(channelState, key, message, sequence)) return
    channelState.move(epoch, offset)
    if (sequence.kind === 'repeat') return
    key.hasBegun = true
    marks.note(market_id, { epoch, offset, seq })
    if (ids === null || ids.add(idOf(message))) this.#parts.emit(message)
  }

  /** Fetches a gap in `seq` by a resume. If a resume did not close the gap, reports the gap and returns true. */
  #mayPass(
    channelState: ChannelState,
    key: Key,
    { market_id, seq }: DataMessage,
    { before }: SequenceCheck & { kind: 'hole' },
  ): boolean {
    if (!channelState.isRetry) {
      key.cursor = null
      this.#fetch(
        channelState,
        before,
        `${channelState.channel} of ${market_id} lack seq ${before.seq + 1}`,
      )
      return false
    }
    const seqs = { from_seq: before.seq + 1, to_seq: seq - 1, lost: seq - 1 - before.seq }
    const where = { market_id, state_follows: false }
    channelState.lostReported += seqs.lost
    this.#reportGap(gapEvent(channelState.channel, { cause: 'seq_hole', ...where, ...seqs }))
    return true
  }

  #fetch(channelState: ChannelState, from: Position, reason: string): void {
    channelState.fallBack(from)
    channelState.isRetry = true
    this.#parts.cut(reason)
  }

  #takeState(
    channelState: ChannelState,
    key: Key,
    { states, message }: { states: StateTracker; message: DataMessage },
  ): void {
    channelState.move(message.epoch, message.offset)
    const isConflated = rulesOf(message.channel).isConflated?.(key.options) !== false
    const isNew = states.take(message, { connection: this.#connection, isConflated })
    key.hasBegun = true
    if (isNew) this.#parts.emit(message)
  }

  #reportGap(gap: GapEvent): void {
    const { channel } = gap
    const unreported =
      channel === null ? gap : this.#parts.channelStates.of(channel).unreported(gap)
    if (unreported !== null) this.#parts.emit(unreported)
  }
}

/** Trade ids are unique only within a venue, so the id includes the market. */
function idOf({ market_id, data }: DataMessage): string {
  return `${market_id} ${isRecord(data) ? String(data.id) : ''}`
}

function causeOf(reason: string): GapCause {
  const isServerCause = reason === 'slow_consumer' || reason === 'restart' || reason === 'delayed'
  return isServerCause ? reason : 'venue_gap'
}
