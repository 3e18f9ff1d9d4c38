// The streams that each account has open, over all gateways: each tells the others what is open at it as it changes, and all of
// it to one that is new. So a gateway knows in the turn of a handshake whether a place is free, also while no engine leads.
// Two that let a stream in at the same moment find out a moment later: of the two the one whose name comes later ends its newest.

import { Packr } from 'msgpackr'
import type { Clock, StopTimer } from '../../engine/clock.ts'
import { isCount } from '../../engine/cluster/batch.ts'
import { type AccountId, accountId } from '../../engine/ids.ts'
import { type ConnectionSlot, ConnectionSlots } from '../accounts/connection-slots.ts'

/** How often a gateway says that it is there. */
const BEAT_MS = 1_000
/** A gateway that was not heard for so long has nothing open: its clients come to others. */
const EXPIRE_MS = 3_000
/** Beats between two times that all is told, for whoever missed a change. */
const ALL_BEATS = 10
/** Accounts in one message, some 400 KB. */
const ROWS_MAX = 10_000
const GATEWAYS_MAX = 1_000

const packr = new Packr({ useRecords: false, variableMapSize: true })

interface OtherGateway {
  lastSeenAtMs: number
  readonly open: Map<AccountId, number>
}

export class SharedConnectionSlots extends ConnectionSlots {
  readonly #clock: Clock
  readonly #name: string
  readonly #announce: (body: Uint8Array) => void
  readonly #onExcess: (account: AccountId, most: number) => void
  readonly #others = new Map<string, OtherGateway>()
  /** What each account may have, as its newest handshake said; of accounts with a stream here. */
  readonly #limits = new Map<AccountId, number>()
  readonly #changed = new Set<AccountId>()
  #isPlanned = false
  #beats = 0
  readonly #stopTimer: StopTimer

  /** `onBeyond`: the account may have so many streams at this gateway, which are fewer than it has. */
  constructor(parts: {
    readonly clock: Clock
    /** Of this gateway; no two have one. */
    readonly name: string
    readonly announce: (body: Uint8Array) => void
    readonly onExcess: (account: AccountId, most: number) => void
  }) {
    super()
    this.#clock = parts.clock
    this.#name = parts.name
    this.#announce = parts.announce
    this.#onExcess = parts.onExcess
    this.#stopTimer = parts.clock.every(BEAT_MS, () => this.#beat())
    this.#announceCounts([], true)
  }

  override take(account: AccountId, most: number): ConnectionSlot | null {
    if (this.count(account) + this.#countAtOthers(account) >= most) return null
    const slot = super.take(account, most)
    if (slot === null) return null
    this.#limits.set(account, most)
    this.#note(account)
    return {
      release: () => {
        slot.release()
        if (this.count(account) === 0) this.#limits.delete(account)
        this.#note(account)
      },
    }
  }

  /** Takes what another gateway told; anything else is left out. */
  receive(body: Uint8Array): void {
    const [name, isAll, rows] = readCounts(body)
    if (name === null || name === this.#name || rows === null) return
    const isNew = !this.#others.has(name)
    if (isNew && this.#others.size >= GATEWAYS_MAX) return
    const other = this.#others.get(name) ?? { lastSeenAtMs: 0, open: new Map<AccountId, number>() }
    other.lastSeenAtMs = this.#clock.monotonicMs()
    this.#others.set(name, other)
    if (isNew) this.#announceAll()
    if (isAll) other.open.clear()
    for (const [account, open] of rows) {
      if (open === 0) other.open.delete(account)
      else other.open.set(account, open)
      this.#check(account)
    }
  }

  /** Nothing is open here any more. */
  stop(): void {
    this.#stopTimer()
    this.#announceCounts([], true)
  }

  #check(account: AccountId): void {
    const most = this.#limits.get(account)
    if (most === undefined) return
    const left = Math.max(0, most - this.#countAtOthers(account, this.#name))
    if (this.count(account) > left) this.#onExcess(account, left)
  }

  /** At other gateways, or only at those whose name comes before this one. */
  #countAtOthers(account: AccountId, before: string | null = null): number {
    let count = 0
    for (const [name, { open }] of this.#others) {
      if (before === null || name < before) count += open.get(account) ?? 0
    }
    return count
  }

  #note(account: AccountId): void {
    this.#changed.add(account)
    if (this.#isPlanned) return
    this.#isPlanned = true
    // The handshakes of one turn are told together.
    this.#clock.soon(() => {
      this.#isPlanned = false
      this.#announceChanged()
    })
  }

  #beat(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [name, { lastSeenAtMs }] of this.#others) {
      if (nowMs - lastSeenAtMs >= EXPIRE_MS) this.#others.delete(name)
    }
    this.#beats += 1
    if (this.#beats % ALL_BEATS === 0) this.#announceAll()
    else this.#announceChanged()
  }

  #announceChanged(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#announceCounts(changed, false)
  }

  #announceAll(): void {
    this.#changed.clear()
    this.#announceCounts([...this.#limits.keys()], true)
  }

  #announceCounts(accounts: readonly AccountId[], isAll: boolean): void {
    let from = 0
    do {
      const some = accounts.slice(from, from + ROWS_MAX)
      const rows = some.map((account) => [account, this.count(account)])
      this.#announce(packr.pack([this.#name, isAll && from === 0, rows]))
      from += ROWS_MAX
    } while (from < accounts.length)
  }
}

type CountsMessage = readonly [
  string | null,
  boolean,
  readonly (readonly [AccountId, number])[] | null,
]

function readCounts(body: Uint8Array): CountsMessage {
  try {
    const value: unknown = packr.unpack(body)
    const [name, isAll, rows]: readonly unknown[] = Array.isArray(value) ? value : []
    if (typeof name !== 'string' || !Array.isArray(rows)) return [null, false, null]
    const read = rows.flatMap((row: unknown) => {
      const [account, open]: readonly unknown[] = Array.isArray(row) ? row : []
      return typeof account === 'string' && isCount(open)
        ? [[accountId(account), open] as const]
        : []
    })
    return [name, isAll === true, read]
  } catch {
    return [null, false, null]
  }
}
