// The simulated venues change their APIs while an engine runs. With TEST_LONG=1 each change is also tested alone.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pause } from '../../engine/clock.ts'
import { CHANGE_NAMES, type ChangeName } from '../../engine/fault-names.ts'
import { silentLog } from '../../engine/process/log.ts'
import { startSimulator } from '../../engine/venues/simulator/simulator.ts'
import { StreamFollower } from '../support/clients/stream-follower.ts'
import { ManualClock } from '../support/fakes/manual-clock.ts'
import { waitOneTick } from '../support/fakes/real-time-step.ts'
import { compareBooks, compareTrades, read } from '../support/rigs/full-service.ts'
import { openWatchedEngine } from '../support/rigs/watched-engine.ts'

/** The drift entry of each change, as `kind=name`. */
const ENTRY_OF: Readonly<Record<ChangeName, string>> = {
  question_gone: 'gamma.market.field=question missing',
  condition_id_renamed: 'gamma.market.field=conditionId missing',
  state_as_text: 'gamma.market.field=active is text',
  fee_rate_percent: 'fees.unreadable=gamma.feeSchedule',
  fee_schedule_gone: 'gamma.market.field=feeSchedule missing',
  fees_enabled_gone: 'gamma.market.field=feesEnabled missing',
  version_3: 'gamma.version=v3',
  tick_size_gone: 'gamma.market.field=orderPriceMinTickSize missing',
  resolution_word: 'gamma.resolutionStatus=reviewed',
  trade_price_renamed: 'data.trades.field=price missing',
  trades_gone: 'http=/v2/trades status 410',
  teams_html: 'http=/teams html',
  teams_refused: 'http=/teams status 400 limit',
  books_empty: 'http=/books empty',
  lag_not_found: 'http=/v2/status status 404',
  cursor_circles: 'answer=catalogue cursor',
  cursor_missing: 'data.answer=/v2/trades more without a cursor',
  message_type_new: 'ws.event_type=depth_hint',
  message_type_renamed: 'ws.event_type=price_change_v2',
  book_version_3: 'ws.book_version=v3',
  price_changes_renamed: 'messages.refused=bad_price_change',
  activity_topic_new: 'rtds.type=activity_v2 fills',
  activity_type_renamed: 'rtds.type=activity fills',
  activity_hash_renamed: 'messages.refused=bad_activity',
  activity_unnamed: 'rtds.type=no topic and type',
  last_trade_hash_gone: 'ws.last_trade_price=no whole trade',
  activity_refused: 'rtds=subscription refused',
  price_ranges_gone: 'market.field=price_ranges missing',
  bid_as_number: 'market.field=yes_bid_dollars is number',
  market_status_new: 'market.status=trading',
  price_structure_new: 'market.price_level_structure=spiral_cent',
  fee_type_new: 'series.fee_type=cubic',
  fee_multiplier_percent: 'series.fee_multiplier=100',
  fee_multiplier_renamed: 'series.field=fees unreadable',
  series_gone: 'http=/trade-api/v2/series status 404',
  exchange_html: 'http=/trade-api/v2/exchange/status html',
  stream_type_new: 'ws.type=market_mood',
  lifecycle_change_new: 'ws.lifecycle=reviewed',
  error_code_new: 'ws.error=99',
  trades_unacknowledged: 'ws.unacknowledged=trade',
  yes_price_flipped: 'ws.use_yes_price=flipped',
  delta_renamed: 'messages.refused=delta_fields',
  delta_type_renamed: 'ws.type=book_delta',
  block_as_text: 'trade.is_block_trade=false',
  block_renamed: 'trade.field=is_block_trade missing',
  trade_type_renamed: 'ws.type=fill',
  books_unacknowledged: 'ws.unacknowledged=subscribe',
  change_detectors_gone: 'ws.price_change=best prices missing',
  token_ids_hex: 'gamma.clobTokenIds=hexadecimal',
  stream_tokens_hex: 'ws.asset_id=hexadecimal',
  stream_tokens_unknown: 'ws.asset_id=not subscribed',
  delta_seq_gone: 'messages.refused=delta_sequence',
}

/** Changes are in different rounds if one of them hides the other or if both end a source of trades. */
const ROUNDS: readonly (readonly ChangeName[])[] = [
  [
    ...(['question_gone', 'trade_price_renamed', 'cursor_missing', 'teams_html'] as const),
    ...(['message_type_new', 'message_type_renamed', 'activity_topic_new'] as const),
    'last_trade_hash_gone',
    ...(['price_ranges_gone', 'fee_type_new', 'stream_type_new', 'yes_price_flipped'] as const),
  ],
  [
    ...(['condition_id_renamed', 'trades_gone', 'teams_refused', 'book_version_3'] as const),
    ...(['activity_type_renamed', 'bid_as_number', 'market_status_new', 'series_gone'] as const),
    ...(['delta_type_renamed', 'trade_type_renamed', 'fees_enabled_gone'] as const),
  ],
  [
    ...(['state_as_text', 'version_3', 'cursor_circles', 'lag_not_found'] as const),
    ...(['price_changes_renamed', 'activity_hash_renamed', 'exchange_html'] as const),
    ...(['delta_renamed', 'trades_unacknowledged', 'block_renamed'] as const),
    ...(['fee_multiplier_renamed', 'fee_rate_percent'] as const),
  ],
  [
    ...([
      'tick_size_gone',
      'resolution_word',
      'books_empty',
      'activity_refused',
      'price_structure_new',
    ] as const),
    ...(['lifecycle_change_new', 'error_code_new', 'books_unacknowledged'] as const),
    ...(['block_as_text', 'fee_multiplier_percent', 'fee_schedule_gone'] as const),
  ],
  [
    'delta_seq_gone',
    'change_detectors_gone',
    'token_ids_hex',
    'stream_tokens_hex',
    'stream_tokens_unknown',
    'activity_unnamed',
  ],
]

const KNOWN_AFTER_MS = 3_000
const FLOW_MS = 10_000
const REPORTED_WITHIN_MS = 60_000
const SAMPLE_EVERY_MS = 1_000
const POLL_EVERY_MS = 3_000
/** Five minutes of simulated time. */
const POLLS_MAX = 100

interface Finding {
  readonly kind: string
  readonly name: string
  /** Unix time in seconds. */
  readonly first: number
}

/** The engine runs without any change first, to fill its data folder. */
async function openRounds() {
  const clock = new ManualClock()
  const simulator = await startSimulator({
    ...{ seed: 5, marketsPerVenue: 30, messagesPerSecond: 80, faults: [], clock, log: silentLog },
    ...{ basePort: 0, kalshiPublicKeyPem: null },
  })
  const { urls, kalshiKeyId: keyId, kalshiPrivateKeyPem: privateKeyPem } = simulator
  const kalshi = { restUrl: urls.kalshiRest, wsUrl: urls.kalshiWs, keyId, privateKeyPem }
  const dataDir = mkdtempSync(join(tmpdir(), 'twinbook-changes-'))
  const stopTime = waitOneTick(clock)
  const before = await openWatchedEngine({
    ...{ dataDir, addresses: { polymarket: urls, kalshi }, clock },
  })
  await pause(clock, KNOWN_AFTER_MS)
  await before.engine.stop()
  const end = async () => {
    stopTime()
    await simulator.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return {
    clock,
    simulator,
    place: { dataDir, addresses: { polymarket: urls, kalshi }, clock },
    end,
  }
}

/**
 * Runs an engine while the changes are active. Returns the entry that reported each change, and the seconds until the
 * report.
 */
async function live(
  { clock, simulator, place: position }: Awaited<ReturnType<typeof openRounds>>,
  changes: readonly ChangeName[],
): Promise<readonly string[]> {
  const { gamma } = simulator.urls
  await read(`${gamma}/sim/state?action=resume`)
  simulator.changes.set(changes)
  const startedMs = clock.nowMs()
  const { engine, apiKey } = await openWatchedEngine(position)
  const locations = { gamma, api: `http://127.0.0.1:${engine.port}`, key: apiKey }
  const follower = new StreamFollower(`ws://127.0.0.1:${engine.port}/v1/ws?api_key=${apiKey}`)
  try {
    await follower.follow('orderbook')
    await follower.follow('trades')
    const sinceMs = clock.nowMs()
    const named = await reportsOf(changes, locations.api, { clock, startedMs })
    await pause(clock, Math.max(0, sinceMs + FLOW_MS - clock.nowMs()))
    await read(`${gamma}/sim/state?action=pause`)
    await pause(clock, POLL_EVERY_MS)
    await checkData(locations, follower, { clock, sinceMs })
    return named
  } finally {
    follower.close()
    await engine.stop()
  }
}

/** Fails if a change is not reported within a minute. */
async function reportsOf(
  changes: readonly ChangeName[],
  api: string,
  { clock, startedMs }: { readonly clock: ManualClock; readonly startedMs: number },
): Promise<readonly string[]> {
  for (;;) {
    const { drift } = await read<{ drift: Record<string, Finding[]> }>(`${api}/health`)
    const all = Object.values(drift).flat()
    const found = changes.flatMap((change) => {
      const by = all.find(({ kind, name }) => `${kind}=${name}` === ENTRY_OF[change])
      const afterS = by === undefined ? 0 : by.first - Math.floor(startedMs / 1_000)
      return by === undefined ? [] : [`${change}: ${ENTRY_OF[change]} after ${afterS} s`]
    })
    if (found.length === changes.length) return found
    if (clock.nowMs() - startedMs > REPORTED_WITHIN_MS) {
      assert.deepEqual(found, changes, all.map(({ kind, name }) => `${kind}=${name}`).join(', '))
    }
    await pause(clock, SAMPLE_EVERY_MS)
  }
}

/** Books and trades served as live must be correct at once. All books and trades must be correct in the end. */
async function checkData(
  locations: Parameters<typeof compareBooks>[0],
  follower: StreamFollower,
  { clock, sinceMs }: { readonly clock: ManualClock; readonly sinceMs: number },
): Promise<void> {
  const check = async () => ({
    ...(await compareBooks(locations, follower)),
    ...(await compareTrades(locations, follower, sinceMs)),
  })
  const wrongIn = (found: Awaited<ReturnType<typeof check>>) => [
    ...[...found.booksWrong, ...found.rebuiltWrong, ...found.tradesMissing],
    ...[...found.tradesUnstreamed, ...found.tradesExtra, ...found.tradesDoubled],
  ]
  let found = await check()
  const isStale = (book: string) => book.endsWith(': stale')
  assert.deepEqual(
    found.booksWrong.filter((book) => !isStale(book)),
    [],
  )
  for (let checks = 1; wrongIn(found).length > 0 && checks < POLLS_MAX; checks += 1) {
    await pause(clock, POLL_EVERY_MS)
    found = await check()
  }
  assert.deepEqual(wrongIn(found).slice(0, 5), [])
  assert.deepEqual(follower.faults, [])
  assert.ok(found.truthTrades > 0 && found.booksCompared > 0)
}

test('reports each simulated venue API change within a minute, serves correct data, and delivers each trade once', async (t) => {
  const rounds = process.env.TEST_LONG === '1' ? CHANGE_NAMES.map((name) => [name]) : ROUNDS
  assert.deepEqual(rounds.flat().sort(), [...CHANGE_NAMES].sort())
  const venues = await openRounds()
  let count = 0
  try {
    for (const changes of rounds) {
      const named = await live(venues, changes)
      for (const line of named) t.diagnostic(line)
      count += named.length
    }
  } finally {
    await venues.end()
  }
  t.diagnostic(`${count} of ${CHANGE_NAMES.length} named`)
})
