// A ticket opens a stream without a key or token in the URL, because URLs are logged. It is valid for one handshake
// within a minute, even if the handshake fails. A gateway announces the use of a ticket to the other gateways. Until
// the announcement arrives, the ticket can be used at two gateways.

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
  /** In order of issue and therefore of expiry. */
  readonly #issued = new Map<string, Issued>()
  readonly #ofAccount = new Map<AccountId, Set<string>>()

  /** `publish`: sends an update to the other gateways of a cluster. */
  constructor(clock: Clock, publish: (update: TicketMessage) => void = () => undefined) {
    this.#clock = clock
    this.#publish = publish
  }

  /** Beyond the limit per account or in total, deletes the oldest ticket. */
  issue(caller: Caller): string {
    const ticket = randomBytes(24).toString('base64url')
    const [id, leftMs] = [hashOf(ticket), ticketSeconds * 1_000]
    this.#put(id, caller, leftMs)
    this.#publish({ kind: 'issued', id, caller, leftMs })
    return ticket
  }

  /** Applies the issue or use of a ticket at another gateway. */
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
   * Uses up a ticket and returns its caller. Null if the ticket is unknown, used or expired, or if the credential that
   * requested it was revoked.
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
