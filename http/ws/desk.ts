// What a session and its tasks may ask of the hub: the house's views, the history, and a turn.
// An interface of its own, so that sessions do not know the hub.

import type { EngineView } from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Log } from '../../engine/log.ts'
import type { Publisher } from '../../engine/publisher.ts'
import type { Row } from './row.ts'
import type { TradeHistory } from './trade-history.ts'

/** Something that runs in slices. */
export interface Work {
  run(): 'idle' | 'more' | 'blocked'
}

export interface Desk {
  readonly engine: EngineView
  readonly publisher: Publisher
  readonly clock: Clock
  readonly log: Log
  readonly trades: TradeHistory
  /** Lets it run now, and again in later turns for as long as it wants more. */
  advance(work: Work): void
  /** From now on the row is told of updates of the markets it has sent. */
  openRow(row: Row): void
  closeRow(row: Row): void
  countLagging(): void
  countClosed(code: number): void
}
