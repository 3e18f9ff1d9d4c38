// Counts the open streams of each account over all gateways. Gateways broadcast their counts, so that a gateway can
// accept or reject a stream without the engine. If two gateways accept the last stream at the same moment, the gateway
// with the later name closes its newest stream.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { as, boolean, count, list, message, nested, record, text } from '../../engine/codec.ts'
import { type AccountId, accountId } from '../../engine/ids.ts'
import { type ConnectionSlot, ConnectionSlots } from '../accounts/connection-slots.ts'

const BEAT_MS = 1_000
/** A gateway without messages for this time counts as stopped. Its clients reconnect to other gateways. */
const EXPIRE_MS = 3_000
/** Gateways that missed a change receive all counts in every tenth message. */
const ALL_BEATS = 10
const ROWS_MAX = 10_000
const GATEWAYS_MAX = 1_000

interface OpenStreams {
  readonly account: AccountId
  readonly open: number
}

/** Counts of one gateway. `isAll`: an account without a row has no open stream there. */
interface Counts {
  readonly gateway: string
  readonly isAll: boolean
  readonly rows: readonly OpenStreams[]
}

const countsMessage = message<Counts>(
  record<Counts>({
    gateway: text,
    isAll: boolean,
    rows: list(nested(record<OpenStreams>({ account: as(text, accountId), open: count }))),
  }),
)

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
  readonly #limits = new Map<AccountId, number>()
  readonly #changed = new Set<AccountId>()
  #isPlanned = false
  #beats = 0
  readonly #stopTimer: StopTimer

  /** `onExcess`: called if this gateway must close streams. `most`: number of streams that may stay. */
  constructor(parts: {
    readonly clock: Clock
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

  receive(body: Uint8Array): void {
    const counts = countsMessage.decode(body)
    if (counts === null || counts.gateway === this.#name) return
    const { gateway: name, isAll, rows } = counts
    const isNew = !this.#others.has(name)
    if (isNew && this.#others.size >= GATEWAYS_MAX) return
    const other = this.#others.get(name) ?? { lastSeenAtMs: 0, open: new Map<AccountId, number>() }
    other.lastSeenAtMs = this.#clock.monotonicMs()
    this.#others.set(name, other)
    if (isNew) this.#announceAll()
    if (isAll) other.open.clear()
    for (const { account, open } of rows) {
      if (open === 0) other.open.delete(account)
      else other.open.set(account, open)
      this.#check(account)
    }
  }

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
      const rows = some.map((account) => ({ account, open: this.count(account) }))
      const counts = { gateway: this.#name, isAll: isAll && from === 0, rows }
      this.#announce(countsMessage.encode(counts))
      from += ROWS_MAX
    } while (from < accounts.length)
  }
}
