// Assigns a connection's markets to subscriptions (sids) and sends the commands. A gap makes all markets of a sid
// suspect. The server may merge several subscriptions into one sid and then replies `ok` instead of `subscribed`.

import { addTo } from '../../../grouping.ts'
import { takeFirst } from '../../../take-first.ts'
import type { DriftNotes } from '../../drift/drift.ts'
import type { ErrorReply, Reply } from '../messages.ts'
import { codeName } from '../stream.ts'
import type { SnapshotPace } from './snapshot-pace.ts'

const SID_MARKETS_MAX = 250
const COMMAND_TICKERS_MAX = 500
const SUBSCRIBES_PENDING_MAX = 4
/** A connection without data is replaced if a command has no reply after this time. */
export const REPLY_TIMEOUT_MS = 10_000
/** On a connection that delivers data, a command is repeated if it has no reply after this time. */
const REPEAT_COMMAND_MS = 30_000
/** Minimum interval between two snapshot requests of a market. Earlier requests are queued. */
const SNAPSHOT_EVERY_MS = 1_000
/** A request is repeated, at most SNAPSHOT_TRIES_MAX times, if no snapshot of any market arrives for this time. */
const SNAPSHOT_TIMEOUT_MS = 5_000
/** A request is also repeated at this age, even if other snapshots arrive. */
const SNAPSHOT_AGE_MAX_MS = 30_000
const SNAPSHOT_TRIES_MAX = 5

type Command =
  | { readonly kind: 'subscribe'; readonly tickers: readonly string[] }
  | { readonly kind: 'add'; readonly tickers: readonly string[]; readonly sid: number }
  | {
      readonly kind: 'delete' | 'unsubscribe' | 'snapshot'
      readonly tickers: readonly string[]
      readonly sid: number
    }

interface SnapshotRequest {
  readonly atMs: number
  readonly tries: number
  readonly isInitial: boolean
}

interface SubscriptionHooks {
  /** Returns false if the text could not be sent: the connection is closed or congested. */
  readonly send: (text: string) => boolean
  readonly nowMs: () => number
  readonly pace: Pick<SnapshotPace, 'take'>
  readonly isDelivering: () => boolean
  readonly drift: DriftNotes
  readonly trouble: (reason: string, details: Record<string, unknown>) => void
  /** Called when books of these markets may have missed changes. The subscriptions request new snapshots themselves. */
  readonly onSuspect: (tickers: readonly string[], reason: string) => void
  /** Called when the connection accepts no more markets. These markets must move to another connection. */
  readonly onOverflow: (tickers: readonly string[]) => void
  /** Called when the server refuses these markets. Their books are no longer updated. */
  readonly onGivenUp: (tickers: readonly string[]) => void
  readonly resetSid: (sid: number) => void
}

export class Subscriptions {
  readonly #hooks: SubscriptionHooks
  readonly #tickers = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #urgent = new Set<string>()
  /** Halves of a list that the server refused. Each half is subscribed separately. */
  #suspectLists: (readonly string[])[] = []
  readonly #sidOf = new Map<string, number>()
  readonly #groups = new Map<number, Set<string>>()
  readonly #pending = new Map<number, { command: Command; atMs: number }>()
  readonly #wanted = new Set<string>()
  readonly #checked = new Set<string>()
  readonly #snapshotRequests = new Map<string, SnapshotRequest>()
  #lastSnapshotAtMs = 0
  /** Set after the server has refused a longer list. */
  #snapshotTickersMax = Number.POSITIVE_INFINITY
  #isOpen = false
  #lastCommandId = 0
  #holdUntilMs = 0

  constructor(hooks: SubscriptionHooks) {
    this.#hooks = hooks
  }

  get marketCount(): number {
    return this.#tickers.size
  }

  get tickers(): readonly string[] {
    return [...this.#tickers]
  }

  has(ticker: string): boolean {
    return this.#tickers.has(ticker)
  }

  /** True after the market's own subscription, or the subscription to which it was added, is confirmed. */
  isSubscribed(ticker: string): boolean {
    return this.#sidOf.has(ticker)
  }

  get hasUnsentRequests(): boolean {
    return this.#wanted.size > 0
  }

  add(ticker: string, isUrgent = false): void {
    if (this.#tickers.has(ticker)) return
    this.#tickers.add(ticker)
    if (isUrgent) this.#urgent.add(ticker)
    else this.#waiting.add(ticker)
  }

  remove(tickers: readonly string[]): void {
    const bySid = new Map<number, string[]>()
    for (const ticker of tickers) {
      this.#tickers.delete(ticker)
      this.#waiting.delete(ticker)
      this.#urgent.delete(ticker)
      this.#wanted.delete(ticker)
      this.#checked.delete(ticker)
      this.#snapshotRequests.delete(ticker)
      const sid = this.#sidOf.get(ticker)
      if (sid === undefined) continue
      this.#sidOf.delete(ticker)
      this.#groups.get(sid)?.delete(ticker)
      addTo(bySid, sid, ticker)
    }
    for (const [sid, removed] of bySid) this.#drop(sid, removed)
  }

  opened(): void {
    this.closed()
    this.#isOpen = true
    for (const ticker of this.#tickers) this.#waiting.add(ticker)
    this.flush()
  }

  closed(): void {
    this.#isOpen = false
    this.#waiting.clear()
    this.#urgent.clear()
    this.#suspectLists = []
    this.#sidOf.clear()
    this.#groups.clear()
    this.#pending.clear()
    this.#wanted.clear()
    this.#checked.clear()
    this.#snapshotRequests.clear()
    this.#lastCommandId = 0
    this.#holdUntilMs = 0
  }

  /** Queues snapshot requests. Skips markets that are not on this connection and markets with a pending request. */
  want(tickers: readonly string[]): void {
    for (const ticker of tickers) {
      this.#checked.delete(ticker)
      if (this.#tickers.has(ticker) && this.#sidOf.has(ticker) && !this.#isUnderWay(ticker)) {
        this.#wanted.add(ticker)
      }
    }
  }

  /** Requests snapshots that verify live books (`takeCheck`). Skips markets whose snapshots are already requested. */
  check(tickers: readonly string[]): void {
    for (const ticker of tickers) {
      if (!this.#sidOf.has(ticker) || this.#wanted.has(ticker) || this.#isUnderWay(ticker)) continue
      this.#checked.add(ticker)
      this.#wanted.add(ticker)
    }
  }

  /** Returns whether this snapshot only verifies the book. Must be called once per snapshot. */
  takeCheck(ticker: string): boolean {
    return this.#checked.delete(ticker)
  }

  /**
   * Requests one snapshot per subscription, whose sequence number reveals lost messages. Returns false without
   * subscriptions.
   */
  probe(preferred: string | null): boolean {
    let isRequested = false
    for (const group of this.#groups.values()) {
      const [first] = group
      const ticker = preferred !== null && group.has(preferred) ? preferred : first
      if (ticker === undefined) continue
      this.want([ticker])
      isRequested = true
    }
    return isRequested
  }

  noteSnapshot(ticker: string): void {
    this.#lastSnapshotAtMs = this.#hooks.nowMs()
    const request = this.#snapshotRequests.get(ticker)
    if (request === undefined) return
    // `tries` 0: the snapshot arrived. The entry remains to limit the rate of further requests.
    if (request.isInitial) this.#snapshotRequests.delete(ticker)
    else this.#snapshotRequests.set(ticker, { ...request, tries: 0 })
  }

  /**
   * Marks markets as suspect after an unusable message: the market `ticker`, all markets of the sid if `ticker` is
   * null, or all markets if both are null.
   */
  noteLost(sid: number | null, ticker: string | null, reason: string): void {
    if (ticker === null) {
      const isGroup = sid !== null && this.#groups.has(sid)
      return isGroup ? this.noteGap(sid, reason) : this.#suspect([...this.#sidOf.keys()], reason)
    }
    if (!this.#tickers.has(ticker)) return
    this.#suspect([ticker], reason)
    // The unusable message may be the requested snapshot.
    this.#wanted.add(ticker)
  }

  noteGap(sid: number, reason: string): void {
    this.#suspect([...(this.#groups.get(sid) ?? [])], reason)
  }

  /**
   * Requests no second snapshot of a market while one is pending, because the pending snapshot has all changes. If the
   * lost message was this snapshot, its request times out.
   */
  #suspect(tickers: readonly string[], reason: string): void {
    if (tickers.length === 0) return
    this.#hooks.onSuspect(tickers, reason)
    this.want(tickers)
  }

  /** Sends due commands. Called about ten times a second, and after each reply. */
  flush(): void {
    if (!this.#isOpen || this.#hooks.nowMs() < this.#holdUntilMs) return
    this.#flushSnapshots()
    this.#flushSubscribes()
  }

  /**
   * Repeats snapshot requests without a response. Repeats other commands while the connection delivers data. Returns
   * false if a command has no reply and the connection delivers nothing.
   */
  checkReplies(): boolean {
    const nowMs = this.#hooks.nowMs()
    for (const [id, { atMs, command }] of this.#pending) {
      const ageMs = nowMs - atMs
      if (ageMs <= REPLY_TIMEOUT_MS) continue
      // `get_snapshot` has no reply but the snapshots, which have a separate timeout.
      if (command.kind !== 'snapshot') {
        const isDelivering = this.#hooks.isDelivering()
        if (isDelivering && ageMs <= REPEAT_COMMAND_MS) continue
        this.#hooks.drift.note('ws.unacknowledged', command.kind, JSON.stringify(command), 'notice')
        if (!isDelivering) return false
        if (command.kind === 'subscribe' || command.kind === 'add') this.#requeue(command.tickers)
      }
      this.#pending.delete(id)
    }
    this.#checkSnapshots(nowMs)
    return true
  }

  #checkSnapshots(nowMs: number): void {
    for (const [ticker, request] of this.#snapshotRequests) {
      const ageMs = nowMs - request.atMs
      const isOver = request.tries === 0 && ageMs > SNAPSHOT_EVERY_MS
      if (isOver || !this.#sidOf.has(ticker)) {
        this.#snapshotRequests.delete(ticker)
        continue
      }
      const quietMs = nowMs - Math.max(request.atMs, this.#lastSnapshotAtMs)
      const isOverdue = quietMs >= SNAPSHOT_TIMEOUT_MS || ageMs >= SNAPSHOT_AGE_MAX_MS
      if (request.tries === 0 || !isOverdue) continue
      if (request.tries < SNAPSHOT_TRIES_MAX) this.#wanted.add(ticker)
      else {
        this.#snapshotRequests.delete(ticker)
        this.#hooks.trouble('snapshot_unanswered', { ticker })
      }
    }
  }

  /** Handles a reply to a command, or an unsolicited message about a sid. */
  reply(reply: Reply): void {
    const pending = this.#pending.get(reply.commandId)
    this.#pending.delete(reply.commandId)
    if (reply.kind === 'error') this.#refused(reply, pending?.command ?? null)
    else if (reply.kind === 'unsubscribed') {
      if (reply.sid !== null) this.#hooks.resetSid(reply.sid)
    } else if (pending?.command.kind === 'subscribe') {
      if (reply.sid === null) this.#requeue(pending.command.tickers)
      else this.#assign(pending.command.tickers, reply.sid)
    }
    this.flush()
  }

  #isUnderWay(ticker: string): boolean {
    const request = this.#snapshotRequests.get(ticker)
    return request !== undefined && request.tries > 0
  }

  #flushSubscribes(): void {
    let pendingCount = 0
    let hasPendingSubscribe = false
    for (const { command } of this.#pending.values()) {
      if (command.kind === 'subscribe' || command.kind === 'add') pendingCount += 1
      if (command.kind === 'subscribe') hasPendingSubscribe = true
    }
    for (;;) {
      const isUrgent = this.#urgent.size > 0
      const tickers = isUrgent ? this.#urgent : this.#waiting
      const suspects = isUrgent ? undefined : this.#suspectLists[0]
      if (suspects === undefined && tickers.size === 0) return
      if (!isUrgent && pendingCount >= SUBSCRIBES_PENDING_MAX) return
      const group = suspects === undefined ? this.#groupWithCapacity() : null
      // A pending subscription has capacity for the waiting markets if they are few, so no second subscription is
      // opened.
      const isFew = !isUrgent && suspects === undefined && tickers.size < SID_MARKETS_MAX
      if (group === null && hasPendingSubscribe && isFew) return
      const count = suspects?.length ?? Math.min(tickers.size, group?.capacity ?? SID_MARKETS_MAX)
      if (!this.#hooks.pace.take(count, isUrgent)) return
      const list = suspects === undefined ? takeFirst(tickers, count) : suspects
      if (suspects !== undefined) this.#suspectLists.shift()
      const isSent =
        group === null
          ? this.#command({ kind: 'subscribe', tickers: list })
          : this.#command({ kind: 'add', tickers: list, sid: group.sid })
      if (!isSent) return this.#requeue(list)
      if (group !== null) this.#assign(list, group.sid)
      else hasPendingSubscribe = true
      pendingCount += 1
    }
  }

  #groupWithCapacity(): { readonly sid: number; readonly capacity: number } | null {
    for (const [sid, { size }] of this.#groups) {
      if (size < SID_MARKETS_MAX) return { sid, capacity: SID_MARKETS_MAX - size }
    }
    return null
  }

  #flushSnapshots(): void {
    if (this.#wanted.size === 0) return
    const nowMs = this.#hooks.nowMs()
    const bySid = new Map<number, string[]>()
    for (const ticker of this.#wanted) {
      const request = this.#snapshotRequests.get(ticker)
      if (request !== undefined && nowMs - request.atMs < SNAPSHOT_EVERY_MS) continue
      const sid = this.#sidOf.get(ticker)
      if (sid === undefined) this.#wanted.delete(ticker)
      else addTo(bySid, sid, ticker)
    }
    for (const [sid, tickers] of bySid) {
      const size = Math.min(tickers.length, this.#snapshotTickersMax)
      for (let start = 0; start < tickers.length; start += size) {
        const part = tickers.slice(start, start + size)
        if (!this.#hooks.pace.take(part.length)) return
        this.#requestSnapshots(sid, part, nowMs)
      }
    }
  }

  #requestSnapshots(sid: number, tickers: readonly string[], nowMs: number): void {
    for (const ticker of tickers) this.#wanted.delete(ticker)
    if (!this.#command({ kind: 'snapshot', tickers, sid })) return
    for (const ticker of tickers) {
      const tries = (this.#snapshotRequests.get(ticker)?.tries ?? 0) + 1
      this.#snapshotRequests.set(ticker, { atMs: nowMs, tries, isInitial: false })
    }
  }

  #assign(tickers: readonly string[], sid: number): void {
    const group = this.#groups.get(sid) ?? new Set<string>()
    this.#groups.set(sid, group)
    const removed: string[] = []
    const nowMs = this.#hooks.nowMs()
    for (const ticker of tickers) {
      if (!this.#tickers.has(ticker)) {
        removed.push(ticker)
        continue
      }
      group.add(ticker)
      this.#sidOf.set(ticker, sid)
      this.#snapshotRequests.set(ticker, { atMs: nowMs, tries: 1, isInitial: true })
    }
    // Unsubscribes markets that were removed while the command was pending.
    if (removed.length > 0) this.#drop(sid, removed)
  }

  #requeue(tickers: readonly string[]): void {
    for (const ticker of tickers) {
      this.#sidOf.delete(ticker)
      if (this.#tickers.has(ticker)) this.#waiting.add(ticker)
    }
  }

  #drop(sid: number, tickers: readonly string[]): void {
    if (this.#groups.get(sid)?.size === 0) {
      this.#groups.delete(sid)
      this.#command({ kind: 'unsubscribe', tickers: [], sid })
      return
    }
    for (let start = 0; start < tickers.length; start += COMMAND_TICKERS_MAX) {
      const part = tickers.slice(start, start + COMMAND_TICKERS_MAX)
      this.#command({ kind: 'delete', tickers: part, sid })
    }
  }

  #refused(reply: ErrorReply, command: Command | null): void {
    const { code, text, ticker, sid } = reply
    this.#hooks.trouble(`command_error_${codeName(code)}`, {
      text,
      ticker,
      sid,
      command: command?.kind,
    })
    if (command?.kind === 'delete' || command?.kind === 'unsubscribe') return
    if (code === 10 || code === 25 || code === 7) return this.#lostSid(sid, command)
    if (command?.kind === 'snapshot') return this.#noteRefusedSnapshots(command.tickers)
    if (command === null) return
    if (command.kind === 'add') this.#leaveGroup(command)
    if (code === 26) return this.#full(command.tickers)
    if (code === 18 || code === 27 || code === 1 || code === 0) {
      this.#holdUntilMs = this.#hooks.nowMs() + 1_000
      return this.#requeue(command.tickers)
    }
    if (ticker !== null && command.tickers.includes(ticker)) {
      this.#giveUp([ticker])
      return this.#requeue(command.tickers.filter((other) => other !== ticker))
    }
    // Splits a refused list in halves until only the invalid ticker is refused.
    if (command.tickers.length === 1) return this.#giveUp(command.tickers)
    const middle = command.tickers.length >> 1
    this.#suspectLists.push(command.tickers.slice(0, middle), command.tickers.slice(middle))
  }

  /** A refused command may mean that its list was too long. */
  #noteRefusedSnapshots(tickers: readonly string[]): void {
    if (tickers.length <= COMMAND_TICKERS_MAX) return
    this.#snapshotTickersMax = COMMAND_TICKERS_MAX
    for (const ticker of tickers) {
      if (this.#isUnderWay(ticker)) this.#wanted.add(ticker)
    }
  }

  #leaveGroup(command: Extract<Command, { kind: 'add' }>): void {
    const group = this.#groups.get(command.sid)
    for (const ticker of command.tickers) {
      group?.delete(ticker)
      this.#sidOf.delete(ticker)
    }
  }

  /** Subscribes the markets of a closed subscription again (buffer overflow, channel error, unknown sid). */
  #lostSid(sid: number | null, command: Command | null): void {
    const lost = sid ?? (command === null || command.kind === 'subscribe' ? null : command.sid)
    const tickers = lost === null ? (command?.tickers ?? []) : [...(this.#groups.get(lost) ?? [])]
    if (lost !== null) {
      this.#groups.delete(lost)
      this.#hooks.resetSid(lost)
    }
    if (tickers.length > 0) this.#hooks.onSuspect(tickers, 'subscription lost')
    this.#requeue(tickers)
  }

  #full(tickers: readonly string[]): void {
    const overflowing = tickers.filter((ticker) => this.#tickers.has(ticker))
    for (const ticker of overflowing) this.#tickers.delete(ticker)
    this.#hooks.onOverflow(overflowing)
  }

  #giveUp(tickers: readonly string[]): void {
    for (const ticker of tickers) this.#tickers.delete(ticker)
    this.#hooks.trouble('subscription_refused', { tickers: tickers.slice(0, 3) })
    this.#hooks.onGivenUp(tickers)
  }

  #command(command: Command): boolean {
    const id = this.#lastCommandId + 1
    if (!this.#isOpen || !this.#hooks.send(render(id, command))) return false
    this.#lastCommandId = id
    this.#pending.set(id, { command, atMs: this.#hooks.nowMs() })
    return true
  }
}

const ACTIONS = { add: 'add_markets', delete: 'delete_markets', snapshot: 'get_snapshot' } as const

function render(id: number, command: Command): string {
  if (command.kind === 'subscribe') {
    return JSON.stringify({
      id,
      cmd: 'subscribe',
      params: {
        channels: ['orderbook_delta'],
        market_tickers: command.tickers,
        // map.ts expects No in its own prices. The venue announced `true` as the future default.
        use_yes_price: false,
      },
    })
  }
  const sids = [command.sid]
  if (command.kind === 'unsubscribe')
    return JSON.stringify({ id, cmd: 'unsubscribe', params: { sids } })
  const params = { sids, action: ACTIONS[command.kind], market_tickers: command.tickers }
  return JSON.stringify({ id, cmd: 'update_subscription', params })
}
