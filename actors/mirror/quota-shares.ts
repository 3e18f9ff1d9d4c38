// The minute quotas of accounts over several gateways. The engine counts, and knows what each gateway may still let
// through (its share); a gateway says after every 100 ms what it let through and what it keeps. What was counted and all
// shares together stay within the quota, over the end of a window too; only first shares come on top, until reported.
// Each gateway also has a reserve for the running window, which it uses only when the engine does not answer. In each
// later window without an answer it lets through the limit divided by the gateways that there were, which the engine
// keeps back for a gateway without reports.

import { Packr } from 'msgpackr'
import { WINDOW_MS } from '../../engine/accounts/account.ts'
import type { Clock } from '../../engine/clock.ts'
import { isCount } from '../../engine/cluster/batch.ts'
import { type AccountId, accountId } from '../../engine/ids.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { type AccountQuotas, QUOTA_KINDS, type QuotaKind } from '../accounts/quotas.ts'
import type { Quota } from '../views.ts'

/** How often what was let through is reported. */
const REPORT_MS = 100
/** How often a gateway says that it is there, and gives back what it does not use. */
const IDLE_MS = 1_000
/** A gateway that heard nothing for so long is alone; the engine counts on it somewhat sooner. */
const ALONE_MS = 10_000
const MISSED_MS = 8_000
/** A gateway that was not heard for so long holds nothing more: most likely it has ended without a word. */
const EXPIRE_MS = ALONE_MS + WINDOW_MS + IDLE_MS
/** A gateway's first share, and what it keeps when idle: four gateways' together are a twentieth of the limit. */
const FIRST_SHARE = 80
/** Accounts that are remembered, by the engine of each gateway. */
const ACCOUNTS_MAX = 100_000
const GATEWAYS_MAX = 1_000

/** The row of an answer that has the number of gateways and the number of the answer. */
const GATEWAYS_ROW = 'gateways'
/** A row of an answer that replaces a reserve. */
const RESERVE_ROW = 'reserve'
/** All reserves of an account together are at most this part of what remains of its window: while it is used, and idle. */
const RESERVED_PART = 0.25
const RESERVED_PART_IDLE = 0.5
/** A gateway without an answer for so long uses its reserve and gives nothing back. */
const UNANSWERED_MS = 2_000

const packr = new Packr({ useRecords: false, variableMapSize: true })

/**
 * What a gateway let through since its last report, what it keeps of its share, whether it is in want of more, and what it
 * was told of the window: how many requests were left, and until when.
 */
interface Report {
  readonly kind: QuotaKind
  readonly account: AccountId
  readonly used: number
  readonly retained: number
  readonly isWanting: boolean
  readonly remaining: number
  readonly resetSeconds: number
  /** What it may use when the engine does not answer; null: it needs no reserve. */
  readonly reserve: number | null
}

function readReport(row: unknown): Report | null {
  const [kindText, id, used, retained, isWanting, ...rest]: readonly unknown[] = Array.isArray(row)
    ? row
    : []
  const [remaining, resetSeconds, reserve] = rest
  const kind = QUOTA_KINDS.find((kindName) => kindName === kindText)
  if (kind === undefined || typeof id !== 'string' || !isCount(used) || !isCount(retained))
    return null
  if (!isCount(remaining) || !isCount(resetSeconds)) return null
  const window = { remaining, resetSeconds, reserve: isCount(reserve) ? reserve : null }
  return { kind, account: accountId(id), used, retained, isWanting: isWanting === true, ...window }
}

/** What a gateway may let through of an account's window: now, and when the engine does not answer. */
interface Held {
  share: number
  reserve: number
}

/** A gateway as the engine knows it. */
interface Gateway {
  lastSeenAtMs: number
  readonly held: Map<string, Held>
  /** The number of the last answer. */
  answerNumber: number
  /** Reserves of the last answer, which replace those in `held` once the gateway has it. */
  answered: Map<string, number>
  /** Reserves that are larger than they should be by now. */
  readonly outdated: Set<string>
}

/** The engine's side: counts, and says how much the asking gateway may let through. */
export class QuotaServer {
  readonly #accounts: Pick<Accounts, 'countRequests'>
  readonly #clock: Clock
  readonly #gateways = new Map<string, Gateway>()
  /** What the engine before this one had counted, of windows that it began; none of them outlives the first minute. */
  readonly #before = new Map<string, { used: number; endsSeconds: number }>()
  readonly #firstEndSeconds: number
  /** The largest reserve of a gateway, by account; full: all are forgotten and count as 0. */
  readonly #reserves = new Map<string, number>()

  constructor(accounts: Pick<Accounts, 'countRequests'>, clock: Clock) {
    this.#accounts = accounts
    this.#clock = clock
    this.#firstEndSeconds = Math.floor((clock.nowMs() + WINDOW_MS) / 1_000)
  }

  /** Answers a gateway's reports; throws for bytes that are none. */
  readonly answer = async (body: Uint8Array): Promise<Uint8Array> => {
    const value: unknown = packr.unpack(body)
    const [name, rows, isLeaving, lastAnswer]: readonly unknown[] = Array.isArray(value)
      ? value
      : []
    if (typeof name !== 'string' || !Array.isArray(rows)) throw new Error('no reports of quotas')
    this.#removeExpired()
    const gateway = this.#gatewayOf(name)
    if (lastAnswer === gateway.answerNumber) {
      for (const [key, reserve] of gateway.answered) hold(gateway.held, key, { reserve })
    } else for (const key of gateway.answered.keys()) gateway.outdated.add(key)
    gateway.answered = new Map()
    gateway.answerNumber += 1
    const granted = rows.flatMap((row: unknown) => {
      const report = readReport(row)
      return report === null ? [] : [this.#grant(gateway, report)]
    })
    const reserves = this.#smallerReserves(gateway)
    if (isLeaving === true) this.#gateways.delete(name)
    const ends = [GATEWAYS_ROW, this.#gateways.size, gateway.answerNumber]
    return packr.pack([...granted, ...reserves, ends])
  }

  /** Rows for the reserves of a gateway that are too large by now and are in no other row. */
  #smallerReserves(gateway: Gateway): readonly unknown[] {
    const rows: unknown[] = []
    for (const key of gateway.outdated) {
      const reserve = gateway.held.get(key)?.reserve ?? 0
      const most = this.#reserves.get(key) ?? 0
      if (gateway.answered.has(key) || reserve <= most) continue
      gateway.answered.set(key, most)
      rows.push([RESERVE_ROW, key, most])
    }
    gateway.outdated.clear()
    return rows
  }

  #grant(gateway: Gateway, report: Report) {
    const { kind, account, used, retained, isWanting } = report
    const { held } = gateway
    const key = `${kind} ${account}`
    const quota = this.#accounts.countRequests(kind, account, used)
    held.delete(key)
    let users = 1
    const remaining = Math.max(0, quota.remaining - this.#usedBefore(key, quota.limit, report))
    let free = remaining
    const missedMs = this.#clock.monotonicMs() - MISSED_MS
    let lost = 0
    for (const { held: others, lastSeenAtMs } of this.#gateways.values()) {
      const isAlive = lastSeenAtMs > missedMs
      const alone = isAlive ? 0 : aloneShare(quota.limit, this.#gateways.size)
      const { share: now, reserve: later } = others.get(key) ?? NONE
      const other = Math.max(now + later, alone)
      if (other === 0) continue
      users += 1
      free -= other
      if (!isAlive) lost += other
    }
    free = Math.max(0, free)
    const reserve = this.#reserveOf(gateway, report, {
      key,
      free,
      users,
      remaining: remaining - lost,
    })
    const share = isWanting ? Math.ceil((free - reserve) / (users + 1)) : retained
    // A share or reserve that shrinks is still held until the gateway reports that it has the answer.
    const most = {
      share: Math.max(share, retained),
      reserve: Math.max(reserve, report.reserve ?? 0),
    }
    if (held.size >= ACCOUNTS_MAX) for (const oldest of held.keys()) if (held.delete(oldest)) break
    hold(held, key, most)
    return [kind, account, share, remaining, quota.resetSeconds, reserve]
  }

  /** The reserve of the gateway. Larger ones of others become outdated. */
  #reserveOf(
    gateway: Gateway,
    { retained, reserve, isWanting }: Report,
    {
      key,
      free,
      remaining,
      users,
    }: { key: string; free: number; remaining: number; users: number },
  ): number {
    const part = isWanting ? RESERVED_PART : RESERVED_PART_IDLE
    const most = Math.max(0, Math.floor((remaining * part) / users))
    if (this.#reserves.size >= ACCOUNTS_MAX && !this.#reserves.has(key)) this.#reserves.clear()
    this.#reserves.set(key, most)
    for (const other of this.#gateways.values()) {
      if (other !== gateway && (other.held.get(key)?.reserve ?? 0) > most) other.outdated.add(key)
    }
    const own =
      reserve === null ? 0 : Math.max(0, Math.min(most, Math.floor(free * part), free - retained))
    gateway.answered.set(key, own)
    return own
  }

  /** Requests of a window that the engine before this one began: as the gateway that heard it last was told. */
  #usedBefore(key: string, limit: number, { remaining, resetSeconds }: Report): number {
    const nowSeconds = this.#clock.nowMs() / 1_000
    if (nowSeconds >= this.#firstEndSeconds) {
      this.#before.clear()
      return 0
    }
    const before = this.#before.get(key)
    // A window of this engine ends later than any that was begun before.
    if (nowSeconds < resetSeconds && resetSeconds < this.#firstEndSeconds) {
      const used = Math.max(limit - remaining, before?.used ?? 0)
      this.#before.set(key, { used, endsSeconds: resetSeconds })
      return used
    }
    return before !== undefined && nowSeconds < before.endsSeconds ? before.used : 0
  }

  #gatewayOf(name: string): Gateway {
    const lastSeenAtMs = this.#clock.monotonicMs()
    const existing = this.#gateways.get(name)
    if (existing !== undefined) {
      existing.lastSeenAtMs = lastSeenAtMs
      return existing
    }
    if (this.#gateways.size >= GATEWAYS_MAX) throw new Error('too many gateways')
    // Not from 0: an answer of an engine before this one has another number.
    const answerNumber = this.#clock.nowMs()
    const changes = { answered: new Map<string, number>(), outdated: new Set<string>() }
    const gateway: Gateway = { lastSeenAtMs, held: new Map(), answerNumber, ...changes }
    this.#gateways.set(name, gateway)
    return gateway
  }

  #removeExpired(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [name, { lastSeenAtMs }] of this.#gateways) {
      if (nowMs - lastSeenAtMs >= EXPIRE_MS) this.#gateways.delete(name)
    }
  }
}

const NONE: Held = { share: 0, reserve: 0 }

/** Sets what a gateway holds; nothing is no entry. */
function hold(held: Map<string, Held>, key: string, change: Partial<Held>): void {
  const next = { ...(held.get(key) ?? NONE), ...change }
  if (next.share + next.reserve > 0) held.set(key, next)
  else held.delete(key)
}

/** What a gateway that does not hear the engine lets through of a window. */
const aloneShare = (limit: number, gateways: number): number => Math.floor(limit / gateways)

/** An account's quota as a gateway knows it. */
interface AccountShare {
  readonly kind: QuotaKind
  readonly account: AccountId
  /** What may still be let through, and the share of the last answer. */
  share: number
  granted: number
  /** Kept when idle. */
  first: number
  /** What it may let through of the running window when the engine does not answer; null: no longer needed. */
  reserve: number | null
  /** Let through and not reported, and reported and not answered. */
  unreported: number
  underWay: number
  usedAtMs: number
  /** As the engine last said. */
  remaining: number
  resetSeconds: number
}

/** A gateway's side: lets through a share, and reports. */
export class QuotaShares {
  readonly #clock: Clock
  readonly #name: string
  readonly #request: (body: Uint8Array) => Promise<Uint8Array>
  readonly #entries = new Map<string, AccountShare>()
  readonly #due = new Set<string>()
  #pendingReport: Promise<void> | null = null
  #isPlanned = false
  /** When the last report that was answered was sent. */
  #answeredAtMs: number
  #reportedAtMs = Number.NEGATIVE_INFINITY
  /** The number of the last answer; null: none. */
  #lastAnswer: number | null = null
  /** How many gateways there are, as the engine said last; more than there may be while it has not. */
  #gateways = FIRST_SHARE
  readonly #stopTimer: () => void

  /** `name`: of this gateway; `ask`: the engine's `answer`. */
  constructor(parts: {
    clock: Clock
    name: string
    request: (body: Uint8Array) => Promise<Uint8Array>
  }) {
    this.#clock = parts.clock
    this.#name = parts.name
    this.#request = parts.request
    this.#answeredAtMs = parts.clock.monotonicMs()
    this.#stopTimer = parts.clock.every(REPORT_MS, () => this.#tick())
  }

  /** Gives everything back, unless the engine is not heard. */
  async stop(): Promise<void> {
    this.#stopTimer()
    for (const [key, entry] of this.#entries) {
      if (entry.share > 0 || entry.unreported > 0) this.#due.add(key)
      entry.share = 0
      entry.reserve = null
    }
    await this.#pendingReport
    await this.#report(true)
  }

  get #isAlone(): boolean {
    return this.#clock.monotonicMs() - this.#answeredAtMs >= ALONE_MS
  }

  get #isUnanswered(): boolean {
    return this.#clock.monotonicMs() - this.#answeredAtMs >= UNANSWERED_MS
  }

  /**
   * Whether the engine keeps back this gateway's part of a window that begins at this second or later. Of a window that began
   * before, others may have had everything. An account that was not known here begins anew.
   */
  #isHeldBackFrom(seconds: number): boolean {
    if (!this.#isAlone) return false
    const unansweredMs = this.#clock.monotonicMs() - this.#answeredAtMs
    return seconds === 0 || seconds * 1_000 >= this.#clock.nowMs() - unansweredMs + MISSED_MS
  }

  /** The quotas of a kind. */
  of(kind: QuotaKind): AccountQuotas {
    return {
      take: (account, limit, amount = 1) => this.#take(kind, account, { limit, amount }),
      peek: (account, limit) => this.#take(kind, account, { limit, amount: 0 }),
    }
  }

  #take(
    kind: QuotaKind,
    account: AccountId,
    { limit, amount }: { limit: number; amount: number },
  ): Quota {
    const key = `${kind} ${account}`
    const nowSeconds = this.#clock.nowMs() / 1_000
    const fresh = this.#entries.get(key) === undefined
    const entry = this.#entries.get(key) ?? this.#begin(kind, account, limit)
    if (nowSeconds >= entry.resetSeconds) {
      const isHeldBack = this.#isHeldBackFrom(entry.resetSeconds)
      entry.remaining = limit
      entry.resetSeconds = Math.ceil(nowSeconds + WINDOW_MS / 1_000)
      if (isHeldBack) {
        entry.share = Math.max(entry.first, aloneShare(limit, this.#gateways))
        // What was let through of a window that is over counts for nothing any more.
        entry.unreported = 0
        entry.reserve = 0
      }
    }
    if (this.#isUnanswered && entry.reserve !== null) {
      entry.share += entry.reserve
      entry.reserve = 0
    }
    const isAllowed = amount === 0 || (limit > 0 && entry.share >= amount)
    if (amount > 0) {
      entry.usedAtMs = this.#clock.monotonicMs()
      entry.reserve ??= 0
      if (isAllowed) {
        entry.unreported += amount
        entry.share -= amount
      }
      this.#due.add(key)
      // The first requests, and those that use up half of a share, do not wait for the timer.
      if (fresh || (entry.granted > 0 && entry.share * 2 <= entry.granted)) this.#soon()
    }
    const left = Math.max(0, entry.remaining - entry.unreported - entry.underWay)
    return { isAllowed, limit, remaining: isAllowed ? left : 0, resetSeconds: entry.resetSeconds }
  }

  #begin(kind: QuotaKind, account: AccountId, limit: number): AccountShare {
    if (this.#entries.size >= ACCOUNTS_MAX) this.#evict()
    const first = Math.max(1, Math.floor(limit / FIRST_SHARE))
    const entry = {
      ...{ kind, account, share: first, granted: first, first, reserve: 0 },
      ...{ unreported: 0, underWay: 0 },
      ...{ usedAtMs: this.#clock.monotonicMs(), remaining: limit, resetSeconds: 0 },
    }
    this.#entries.set(`${kind} ${account}`, entry)
    return entry
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    const isTime = nowMs - this.#reportedAtMs >= IDLE_MS
    if (isTime && !this.#isUnanswered) this.#giveBack(nowMs)
    if (isTime || this.#due.size > 0) void this.#report()
  }

  /** What is above the first share after a second without use, all of it and the reserve after a window. */
  #giveBack(nowMs: number): void {
    for (const [key, entry] of this.#entries) {
      const idleMs = nowMs - entry.usedAtMs
      const retained = idleMs < IDLE_MS ? entry.share : idleMs < WINDOW_MS ? entry.first : 0
      const hasReserve = (entry.reserve ?? 0) > 0
      if (idleMs >= WINDOW_MS) entry.reserve = null
      if (entry.share > retained || (hasReserve && entry.reserve === null)) this.#due.add(key)
      else if (idleMs >= WINDOW_MS && isReported(entry) && !this.#due.has(key)) {
        this.#entries.delete(key)
      }
      entry.share = Math.min(entry.share, retained)
    }
  }

  #soon(): void {
    if (this.#isPlanned || this.#pendingReport !== null) return
    this.#isPlanned = true
    this.#clock.soon(() => {
      this.#isPlanned = false
      void this.#report()
    })
  }

  #report(isLeaving = false): Promise<void> {
    this.#pendingReport ??= this.#send(isLeaving).finally(() => {
      this.#pendingReport = null
    })
    return this.#pendingReport
  }

  async #send(isLeaving: boolean): Promise<void> {
    const sentAtMs = this.#clock.monotonicMs()
    this.#reportedAtMs = sentAtMs
    const sent = new Map<string, { entry: AccountShare; retained: number }>()
    const rows: unknown[] = []
    for (const key of this.#due) {
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      const { kind, account, unreported: used, share: retained } = entry
      const isWanting = sentAtMs - entry.usedAtMs < IDLE_MS
      const windowFields = [entry.remaining, entry.resetSeconds, entry.reserve]
      rows.push([kind, account, used, retained, isWanting, ...windowFields])
      entry.underWay = used
      entry.unreported = 0
      sent.set(key, { entry, retained })
    }
    this.#due.clear()
    try {
      const answer = await this.#request(
        packr.pack([this.#name, rows, isLeaving, this.#lastAnswer]),
      )
      if (this.#clock.monotonicMs() - sentAtMs < ALONE_MS) {
        this.#applyAnswer(answer, sent)
        this.#answeredAtMs = sentAtMs
      }
    } catch {
      // Not heard: what was let through is reported again, and nothing beyond the share is let through meanwhile.
      for (const [key, { entry }] of sent) {
        entry.unreported += entry.underWay
        this.#due.add(key)
      }
    }
    for (const { entry } of sent.values()) entry.underWay = 0
  }

  #applyAnswer(
    body: Uint8Array,
    sent: ReadonlyMap<string, { entry: AccountShare; retained: number }>,
  ): void {
    const rows: unknown = packr.unpack(body)
    if (!Array.isArray(rows)) return
    for (const row of rows) {
      const [kind, id, share, remaining, resetSeconds, reserve]: readonly unknown[] = Array.isArray(
        row,
      )
        ? row
        : []
      if (kind === GATEWAYS_ROW && isCount(id) && id > 0) {
        this.#gateways = id
        this.#lastAnswer = isCount(share) ? share : null
      }
      if (kind === RESERVE_ROW && typeof id === 'string' && isCount(share)) {
        const entry = this.#entries.get(id)
        if (entry?.reserve !== undefined && entry.reserve !== null)
          entry.reserve = Math.min(entry.reserve, share)
      }
      const report = sent.get(`${kind} ${id}`)
      if (report === undefined) continue
      if (!isCount(share) || !isCount(remaining) || !isCount(resetSeconds)) continue
      const { entry, retained } = report
      // What was let through since the report came out of what was kept.
      entry.share = share < retained ? Math.min(entry.share, share) : entry.share + share - retained
      Object.assign(entry, { granted: share, remaining, resetSeconds })
      if (entry.reserve !== null) entry.reserve = isCount(reserve) ? reserve : 0
    }
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= ACCOUNTS_MAX * 0.9) return
      if (isReported(entry)) this.#entries.delete(key)
    }
  }
}

function isReported({ unreported, underWay }: AccountShare): boolean {
  return unreported + underWay === 0
}
