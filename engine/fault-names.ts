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
  'halt',
  'rtds_silent',
] as const

/** What the simulated venues get wrong on request. */
export type FaultName = (typeof FAULT_NAMES)[number]

/** Changes of the protocols that nobody announced, invented; what each does: simulator/changes.ts. */
export const CHANGE_NAMES = [
  'question_gone',
  'condition_id_renamed',
  'state_as_text',
  'version_3',
  'tick_size_gone',
  'resolution_word',
  'trade_price_renamed',
  'trades_gone',
  'teams_html',
  'teams_refused',
  'books_empty',
  'lag_not_found',
  'cursor_circles',
  'cursor_missing',
  'message_type_new',
  'message_type_renamed',
  'book_version_3',
  'price_changes_renamed',
  'activity_topic_new',
  'activity_type_renamed',
  'activity_hash_renamed',
  'activity_refused',
  'price_ranges_gone',
  'bid_as_number',
  'market_status_new',
  'price_structure_new',
  'fee_type_new',
  'fee_multiplier_percent',
  'fee_multiplier_renamed',
  'series_gone',
  'exchange_html',
  'stream_type_new',
  'lifecycle_change_new',
  'error_code_new',
  'trades_unacknowledged',
  'yes_price_flipped',
  'delta_renamed',
  'delta_type_renamed',
  'block_as_text',
  'block_renamed',
  'trade_type_renamed',
  'books_unacknowledged',
  'delta_seq_gone',
  'token_ids_hex',
  'stream_tokens_hex',
  'stream_tokens_unknown',
] as const

/** A change of the simulated venues that the code does not know. */
export type ChangeName = (typeof CHANGE_NAMES)[number]
