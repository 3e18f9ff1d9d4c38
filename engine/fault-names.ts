// The names of the simulated venues' faults, apart from the simulator, because the configuration
// must check them and may not import a subfolder. What each does: simulator/faults.ts.

export const FAULT_NAMES = [
  'lost_delta',
  'silence',
  'disconnect',
  'duplicate',
  'reorder',
  'rate_limit',
  'rate_limit_retry_after',
  'html',
  'tick_size',
  'one_sided',
  'empty_book',
  'stale_cache',
  'v1_retired',
  'rtds_silent',
] as const

/** What the simulated venues get wrong on request. */
export type FaultName = (typeof FAULT_NAMES)[number]
