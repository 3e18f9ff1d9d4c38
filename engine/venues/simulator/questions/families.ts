// Every family of questions, in the order in which they fill the world; shares sum to 1. The last
// can fill whatever is left. Upholds SIMCAL4 and SIMCAL7.

import type { Family } from '../questions.ts'
import { COIN_ABOVE, COIN_RANGE, UP_OR_DOWN } from './crypto.ts'
import { RAIN, TEMPERATURE } from './weather.ts'

export const FAMILIES: readonly Family[] = [
  COIN_ABOVE,
  COIN_RANGE,
  TEMPERATURE,
  RAIN,
  UP_OR_DOWN,
]
