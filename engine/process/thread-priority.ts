import { setPriority } from 'node:os'

/**
 * Lowers the calling thread's priority below the serving thread's, by a nice value from 1 (a little) to 19.
 * Linux only, where it applies to the thread alone. Elsewhere it would apply to the whole process, so it
 * does nothing.
 */
export function lowerThreadPriority(nice: number): void {
  if (process.platform === 'linux') setPriority(0, nice)
}
