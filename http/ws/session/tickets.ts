// Tickets: what opens a stream in place of a key or token in its address, since addresses are written into logs. A ticket
// is good for one handshake within a minute, whatever that comes to. They are kept in memory alone: after a restart a
// client asks for another. Bounded for each account, so that none drops another's, and in all. Upholds WS29, WS30.

import { randomBytes } from 'node:crypto'
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
  /** The oldest first, so that the first are over first. */
  readonly #issued = new Map<string, Issued>()
  readonly #ofAccount = new Map<AccountId, Set<string>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A new ticket; of more than an account or all may have, the oldest is good for nothing any more. */
  issue(caller: Caller): string {
    const nowMs = this.#clock.monotonicMs()
    for (const [ticket, { endsAtMs }] of this.#issued) {
      if (endsAtMs > nowMs && this.#issued.size < ticketsMax) break
      this.#drop(ticket)
    }
    const { accountId } = caller
    const own = this.#ofAccount.get(accountId) ?? new Set()
    for (const ticket of own) {
      if (own.size < ticketsPerAccountMax) break
      this.#drop(ticket)
    }
    const ticket = randomBytes(24).toString('base64url')
    this.#issued.set(ticket, { caller, endsAtMs: nowMs + ticketSeconds * 1_000 })
    own.add(ticket)
    this.#ofAccount.set(accountId, own)
    return ticket
  }

  /**
   * Who asked for it, once; null for what is none, for the second time, after its minute, and when the credential that it
   * was asked for with has ended.
   */
  take(ticket: string, accounts: AccountsView): Caller | null {
    const issued = this.#drop(ticket)
    if (issued === undefined || issued.endsAtMs <= this.#clock.monotonicMs()) return null
    return accounts.isGood(issued.caller) ? issued.caller : null
  }

  #drop(ticket: string): Issued | undefined {
    const issued = this.#issued.get(ticket)
    if (issued === undefined) return undefined
    this.#issued.delete(ticket)
    const { accountId } = issued.caller
    const own = this.#ofAccount.get(accountId)
    own?.delete(ticket)
    if (own?.size === 0) this.#ofAccount.delete(accountId)
    return issued
  }
}
