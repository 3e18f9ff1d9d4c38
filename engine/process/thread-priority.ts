import { setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread by a nice value from 1 (slightly) to 19. Does nothing except on Linux,
 * because on other systems it would affect the complete process.
 */
export function lowerThreadPriority(nice: number): void {
  if (process.platform === 'linux') setPriority(0, nice)
}
