// Shared by the child processes of benches: commands and reports over the `fork` channel.

/** Calls `take` with each command; ends this process when the bench ends. */
export function takeCommands<Command>(take: (command: Command) => unknown): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', take)
}

/**
 * Sends reports to the bench. After a `fail` every report is that failure, since the bench may not have awaited it
 * when it happened.
 */
export class Reports<Report extends { readonly kind: string }> {
  #failure: { readonly kind: 'failed'; readonly why: string } | null = null

  readonly report = (message: Report): void => void process.send?.(this.#failure ?? message)

  readonly fail = (why: string): void => {
    this.#failure ??= { kind: 'failed', why }
    process.send?.(this.#failure)
  }
}

/** User and system time of this process since its start, in microseconds. */
export function processorMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
