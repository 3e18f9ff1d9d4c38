import { setFlagsFromString } from 'node:v8'
import { isLarge, type WorldSize } from './questions/question.ts'

/** Limits garbage to a fifth of the memory in use if the world is large. By default it exceeds the memory in use. */
export function limitGarbage(size: WorldSize): void {
  if (isLarge(size)) setFlagsFromString('--heap-growing-percent=20')
}
