import type { AccountId } from '../../engine/ids.ts'

export interface ConnectionSlot {
  /** Repeated calls do nothing. */
  release(): void
}

export class ConnectionSlots {
  readonly #open = new Map<AccountId, number>()

  count(account: AccountId): number {
    return this.#open.get(account) ?? 0
  }

  /** Returns null if `most` slots are taken. */
  take(account: AccountId, most: number): ConnectionSlot | null {
    const open = this.count(account)
    if (open >= most) return null
    this.#open.set(account, open + 1)
    let isReleased = false
    return {
      release: () => {
        if (isReleased) return
        isReleased = true
        const left = this.count(account) - 1
        if (left > 0) this.#open.set(account, left)
        else this.#open.delete(account)
      },
    }
  }
}
