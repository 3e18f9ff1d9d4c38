// Every family of questions, in the order in which they fill the world; shares sum to 1. The last
// can fill whatever is left. Upholds SIMCAL4 and SIMCAL7.

import { COIN_ABOVE, COIN_RANGE, UP_OR_DOWN } from './crypto.ts'
import { BOX_OFFICE, CHART, RELEASE, SCORE } from './culture.ts'
import { MONTHLY_FIGURE, RATE_DECISION, WEEKLY_FIGURE } from './economics.ts'
import { GAMES } from './games.ts'
import { GOLF } from './golf.ts'
import { APPROVAL, BY_DATE, ELECTION, MENTION } from './politics.ts'
import type { Family } from './question.ts'
import { RAIN, TEMPERATURE } from './weather.ts'

export const FAMILIES: readonly Family[] = [
  UP_OR_DOWN,
  COIN_RANGE,
  COIN_ABOVE,
  ...GAMES,
  GOLF,
  TEMPERATURE,
  RAIN,
  RATE_DECISION,
  MONTHLY_FIGURE,
  WEEKLY_FIGURE,
  ELECTION,
  APPROVAL,
  MENTION,
  CHART,
  SCORE,
  BOX_OFFICE,
  BY_DATE,
  RELEASE,
]
