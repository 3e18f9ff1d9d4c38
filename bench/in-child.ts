// Shared code of the benches' child processes, which answer calls over the `fork` channel (child.ts).

import type { Answer, Api } from './child.ts'

interface Call {
  readonly id: number
  readonly name: string
  readonly args: never[]
}

/** Lets the bench call these functions. Ends this process when the bench ends. */
export function serve<Of extends Api>(api: Of): Of {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async ({ id, name, args }: Call) => {
    try {
      process.send?.({ id, value: await api[name]?.(...args) })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      process.send?.({ id, error: why } satisfies Omit<Answer, 'value'>)
    }
  })
  return api
}

/** Reports an error outside of a call. Every pending and later call of the bench fails. */
export function fail(why: string): void {
  process.send?.({ error: why } satisfies Omit<Answer, 'value'>)
}

/** User and system time of this process since its start, in microseconds. */
export function processorMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
