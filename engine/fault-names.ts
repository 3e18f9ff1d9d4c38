// The names of the simulated venues' faults, apart from the simulator, because the configuration
// must check them and may not import a subfolder.

export const FAULT_NAMES: readonly string[] = [
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
]
