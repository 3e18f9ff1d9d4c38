// What the programs of a bench's child processes share: commands come and reports go over the channel that `fork` gives.

/** Calls `take` with each command, and ends this process with the bench. */
export function takeCommands<Command>(take: (command: Command) => unknown): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', take)
}

/** Reports to the bench. After a `fail` every report is that failure: the bench may have awaited none at its time. */
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
