// Reads every file of venue rows and frames, invented and recorded, and compares the results with the table below. A
// file that is new, missing or read differently fails the test.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { Fates } from '../support/rigs/book-paths.ts'
import {
  answersTo,
  CASE_READERS,
  dataTrades,
  fatesOf,
  gammaEvents,
  gammaMarkets,
  kalshiConnection,
  kalshiFrames,
  kalshiGrids,
  kalshiRows,
  polymarketExamples,
  polymarketFrames,
  polymarketOther,
  polymarketSession,
  type Reader,
} from '../support/rigs/fixture-readers.ts'
import {
  casesOf,
  INVENTED,
  type Origin,
  RECORDED,
  rowsOfFile,
  type Sources,
  testOnBoth,
} from '../support/worlds/recordings.ts'

const ROOTS: Sources = { invented: INVENTED, recorded: `${RECORDED}/fixtures` }
const FOLDERS: Readonly<Record<Origin, readonly string[]>> = {
  invented: ['polymarket', 'kalshi'],
  recorded: [
    ...['polymarket', 'polymarket-data-v2', 'polymarket-protocol-v2'],
    ...['kalshi', 'kalshi-golden', 'kalshi-2026-autumn'],
  ],
}

/** The reader of a file and its expected result ('': no row applies), or the reason why no reader uses it. */
type Expected = readonly [read: Reader, becomes: string] | string
type Table = Readonly<Record<string, Expected>>

/** Invented files without cases; the expected results of the others are stored in the files. */
const INVENTED_FILES: Table = {
  ...Object.fromEntries(
    Object.entries(CASE_READERS).map(([path, read]) => {
      const fates = casesOf(`${INVENTED}/${path}`).flatMap(({ becomes }) => becomes)
      return [path, [read, textOf(fatesOf(fates.map((fate) => ({ fate, value: null }))))] as const]
    }),
  ),
  'polymarket/book-stream-2025.jsonl': 'a stream: recorded-streams.process.test.ts',
  'polymarket/book-stream.jsonl': 'a stream: test/engine/venues/polymarket/fixtures.test.ts',
  'polymarket/data-positions.jsonl': [polymarketOther, 'rejected no_condition_id 7'],
  'kalshi/orderbook-stream.jsonl': 'a stream: recorded-streams.process.test.ts',
  'kalshi/candles.jsonl': [kalshiRows, ''],
}

const RECORDED_FILES: Table = {
  'polymarket/clob_book_response.json': [polymarketFrames, 'book mapped 1'],
  'polymarket/clob_fee_rate_response_nonzero.json': [polymarketOther, 'rejected no_condition_id 1'],
  'polymarket/clob_fee_rate_response_zero.json': [polymarketOther, 'rejected no_condition_id 1'],
  // Market rows of the CLOB, with `condition_id`. The catalogue reads Gamma's, with `conditionId`.
  'polymarket/clob_market_closed_binary_accepting_false.json': [
    polymarketOther,
    'rejected no_condition_id 1',
  ],
  'polymarket/clob_market_closed_binary_accepting_true.json': [
    polymarketOther,
    'rejected no_condition_id 1',
  ],
  // Positions name a market's id but not its question.
  'polymarket/data_api_positions_response.json': [polymarketOther, 'rejected no_question 4'],
  'polymarket/data_api_trades_response.json': [dataTrades, 'trade 3'],
  'polymarket/gamma-markets-2025-11-08.jsonl': [gammaMarkets, 'market open 179'],
  'polymarket/gamma-nba-events-2026-01.json.gz': [
    gammaEvents,
    'event 50, market open 520, market resolved 218',
  ],
  'polymarket/gamma_event.json': [gammaEvents, 'event 1, market open 2'],
  'polymarket/gamma_market.json': [gammaMarkets, 'market open 1'],
  'polymarket/gamma_market_closed_binary_accepting_false.json': [gammaMarkets, 'market resolved 1'],
  'polymarket/gamma_market_closed_binary_accepting_true.json': [gammaMarkets, 'market resolved 1'],
  // The market is closed, but its prices name no winner.
  'polymarket/gamma_market_closed_nonbinary_legacy.json': [gammaMarkets, 'market closed 1'],
  'polymarket/gamma_market_closed_zero_zero_legacy.json': [gammaMarkets, 'market closed 1'],
  'polymarket/gamma_market_sports_market_map_handicap.json': [gammaMarkets, 'market resolved 1'],
  'polymarket/gamma_market_sports_market_money_line.json': [gammaMarkets, 'market resolved 1'],
  'polymarket/gamma_tags.json': [polymarketOther, 'rejected no_condition_id 5'],
  'polymarket/search_response.json': [gammaEvents, 'event 1, market open 1'],
  // Frames without `event_type` come from tests of an old client. Only a book is recognised by its shape.
  'polymarket/ws_book_snapshot.json': [polymarketFrames, 'book mapped 1'],
  'polymarket/ws_last_trade.json': [polymarketFrames, 'rejected no_event_type 1'],
  'polymarket/ws_market_best_bid_ask_msg.json': [polymarketFrames, 'bestBidAsk ignored 1'],
  'polymarket/ws_market_book_msg.json': [polymarketFrames, 'book mapped 1'],
  'polymarket/ws_market_last_trade_msg.json': [polymarketFrames, 'lastTrade mapped 1'],
  'polymarket/ws_market_new_market_msg.json': [polymarketFrames, 'newMarket mapped 1'],
  'polymarket/ws_market_price_change_msg.json': [polymarketFrames, 'priceChange mapped 1'],
  'polymarket/ws_market_resolved_msg.json': [polymarketFrames, 'resolved mapped 1'],
  'polymarket/ws_market_tick_size_msg.json': [polymarketFrames, 'tickSize mapped 1'],
  'polymarket/ws_quotes.json': [polymarketFrames, 'rejected no_event_type 1'],
  'polymarket/ws_tick_size_change.json': [polymarketFrames, 'rejected no_event_type 1'],
  // Data API v2 and markets of protocol v2, September and October 2026.
  'polymarket-data-v2/README.md': 'where the files are from',
  'polymarket-data-v2/openapi.json':
    'the venue’s description of its Data API: simulator/polymarket',
  'polymarket-data-v2/activity.json': [answersTo('/v2/activity'), 'event buy 2, page, and more 1'],
  // Lists that the program never requests. Their rows must not become markets or trades.
  'polymarket-data-v2/combo_activity.json': [
    answersTo('/v2/activity/combos'),
    'rejected no_condition_id 2',
  ],
  'polymarket-data-v2/holders.json': [answersTo('/v2/holders'), 'rejected no_condition_id 2'],
  'polymarket-data-v2/open_interest.json': [answersTo('/v2/oi'), 'rejected no_condition_id 1'],
  'polymarket-data-v2/open_interest_global.json': [
    answersTo('/v2/oi'),
    'rejected no_condition_id 1',
  ],
  'polymarket-data-v2/positions.json': [answersTo('/v2/positions'), 'position 2'],
  'polymarket-data-v2/positions_closed.json': [answersTo('/v2/positions'), 'position closed 2'],
  'polymarket-data-v2/prices_history.json': [
    answersTo('/v2/prices-history'),
    'rejected no_condition_id 2',
  ],
  'polymarket-data-v2/resolutions.json': [
    answersTo('/v2/resolutions'),
    'rejected no_condition_id 1',
  ],
  'polymarket-data-v2/resolutions_pending.json': [
    answersTo('/v2/resolutions'),
    'rejected no_condition_id 2',
  ],
  'polymarket-data-v2/status.json': [answersTo('/v2/status'), 'status 1'],
  'polymarket-data-v2/trades.json': [answersTo('/v2/trades'), 'page, and more 1, trade 2'],
  'polymarket-data-v2/user_stats.json': [answersTo('/v2/user-stats'), 'known wallet 1'],
  'polymarket-data-v2/value.json': [answersTo('/v2/value'), 'rejected no_condition_id 1'],
  'polymarket-protocol-v2/README.md': 'where the files are from',
  'polymarket-protocol-v2/book-snapshot-v2.json': [polymarketExamples, 'book mapped 1'],
  'polymarket-protocol-v2/book-v1.json': [polymarketFrames, 'book mapped 1'],
  'polymarket-protocol-v2/book-v2.json': [polymarketFrames, 'book mapped 1'],
  'polymarket-protocol-v2/clob-markets-v1.json': [answersTo('/clob-markets'), 'fees quadratic 1'],
  'polymarket-protocol-v2/clob-markets-v2.json': [answersTo('/clob-markets'), 'fees quadratic 1'],
  'polymarket-protocol-v2/clob-markets-v2-62hex-not-found.json': [
    answersTo('/clob-markets'),
    'doubt shape 1',
  ],
  'polymarket-protocol-v2/data-v2-oi-v2.json': [answersTo('/v2/oi'), 'rejected no_condition_id 1'],
  'polymarket-protocol-v2/data-v2-prices-history-page1.json': [
    answersTo('/v2/prices-history'),
    'rejected no_condition_id 3',
  ],
  'polymarket-protocol-v2/data-v2-prices-history-page2.json': [
    answersTo('/v2/prices-history'),
    'rejected no_condition_id 3',
  ],
  'polymarket-protocol-v2/data-v2-resolutions-62hex-invalid.json': [
    answersTo('/v2/resolutions'),
    'doubt shape 1, drift data.answer /v2/resolutions no data 1',
  ],
  'polymarket-protocol-v2/data-v2-resolutions-v1-resolved.json': [
    answersTo('/v2/resolutions'),
    'rejected no_condition_id 1',
  ],
  'polymarket-protocol-v2/data-v2-resolutions-v2-active.json': [
    answersTo('/v2/resolutions'),
    'rejected no_condition_id 1',
  ],
  'polymarket-protocol-v2/data-v2-resolutions-v2-resolved.json': [
    answersTo('/v2/resolutions'),
    'rejected no_condition_id 1',
  ],
  'polymarket-protocol-v2/data-v2-trades-v1-page1.json': [
    answersTo('/v2/trades'),
    'page, and more 1, trade 2',
  ],
  'polymarket-protocol-v2/data-v2-trades-v1-page2.json': [
    answersTo('/v2/trades'),
    'page, and more 1, trade 2',
  ],
  'polymarket-protocol-v2/data-v2-trades-v2-empty.json': [answersTo('/v2/trades'), 'page 1'],
  'polymarket-protocol-v2/fee-reward-parameters.json':
    'rates: test/engine/venues/polymarket/catalog/fees.test.ts',
  'polymarket-protocol-v2/gamma-event-v2-docs-example.json': [
    gammaEvents,
    'event 1, rejected not_two_outcomes 1',
  ],
  'polymarket-protocol-v2/gamma-events-keyset-series10192.json': [
    gammaEvents,
    'event 2, market open 2',
  ],
  'polymarket-protocol-v2/gamma-market-v1-btc15m.json': [gammaMarkets, 'market open 1'],
  'polymarket-protocol-v2/gamma-market-v2-docs-example.json': [
    gammaMarkets,
    'rejected no_condition_id 1',
  ],
  'polymarket-protocol-v2/ws-market-v2-session.jsonl': [
    polymarketSession,
    'book mapped 1, fees quadratic 1, newMarket mapped 1, sign 5',
  ],
  'kalshi/candlesticks_mlb.json': [kalshiRows, ''],
  'kalshi/combo_priced_markets.json': [kalshiRows, 'market open 29, rejected combo 12'],
  'kalshi/events_mlb_props_nested.json': [kalshiRows, 'event 8, market open 259'],
  'kalshi/events_nfl_preseason.json': [kalshiRows, 'event 32, market open 64'],
  'kalshi/events_sports_nested.json': [kalshiRows, 'event 32, market open 245'],
  'kalshi/kalshi-nba-2026-01.json.gz': [kalshiRows, 'event 27'],
  'kalshi/market_single.json': [kalshiRows, 'book 1, market open 2'],
  'kalshi/markets_settled.json': [kalshiRows, 'market closed 2, market resolved 42'],
  'kalshi/openapi-3.13.yaml.gz': 'the venue’s description of its REST, no data',
  'kalshi/ws_orderbook_stream.json': [kalshiFrames, 'bookChange 245, bookSnapshot 12, reply 12'],
  // Not used: candles, metadata, exchange status, filters, scores, milestones, tags.
  'kalshi-golden/candlesticks_batch_response.json': [kalshiRows, ''],
  'kalshi-golden/event_metadata_response.json': [kalshiRows, ''],
  'kalshi-golden/event_single_response.json': [kalshiRows, 'event 1, market open 1'],
  'kalshi-golden/events_list_response.json': [kalshiRows, 'event 5'],
  'kalshi-golden/events_multivariate_list_response.json': [kalshiRows, 'rejected combo 5'],
  'kalshi-golden/exchange_status_response.json': [kalshiRows, ''],
  'kalshi-golden/filters_by_sport_response.json': [kalshiRows, ''],
  'kalshi-golden/live_data_milestone_response.json': [kalshiRows, ''],
  'kalshi-golden/market_single_response.json': [kalshiRows, 'rejected combo 1'],
  'kalshi-golden/markets_list_response.json': [kalshiRows, 'rejected combo 5'],
  'kalshi-golden/milestones_list_response.json': [kalshiRows, ''],
  'kalshi-golden/orderbook_response.json': [kalshiRows, 'book 1'],
  'kalshi-golden/series_candlesticks_response.json': [kalshiRows, ''],
  'kalshi-golden/series_single_response.json': [kalshiRows, 'series 1'],
  'kalshi-golden/tags_by_categories_response.json': [kalshiRows, ''],
  'kalshi-golden/trades_list_response.json': [kalshiRows, 'trade 5'],
  // Recorded July to October 2026.
  'kalshi-2026-autumn/README.md': 'where the files are from',
  'kalshi-2026-autumn/combo_lookup_orderbook.json': [kalshiRows, 'book 1'],
  'kalshi-2026-autumn/combo_lookup_response.json': [kalshiRows, 'rejected combo 1'],
  'kalshi-2026-autumn/combo_orderbook_with_yes_bid.json': [kalshiRows, 'book 1'],
  'kalshi-2026-autumn/market_tapered_deci_cent.json': [kalshiGrids, 'grid 1000 1'],
  'kalshi-2026-autumn/price_grids.json': [kalshiGrids, 'grid 10000 1'],
  'kalshi-2026-autumn/rfq_create_conflict_409.json': [kalshiRows, ''],
  'kalshi-2026-autumn/series_fee_fields.json': [kalshiRows, 'series 4'],
  'kalshi-2026-autumn/ws_control_frame_mutation.jsonl': [
    kalshiConnection,
    'bookChange 8, bookSnapshot 2, gap 2, reply 2',
  ],
  'kalshi-2026-autumn/ws_lifecycle_determined_settled.jsonl': [
    kalshiFrames,
    'marketSeen 2, marketStatus 2',
  ],
  'kalshi-2026-autumn/ws_trade_block_flag.json': [kalshiFrames, 'trade 1'],
}

const EXPECTED: Readonly<Record<Origin, Table>> = {
  invented: INVENTED_FILES,
  recorded: RECORDED_FILES,
}

testOnBoth('lists exactly the fixture files that exist', ROOTS, (_, root, origin) => {
  const files = FOLDERS[origin].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1)),
  )
  assert.deepEqual(files.sort(), Object.keys(EXPECTED[origin]).sort())
})

testOnBoth(
  'parses and maps every fixture row, or rejects it for the expected reason',
  ROOTS,
  async (t, root, origin) => {
    const sums = { rows: 0, taken: 0, refused: 0 }
    t.diagnostic(tableRow(['file', 'rows', 'read', 'refused', 'what they became']))
    for (const [path, expected] of Object.entries(EXPECTED[origin])) {
      if (typeof expected === 'string') t.diagnostic(tableRow([path, 0, 0, 0, expected]))
      if (typeof expected === 'string') continue
      const [read, becomes] = expected
      const became = await read(rowsOf(`${root}/${path}`, origin))
      const refused = became.filter(({ fate }) => fate.startsWith('rejected')).length
      const taken = became.length - refused
      sums.rows += became.length
      sums.taken += taken
      sums.refused += refused
      const text = textOf(fatesOf(became))
      t.diagnostic(tableRow([path, became.length, taken, refused, text || 'nothing of ours']))
      assert.equal(text, becomes, path)
    }
    t.diagnostic(tableRow(['all', sums.rows, sums.taken, sums.refused, '']))
  },
)

function textOf(fates: Fates): string {
  return [...fates]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([fate, count]) => `${fate} ${count}`)
    .join(', ')
}

function rowsOf(path: string, origin: Origin): readonly unknown[] {
  return origin === 'invented' ? casesOf(path).map(({ row }) => row) : rowsOfFile(path)
}

function tableRow(actorRefs: readonly (string | number)[]): string {
  const [file, rows, taken, refused, became] = actorRefs.map(String)
  return `${file?.padEnd(60)} ${rows?.padStart(5)} ${taken?.padStart(5)} ${refused?.padStart(7)}  ${became}`
}
