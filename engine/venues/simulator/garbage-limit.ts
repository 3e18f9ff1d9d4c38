import { setFlagsFromString } from 'node:v8'
import { isLarge, type WorldSize } from './questions/question.ts'

/**
 * In a large world, limits garbage to a fifth of the memory in use. Without the limit, garbage may exceed the memory in
 * use.
 */
export function limitGarbage(size: WorldSize): void {
  if (isLarge(size)) setFlagsFromString('--heap-growing-percent=20')
}
