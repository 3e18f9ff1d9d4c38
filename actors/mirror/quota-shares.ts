// Minute quotas of accounts over several gateways. The engine counts requests and grants each gateway a share of
// requests that it may admit. Every 100 ms a gateway reports its admitted requests and its remaining share. Counted
// requests and shares together stay within the quota, except for first shares (see FIRST_SHARE) before their report. If
// the engine does not answer, a gateway uses its reserve for the rest of the window. In later windows it admits the
// limit divided by the last known number of gateways. The engine holds that amount back for each gateway that sends no
// reports.

import { Packr } from 'msgpackr'
import { WINDOW_MS } from '../../engine/accounts/account.ts'
import type { Clock } from '../../engine/clock.ts'
import {
  as,
  boolean,
  choice,
  count,
  isCount,
  list,
  message,
  nested,
  orNull,
  record,
  text,
} from '../../engine/codec.ts'
import { type AccountId, accountId } from '../../engine/ids.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { type AccountQuotas, QUOTA_KINDS, type QuotaKind } from '../accounts/quotas.ts'
import type { Quota } from '../views.ts'

const REPORT_MS = 100
/** Interval of reports without admitted requests. They return unused shares. */
const IDLE_MS = 1_000
/**
 * A gateway without an answer for ALONE_MS counts itself as isolated. The engine counts a gateway as isolated after
 * MISSED_MS without a report.
 */
const ALONE_MS = 10_000
const MISSED_MS = 8_000
/** After this time without reports the engine removes a gateway, which has most likely crashed. */
const EXPIRE_MS = ALONE_MS + WINDOW_MS + IDLE_MS
/** Divisor of the limit. The quotient is a gateway's share before its first answer and when idle. */
const FIRST_SHARE = 80
const ACCOUNTS_MAX = 100_000
const GATEWAYS_MAX = 1_000

const GATEWAYS_ROW = 'gateways'
const RESERVE_ROW = 'reserve'
/**
 * Maximum part of a window's remaining requests that all reserves of an account take together: for an account in use,
 * and for an idle one.
 */
const RESERVED_PART = 0.25
const RESERVED_PART_IDLE = 0.5
/** After this time without an answer a gateway uses its reserve and returns no shares. */
const UNANSWERED_MS = 2_000

const packr = new Packr({ useRecords: false, variableMapSize: true })

/**
 * A gateway's report on one account. `used`: requests admitted since the last report. `retained`: the gateway's
 * remaining share. `remaining` and `resetSeconds` repeat the last answer.
 */
interface Report {
  readonly kind: QuotaKind
  readonly account: AccountId
  readonly used: number
  readonly retained: number
  readonly isWanting: boolean
  readonly remaining: number
  readonly resetSeconds: number
  readonly reserve: number | null
}

interface Reports {
  readonly gateway: string
  readonly reports: readonly Report[]
  readonly isLeaving: boolean
  readonly lastAnswer: number | null
}

const reportsMessage = message<Reports>(
  record<Reports>({
    gateway: text,
    reports: list(
      nested(
        record<Report>({
          kind: choice(QUOTA_KINDS),
          account: as(text, accountId),
          used: count,
          retained: count,
          isWanting: boolean,
          remaining: count,
          resetSeconds: count,
          reserve: orNull(count),
        }),
      ),
    ),
    isLeaving: boolean,
    lastAnswer: orNull(count),
  }),
)

/** Requests of a window that a gateway may admit: with answers of the engine, and without. */
interface Held {
  share: number
  reserve: number
}

interface Gateway {
  lastSeenAtMs: number
  readonly held: Map<string, Held>
  answerNumber: number
  /** Reserves of the last answer. They are effective when the gateway confirms that answer. */
  answered: Map<string, number>
  readonly outdated: Set<string>
}

/** Engine side: counts requests and grants shares. */
export class QuotaServer {
  readonly #accounts: Pick<Accounts, 'countRequests'>
  readonly #clock: Clock
  readonly #gateways = new Map<string, Gateway>()
  /**
   * Requests of windows that began under the previous engine, as reported by gateways. These windows end within a
   * minute.
   */
  readonly #before = new Map<string, { used: number; endsSeconds: number }>()
  readonly #firstEndSeconds: number
  /** Maximum reserve of a gateway by account. A missing entry means 0. Cleared when full. */
  readonly #reserves = new Map<string, number>()

  constructor(accounts: Pick<Accounts, 'countRequests'>, clock: Clock) {
    this.#accounts = accounts
    this.#clock = clock
    this.#firstEndSeconds = Math.floor((clock.nowMs() + WINDOW_MS) / 1_000)
  }

  /** Counts the reported requests and returns the answer. Throws for invalid bytes. */
  readonly answer = async (body: Uint8Array): Promise<Uint8Array> => {
    const decoded = reportsMessage.decode(body)
    if (decoded === null) throw new Error('the reports of quotas cannot be read')
    const { gateway: name, reports, isLeaving, lastAnswer } = decoded
    this.#removeExpired()
    const gateway = this.#gatewayOf(name)
    if (lastAnswer === gateway.answerNumber) {
      for (const [key, reserve] of gateway.answered) hold(gateway.held, key, { reserve })
    } else for (const key of gateway.answered.keys()) gateway.outdated.add(key)
    gateway.answered = new Map()
    gateway.answerNumber += 1
    const granted = reports.map((report) => this.#grant(gateway, report))
    const reserves = this.#smallerReserves(gateway)
    if (isLeaving) this.#gateways.delete(name)
    const ends = [GATEWAYS_ROW, this.#gateways.size, gateway.answerNumber]
    return packr.pack([...granted, ...reserves, ends])
  }

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
    // Until the gateway confirms the answer, it may use its old share and reserve, so the larger values count.
    const most = {
      share: Math.max(share, retained),
      reserve: Math.max(reserve, report.reserve ?? 0),
    }
    if (held.size >= ACCOUNTS_MAX) for (const oldest of held.keys()) if (held.delete(oldest)) break
    hold(held, key, most)
    return [kind, account, share, remaining, quota.resetSeconds, reserve]
  }

  /** Returns the gateway's reserve. Marks too large reserves at other gateways as outdated. */
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

  /** Requests that the previous engine counted in the current window, according to a gateway's report. */
  #usedBefore(key: string, limit: number, { remaining, resetSeconds }: Report): number {
    const nowSeconds = this.#clock.nowMs() / 1_000
    if (nowSeconds >= this.#firstEndSeconds) {
      this.#before.clear()
      return 0
    }
    const before = this.#before.get(key)
    // Windows of the previous engine end before all windows of this engine.
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
    // Numbers start at the current time, so that they differ from those of an earlier engine.
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

function hold(held: Map<string, Held>, key: string, change: Partial<Held>): void {
  const next = { ...(held.get(key) ?? NONE), ...change }
  if (next.share + next.reserve > 0) held.set(key, next)
  else held.delete(key)
}

const aloneShare = (limit: number, gateways: number): number => Math.floor(limit / gateways)

interface AccountShare {
  readonly kind: QuotaKind
  readonly account: AccountId
  /** `share`: requests that may still be admitted. `granted`: share according to the last answer. */
  share: number
  granted: number
  first: number
  /**
   * Requests of the current window that the gateway may admit without an answer of the engine. Null: no longer needed.
   */
  reserve: number | null
  /** Admitted requests that were not reported yet, and reported ones without an answer. */
  unreported: number
  underWay: number
  usedAtMs: number
  remaining: number
  resetSeconds: number
}

/** Gateway side: admits requests within a share and reports them. */
export class QuotaShares {
  readonly #clock: Clock
  readonly #name: string
  readonly #request: (body: Uint8Array) => Promise<Uint8Array>
  readonly #entries = new Map<string, AccountShare>()
  readonly #due = new Set<string>()
  #pendingReport: Promise<void> | null = null
  #isPlanned = false
  #answeredAtMs: number
  #reportedAtMs = Number.NEGATIVE_INFINITY
  #lastAnswer: number | null = null
  /** Number of gateways according to the last answer. The initial value is deliberately too large. */
  #gateways = FIRST_SHARE
  readonly #stopTimer: () => void

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
   * Whether the window that begins at `seconds` began after the engine missed this gateway's reports. The engine then
   * holds back the gateway's part of the window. 0: the account is new, so its window begins now.
   */
  #isHeldBackFrom(seconds: number): boolean {
    if (!this.#isAlone) return false
    const unansweredMs = this.#clock.monotonicMs() - this.#answeredAtMs
    return seconds === 0 || seconds * 1_000 >= this.#clock.nowMs() - unansweredMs + MISSED_MS
  }

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
      // Reports an account's first requests, and the use of half of a share, at once.
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

  /** Returns the amount above the first share after a second without use, and everything after a window without use. */
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
    const reports: Report[] = []
    for (const key of this.#due) {
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      const { unreported: used, share: retained } = entry
      reports.push({ ...entry, used, retained, isWanting: sentAtMs - entry.usedAtMs < IDLE_MS })
      entry.underWay = used
      entry.unreported = 0
      sent.set(key, { entry, retained })
    }
    this.#due.clear()
    try {
      const [gateway, lastAnswer] = [this.#name, this.#lastAnswer]
      const answer = await this.#request(
        reportsMessage.encode({ gateway, reports, isLeaving, lastAnswer }),
      )
      if (this.#clock.monotonicMs() - sentAtMs < ALONE_MS) {
        this.#applyAnswer(answer, sent)
        this.#answeredAtMs = sentAtMs
      }
    } catch {
      // The next report includes these requests again. The share does not grow until then.
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
