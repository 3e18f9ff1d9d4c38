// Loses uncommitted writes in a crash, like a killed process. A new outbox replays the committed writes.

import type { WebhookNumber } from '../../../engine/webhooks/webhook.ts'
import type { OutboxTable } from '../../../storage/contract/storage.ts'
import { MemoryOutbox } from '../reference/memory.ts'

type Write = (outbox: OutboxTable) => void

export class CrashingOutbox extends MemoryOutbox {
  #writes: Write[] = []
  #committedCount = 0

  commit(): void {
    this.#committedCount = this.#writes.length
  }

  get isCommitted(): boolean {
    return this.#committedCount === this.#writes.length
  }

  /** Returns the outbox that a new process finds after a crash. */
  crash(): CrashingOutbox {
    const later = new CrashingOutbox()
    for (const write of this.#writes.slice(0, this.#committedCount)) write(later)
    later.commit()
    return later
  }

  override create(...given: Parameters<OutboxTable['create']>) {
    this.#writes.push((outbox) => outbox.create(...given))
    return super.create(...given)
  }

  override update(...given: Parameters<OutboxTable['update']>): boolean {
    this.#writes.push((outbox) => outbox.update(...given))
    return super.update(...given)
  }

  override throttle(...given: Parameters<OutboxTable['throttle']>): boolean {
    this.#writes.push((outbox) => outbox.throttle(...given))
    return super.throttle(...given)
  }

  override putFailingSince(...given: Parameters<OutboxTable['putFailingSince']>): void {
    this.#writes.push((outbox) => outbox.putFailingSince(...given))
    super.putFailingSince(...given)
  }

  override putLastPrice(...given: Parameters<OutboxTable['putLastPrice']>): void {
    this.#writes.push((outbox) => outbox.putLastPrice(...given))
    super.putLastPrice(...given)
  }

  override removeLastPrice(...given: Parameters<OutboxTable['removeLastPrice']>): void {
    this.#writes.push((outbox) => outbox.removeLastPrice(...given))
    super.removeLastPrice(...given)
  }

  override prune(...given: Parameters<OutboxTable['prune']>): boolean {
    this.#writes.push((outbox) => outbox.prune(...given))
    return super.prune(...given)
  }

  override clear(webhook: WebhookNumber, rowsMax: number): boolean {
    this.#writes.push((outbox) => outbox.clear(webhook, rowsMax))
    return super.clear(webhook, rowsMax)
  }
}
