// Tickets: what opens a stream in place of a key or token in its address, since addresses are written into logs. A ticket
// is good for one handshake within a minute, whatever that comes to. They are kept in memory alone: after a restart a
// client asks for another. Bounded for each account, so that none drops another's, and in all. A gateway tells the others of
// each, by its hash, and that it was used: within that moment, a millisecond or so, it may be used at two.

import { createHash, randomBytes } from 'node:crypto'
import type { TicketMessage } from '../../../actors/mirror/tickets.ts'
import type { AccountsView, Caller } from '../../../actors/views.ts'
import type { Clock } from '../../../engine/clock.ts'
import type { AccountId } from '../../../engine/ids.ts'
import { ticketSeconds, ticketsMax, ticketsPerAccountMax } from '../../../engine/limits.ts'

interface Issued {
  readonly caller: Caller
  readonly endsAtMs: number
}

export class Tickets {
  readonly #clock: Clock
  readonly #publish: (update: TicketMessage) => void
  /** By hash, the oldest first, so that the first are over first. */
  readonly #issued = new Map<string, Issued>()
  readonly #ofAccount = new Map<AccountId, Set<string>>()

  /** `tell`: has the other gateways of a cluster know. */
  constructor(clock: Clock, publish: (update: TicketMessage) => void = () => undefined) {
    this.#clock = clock
    this.#publish = publish
  }

  /** A new ticket; of more than an account or all may have, the oldest is good for nothing any more. */
  issue(caller: Caller): string {
    const ticket = randomBytes(24).toString('base64url')
    const [id, leftMs] = [hashOf(ticket), ticketSeconds * 1_000]
    this.#put(id, caller, leftMs)
    this.#publish({ kind: 'issued', id, caller, leftMs })
    return ticket
  }

  /** Another gateway issued a ticket, or let somebody in with it. */
  applyUpdate(update: TicketMessage): void {
    if (update.kind === 'taken') this.#drop(update.id)
    else this.#put(update.id, update.caller, Math.min(update.leftMs, ticketSeconds * 1_000))
  }

  #put(id: string, caller: Caller, leftMs: number): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [oldestId, { endsAtMs }] of this.#issued) {
      if (endsAtMs > nowMs && this.#issued.size < ticketsMax) break
      this.#drop(oldestId)
    }
    const { accountId } = caller
    const own = this.#ofAccount.get(accountId) ?? new Set()
    for (const oldestId of own) {
      if (own.size < ticketsPerAccountMax) break
      this.#drop(oldestId)
    }
    this.#issued.set(id, { caller, endsAtMs: nowMs + leftMs })
    own.add(id)
    this.#ofAccount.set(accountId, own)
  }

  /**
   * Who asked for it, once; null for what is none, for the second time, after its minute, and when the credential that it
   * was asked for with has ended.
   */
  take(ticket: string, accounts: AccountsView): Caller | null {
    const id = hashOf(ticket)
    const issued = this.#drop(id)
    if (issued === undefined) return null
    this.#publish({ kind: 'taken', id })
    if (issued.endsAtMs <= this.#clock.monotonicMs()) return null
    return accounts.isValid(issued.caller) ? issued.caller : null
  }

  #drop(id: string): Issued | undefined {
    const issued = this.#issued.get(id)
    if (issued === undefined) return undefined
    this.#issued.delete(id)
    const { accountId } = issued.caller
    const own = this.#ofAccount.get(accountId)
    own?.delete(id)
    if (own?.size === 0) this.#ofAccount.delete(accountId)
    return issued
  }
}

const hashOf = (ticket: string): string => createHash('sha256').update(ticket).digest('base64url')
