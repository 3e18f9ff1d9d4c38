// How eagerly a worker thread asks for a processor.

import { setPriority } from 'node:os'

/**
 * The calling thread steps back behind the serving one, by a nice value from 1 (a little) to 19. On Linux it is this
 * thread's alone; elsewhere it would be the whole process's, and nothing is done.
 */
export function lowerThreadPriority(nice: number): void {
  if (process.platform === 'linux') setPriority(0, nice)
}
