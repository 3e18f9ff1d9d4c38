// Each process announces its state to all other processes every second.

import type { Clock, StopTimer } from '../clock.ts'
import { choice, count, message, orNull, record, text, where } from '../codec.ts'
import type { ClusterLog, LogSubscription } from './cluster-log.ts'

const ROLES = ['engine', 'standby', 'gateway'] as const
export type MemberRole = (typeof ROLES)[number]

export interface Member {
  readonly role: MemberRole
  readonly name: string
  /** Term of the lease that the process holds. Null: it does not lead. */
  readonly term: number | null
  /** Batches of the log that the process has not read. For the leader: batches that the log has not acknowledged. */
  readonly lagBatches: number
  /** Delay between the engine's receipt of the newest update and its processing in this process. */
  readonly lagMs: number
}

export interface MemberStatus extends Member {
  readonly lastSeenAgoMs: number
}

const HEARTBEAT_MS = 1_000
/** A member without an announcement for this time has ended or is unreachable. The last leader stays listed. */
export const memberTimeoutMs = 5_000
export const membersMax = 1_024
const NAME_MAX = 200

export const memberMessage = message<Member>(
  record<Member>({
    role: choice(ROLES),
    name: where(text, ({ length }) => length <= NAME_MAX),
    term: orNull(count),
    lagBatches: count,
    lagMs: count,
  }),
)

export class Members {
  readonly #clock: Clock
  readonly #seen = new Map<string, { readonly member: Member; readonly atMs: number }>()
  readonly #self: () => Member
  readonly #stops: readonly StopTimer[]
  readonly #subscription: LogSubscription
  #leader: { readonly member: Member; readonly atMs: number } | null = null

  constructor(parts: { log: ClusterLog; clock: Clock; self: () => Member }) {
    const { log, clock, self } = parts
    this.#clock = clock
    this.#self = self
    this.#subscription = log.subscribe('member', (bytes) => this.#receive(bytes))
    const announce = () => log.announce('member', memberMessage.encode(self()))
    announce()
    this.#stops = [clock.every(HEARTBEAT_MS, announce)]
  }

  /** This process and all members with recent announcements, by role (engines, standbys, gateways), then name. */
  all(): readonly MemberStatus[] {
    this.#removeSilent()
    const self = this.#self()
    const found: MemberStatus[] = [{ ...self, lastSeenAgoMs: 0 }]
    for (const [name, seen] of this.#seen) {
      if (name !== self.name) found.push({ ...seen.member, lastSeenAgoMs: this.#ageMs(seen) })
    }
    const rank = ({ role, name }: Member) => `${ROLES.indexOf(role)} ${name}`
    return found.sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
  }

  /** The member that announced the highest term, even if its last announcement is old. */
  get leader(): MemberStatus | null {
    const self = this.#self()
    if (self.term !== null && self.term >= (this.#leader?.member.term ?? 0)) {
      return { ...self, lastSeenAgoMs: 0 }
    }
    if (this.#leader === null) return null
    const { member, atMs } = this.#leader
    return { ...member, lastSeenAgoMs: Math.round(this.#clock.monotonicMs() - atMs) }
  }

  async stop(): Promise<void> {
    for (const stopTimer of this.#stops) stopTimer()
    await this.#subscription.stop()
  }

  #ageMs({ atMs }: { readonly atMs: number }): number {
    return Math.round(this.#clock.monotonicMs() - atMs)
  }

  #removeSilent(): void {
    for (const [name, seen] of this.#seen) {
      if (this.#ageMs(seen) > memberTimeoutMs) this.#seen.delete(name)
    }
  }

  #receive(bytes: Uint8Array): void {
    const member = memberMessage.decode(bytes)
    if (member === null) return
    if (this.#seen.size >= membersMax) this.#removeSilent()
    if (this.#seen.size >= membersMax && !this.#seen.has(member.name)) return
    const seen = { member, atMs: this.#clock.monotonicMs() }
    this.#seen.set(member.name, seen)
    if (member.term !== null && member.term >= (this.#leader?.member.term ?? 0)) this.#leader = seen
  }
}
