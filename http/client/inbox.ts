// Data messages on their way to the user: counted, checked, and handed on only when they are new.
// What is missing is reported, or fetched by a resume.

import { Books } from './books.ts'
import { gapEvent, type Line } from './line.ts'
import type {
  Channel,
  DataMessage,
  FlowMessage,
  FreshMessage,
  GapCause,
  GapEvent,
  LostMessage,
  Position,
  ResyncMessage,
  StaleMessage,
  StateMessage,
  TradeMessage,
  WhaleMessage,
} from './messages.ts'
import { IdWindow, Marks, type Standing, standing } from './repeats.ts'
import { States } from './states.ts'
import { type Key, leavesOut } from './wanted.ts'

interface InboxParts {
  readonly lines: Readonly<Record<Channel, Line>>
  readonly emit: (event: DataMessage | GapEvent | StaleMessage | FreshMessage) => void
  readonly requestSnapshots: (marketIds: readonly string[]) => void
  /** A message of this key came; returns the `since` of the command that brings it. */
  readonly onCounted: (key: Key, place: Position) => Position | null
  /** Ends the connection; the next one resumes. */
  readonly cut: (reason: string) => void
}

/** What keeps every message of a channel: repeats are known by seq, and trades by id too. */
interface Flow {
  readonly marks: Marks
  readonly ids: IdWindow | null
}

/** The way in. */
export class Inbox {
  readonly books: Books
  readonly #parts: InboxParts
  readonly #flows: Readonly<Record<FlowMessage['channel'], Flow>> = {
    trades: { marks: new Marks(), ids: new IdWindow() },
    whales: { marks: new Marks(), ids: new IdWindow() },
    lifecycle: { marks: new Marks(), ids: null },
    arbitrage: { marks: new Marks(), ids: null },
  }
  readonly #states: Readonly<Record<StateMessage['channel'], States>>
  #connection = 0

  constructor(parts: InboxParts) {
    this.#parts = parts
    const tell = (gap: GapEvent): void => this.#tell(gap)
    this.books = new Books({ tell, request: parts.requestSnapshots })
    this.#states = {
      depth: new States('depth', tell),
      prices: new States('prices', tell),
      candles: new States('candles', tell),
    }
  }

  /** A new connection: what a state skips from now on was missed in between. */
  connect(): void {
    this.#connection += 1
  }

  take(message: DataMessage): void {
    const line = this.#parts.lines[message.channel]
    const key = line.keys.keyOf(message.market_id)
    // Still on its way when the user gave it up.
    if (key === null) return
    const since = this.#parts.onCounted(key, message)
    switch (message.channel) {
      case 'orderbook':
        line.move(message.epoch, message.offset)
        if (this.books.take(message)) this.#parts.emit(message)
        return
      case 'trades':
      case 'whales':
      case 'lifecycle':
      case 'arbitrage':
        return this.#takeFlow(line, key, { message, since })
      default:
        return this.#takeState(line, key, message)
    }
  }

  resync({ channel, market_id, reason }: ResyncMessage): void {
    if (this.#parts.lines[channel].keys.keyOf(market_id) === null) return
    const cause = causeOf(reason)
    if (channel === 'orderbook') this.books.resync(market_id, cause)
    else if (isState(channel)) this.#states[channel].resync(market_id, cause)
    else this.#tell(gapEvent(channel, { cause, market_id, state_follows: false }))
  }

  /** The server says that what it sent of a market may be wrong, or is right after all. */
  judge(message: StaleMessage | FreshMessage): void {
    const { channel, market_id } = message
    if (this.#parts.lines[channel].keys.keyOf(market_id) === null) return
    if (channel === 'orderbook') this.books.judge(message)
    this.#parts.emit(message)
  }

  /** The server says that messages are lost: the next seq of what they touch is taken as it comes. */
  lost(message: LostMessage): void {
    const { channel, market_id = null, platform = null, from_ms, to_ms, count } = message
    if (isFlow(channel)) {
      this.#flows[channel].marks.forgive((marketId) =>
        market_id === null
          ? platform === null || marketId.startsWith(`${platform}_`)
          : marketId === market_id,
      )
    }
    const line = this.#parts.lines[channel]
    if (line.resuming > 0) line.hasLost = true
    for (const key of line.keys.all()) key.whole = null
    const known = { market_id, platform, from_ms: from_ms ?? null, to_ms: to_ms ?? null }
    const lost = count ?? null
    this.#tell(gapEvent(channel, { cause: 'lost', state_follows: false, ...known, lost }))
  }

  /** The server's newest seq of a market; behind every message it was sent before. */
  compare(channel: Channel, marketId: string, newest: Position & { readonly seq: number }): void {
    if (channel === 'orderbook') return this.books.fellBehind(marketId, newest.seq)
    if (!isFlow(channel)) return
    const { marks } = this.#flows[channel]
    const line = this.#parts.lines[channel]
    const key = line.keys.keyOf(marketId)
    if (key !== null && leavesOut(key.options)) return
    const whole = key?.whole ?? null
    const known = marks.newest(marketId, newest.epoch, whole)
    if (known === null) marks.note(marketId, newest)
    else if (known.seq < newest.seq) {
      this.#fetch(line, known, `the server has more ${channel} of ${marketId}`)
    }
  }

  /** Options have changed, or states come again: the same seq is handed on once more. */
  expect(channel: Channel, keys: readonly Key[]): void {
    if (!isState(channel)) return
    for (const { target } of keys) {
      if (target.kind === 'market') this.#states[channel].expect(target.marketId)
      else this.#states[channel].expectAll()
    }
  }

  /** Drops what no handle wants any more. */
  forgetUnwanted(line: Line): void {
    const { channel, keys } = line
    const owner =
      channel === 'orderbook' ? this.books : isState(channel) ? this.#states[channel] : null
    if (owner === null) return
    for (const marketId of owner.marketIds()) {
      if (keys.keyOf(marketId) === null) owner.drop(marketId)
    }
  }

  /** A resume brought fewer messages than it said. False: it is begun again, once. */
  cameShort(line: Line, lost: number): boolean {
    if (!isFlow(line.channel)) return true
    if (!line.isRetry) {
      line.isRetry = true
      this.#parts.cut(`a resume of ${line.channel} lacks ${lost} messages`)
      return false
    }
    // What showed as a hole in a market's seq has been reported already.
    const unreported = lost - line.lostTold
    const known = { cause: 'replay_short', state_follows: false, lost: unreported } as const
    if (unreported > 0) this.#tell(gapEvent(line.channel, known))
    return true
  }

  #takeFlow(
    line: Line,
    key: Key,
    { message, since }: { message: FlowMessage; since: Position | null },
  ): void {
    const { marks, ids } = this.#flows[message.channel]
    const { market_id, epoch, offset, seq } = message
    // A resume from an older run brings this one from its first message on.
    const isFromFirst = since !== null && since.epoch !== epoch && !line.hasLost
    const whole = isFromFirst ? { epoch, offset: 0 } : key.whole
    const stands = standing(marks.newest(market_id, epoch, whole), seq)
    const isHole = stands.kind === 'hole' && !leavesOut(key.options)
    if (isHole && !this.#mayPass(line, key, message, stands)) return
    line.move(epoch, offset)
    if (stands.kind === 'repeat') return
    key.hasBegun = true
    marks.note(market_id, { epoch, offset, seq })
    const isNews = ids === null || !isTraded(message) || ids.add(idOf(message))
    if (isNews) this.#parts.emit(message)
  }

  /** A hole is fetched by a resume; one that this resume did not fill is reported, and passed. */
  #mayPass(
    line: Line,
    key: Key,
    { market_id, seq }: FlowMessage,
    { before }: Standing & { kind: 'hole' },
  ): boolean {
    if (!line.isRetry) {
      key.cursor = null
      this.#fetch(line, before, `${line.channel} of ${market_id} lack seq ${before.seq + 1}`)
      return false
    }
    const seqs = { from_seq: before.seq + 1, to_seq: seq - 1, lost: seq - 1 - before.seq }
    const where = { market_id, state_follows: false }
    line.lostTold += seqs.lost
    this.#tell(gapEvent(line.channel, { cause: 'seq_hole', ...where, ...seqs }))
    return true
  }

  #fetch(line: Line, from: Position, reason: string): void {
    line.fallBack(from)
    line.isRetry = true
    this.#parts.cut(reason)
  }

  #takeState(line: Line, key: Key, message: StateMessage): void {
    line.move(message.epoch, message.offset)
    const { channel } = message
    const isConflated = channel !== 'prices' || (key.options.conflate_ms ?? 0) > 0
    const isNews = this.#states[channel].take(message, {
      connection: this.#connection,
      isConflated,
    })
    key.hasBegun = true
    if (isNews) this.#parts.emit(message)
  }

  #tell(gap: GapEvent): void {
    const { channel } = gap
    const unreported = channel === null ? gap : this.#parts.lines[channel].unreported(gap)
    if (unreported !== null) this.#parts.emit(unreported)
  }
}

function isTraded(message: FlowMessage): message is TradeMessage | WhaleMessage {
  return message.channel === 'trades' || message.channel === 'whales'
}

/** Ids are a venue's own, so the market belongs to them. */
function idOf(message: TradeMessage | WhaleMessage): string {
  return `${message.market_id} ${String(message.data.id)}`
}

function isFlow(channel: Channel): channel is FlowMessage['channel'] {
  return (
    channel === 'trades' ||
    channel === 'whales' ||
    channel === 'lifecycle' ||
    channel === 'arbitrage'
  )
}

function isState(channel: Channel): channel is StateMessage['channel'] {
  return channel === 'prices' || channel === 'depth' || channel === 'candles'
}

function causeOf(reason: string): GapCause {
  const isKnown = reason === 'slow_consumer' || reason === 'restart' || reason === 'delayed'
  return isKnown ? reason : 'venue_gap'
}
