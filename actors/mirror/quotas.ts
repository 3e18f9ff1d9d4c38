// The minute quotas of accounts over several gateways. The engine counts; a gateway says after every 100 ms what it let
// through, and may let through a share of what is left until it hears how much that is now: a share for each gateway that
// the account uses, so that all together stay within the quota.
// Not for: windows (quotas.ts in actors/accounts), addresses, which each gateway counts alone.

import { Packr } from 'msgpackr'
import type { Clock } from '../../engine/clock.ts'
import { isCount } from '../../engine/cluster/batch.ts'
import { type AccountId, accountId } from '../../engine/ids.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { type AccountQuotas, QUOTA_KINDS, type QuotaKind } from '../accounts/quotas.ts'
import type { Quota } from '../views.ts'

/** How often what was let through is reported. */
const REPORT_MS = 100
/** Before anything is heard of an account, and in no answer less than one request. */
const FIRST_SHARE = 4
/** Accounts that are remembered; full: those that were used longest ago are asked for anew. */
const ACCOUNTS_MAX = 100_000
/** A gateway counts as one that the account uses for so long. */
const USES_MS = 10_000
const WINDOW_SECONDS = 60

const packr = new Packr({ useRecords: false, variableMapSize: true })

/** What a gateway let through since its last report. */
interface Report {
  readonly kind: QuotaKind
  readonly account: AccountId
  readonly used: number
}

function kindOf(value: unknown): QuotaKind | null {
  return QUOTA_KINDS.find((kind) => kind === value) ?? null
}

/** The engine's side: counts, and says what is left and how much of it the asking gateway may use. */
export class QuotaOwner {
  readonly #accounts: Pick<Accounts, 'countRequests'>
  readonly #clock: Clock
  /** When each gateway last used an account; bounded by ACCOUNTS_MAX. */
  readonly #users = new Map<string, Map<string, number>>()

  constructor(accounts: Pick<Accounts, 'countRequests'>, clock: Clock) {
    this.#accounts = accounts
    this.#clock = clock
  }

  /** Answers a gateway's reports; throws for bytes that are none. */
  readonly answer = async (body: Uint8Array): Promise<Uint8Array> => {
    const value: unknown = packr.unpack(body)
    const [gateway, rows]: readonly unknown[] = Array.isArray(value) ? value : []
    if (typeof gateway !== 'string' || !Array.isArray(rows)) throw new Error('no reports of quotas')
    const answers = rows.flatMap((row: unknown) => {
      const [kindText, id, used]: readonly unknown[] = Array.isArray(row) ? row : []
      const kind = kindOf(kindText)
      if (kind === null || typeof id !== 'string' || !isCount(used)) return []
      const { limit, remaining, resetSeconds } = this.#accounts.countRequests(
        kind,
        accountId(id),
        used,
      )
      const share = Math.ceil(remaining / this.#usersOf(`${kind} ${id}`, gateway))
      return [[kind, id, share, limit, remaining, resetSeconds]]
    })
    return packr.pack(answers)
  }

  /** How many gateways the account uses, this one among them. */
  #usersOf(key: string, gateway: string): number {
    const nowMs = this.#clock.monotonicMs()
    let users = this.#users.get(key)
    if (users === undefined) {
      if (this.#users.size >= ACCOUNTS_MAX) this.#users.clear()
      users = new Map()
      this.#users.set(key, users)
    }
    users.set(gateway, nowMs)
    for (const [name, usedAtMs] of users) if (nowMs - usedAtMs > USES_MS) users.delete(name)
    return users.size
  }
}

/** An account's quota as a gateway knows it. */
interface Known {
  limit: number
  /** What may be let through until the next answer. */
  share: number
  remaining: number
  resetSeconds: number
  /** Let through and not reported, and reported and not answered. */
  unreported: number
  underWay: number
}

/** A gateway's side: lets through a share, and reports. */
export class QuotaShares {
  readonly #clock: Clock
  readonly #name: string
  readonly #ask: (body: Uint8Array) => Promise<Uint8Array>
  readonly #known = new Map<
    string,
    Known & { readonly kind: QuotaKind; readonly account: AccountId }
  >()
  readonly #due = new Set<string>()
  #isAsking = false
  #isPlanned = false
  readonly #stopTimer: () => void

  /** `name`: of this gateway; `ask`: the engine's `answer`. */
  constructor(parts: {
    clock: Clock
    name: string
    ask: (body: Uint8Array) => Promise<Uint8Array>
  }) {
    this.#clock = parts.clock
    this.#name = parts.name
    this.#ask = parts.ask
    this.#stopTimer = parts.clock.every(REPORT_MS, () => void this.#report())
  }

  stop(): void {
    this.#stopTimer()
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
    let known = this.#known.get(key)
    const isFresh = known === undefined
    if (known === undefined || nowSeconds >= known.resetSeconds) {
      if (this.#known.size >= ACCOUNTS_MAX) this.#forget()
      const share = Math.max(1, Math.floor(limit / FIRST_SHARE))
      const resetSeconds = Math.ceil(nowSeconds) + WINDOW_SECONDS
      const begun = { limit, share, remaining: limit, resetSeconds }
      // What was let through in the window before is reported to the new one: a few requests at most.
      const open = { unreported: known?.unreported ?? 0, underWay: known?.underWay ?? 0 }
      known = { kind, account, ...begun, ...open }
      this.#known.set(key, known)
    }
    const spent = known.unreported + known.underWay
    const isAllowed = amount === 0 || (limit > 0 && spent < known.share)
    if (amount > 0) {
      if (isAllowed) known.unreported += amount
      this.#due.add(key)
      // The first requests, and those that use up half of a share, do not wait for the timer.
      if (isFresh || !isAllowed || known.unreported * 2 >= known.share) this.#soon()
    }
    const remaining = Math.max(0, known.remaining - known.unreported - known.underWay)
    return { isAllowed, limit, remaining, resetSeconds: known.resetSeconds }
  }

  #soon(): void {
    if (this.#isPlanned || this.#isAsking) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      void this.#report()
    })
  }

  async #report(): Promise<void> {
    if (this.#isAsking || this.#due.size === 0) return
    this.#isAsking = true
    const reports: Report[] = []
    for (const key of this.#due) {
      const known = this.#known.get(key)
      if (known === undefined) continue
      const { kind, account, unreported: used } = known
      known.underWay = used
      known.unreported = 0
      reports.push({ kind, account, used })
    }
    this.#due.clear()
    try {
      this.#hear(
        await this.#ask(
          packr.pack([this.#name, reports.map(({ kind, account, used }) => [kind, account, used])]),
        ),
      )
    } catch {
      // Not heard: what was let through is reported again, so that a gateway that is cut off soon lets nothing through.
      for (const { kind, account, used } of reports) {
        const known = this.#known.get(`${kind} ${account}`)
        if (known === undefined) continue
        known.unreported += used
        this.#due.add(`${kind} ${account}`)
      }
    }
    for (const { kind, account } of reports) {
      const known = this.#known.get(`${kind} ${account}`)
      if (known !== undefined) known.underWay = 0
    }
    this.#isAsking = false
  }

  #hear(body: Uint8Array): void {
    const rows: unknown = packr.unpack(body)
    if (!Array.isArray(rows)) return
    for (const row of rows) {
      const [kind, id, share, limit, remaining, resetSeconds]: readonly unknown[] = Array.isArray(
        row,
      )
        ? row
        : []
      const known = this.#known.get(`${kind} ${id}`)
      if (known === undefined || !isCount(share) || !isCount(limit)) continue
      if (!isCount(remaining) || !isCount(resetSeconds)) continue
      Object.assign(known, { share, limit, remaining, resetSeconds })
    }
  }

  #forget(): void {
    for (const [key, { unreported, underWay }] of this.#known) {
      if (this.#known.size <= ACCOUNTS_MAX * 0.9) return
      if (unreported + underWay === 0) this.#known.delete(key)
    }
  }
}
