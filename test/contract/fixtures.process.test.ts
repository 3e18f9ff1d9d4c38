// Every file of the venues' rows and frames, invented and recorded, and what its rows become, held
// against what is written here: a file that is new, gone or read otherwise fails the test.
// Not for: values of single rows (test/engine/venues/*/fixtures.test.ts), streams (recorded-streams.process.test.ts).

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { Fates } from '../support/rigs/book-paths.ts'
import {
  CASE_READERS,
  dataTrades,
  fatesOf,
  gammaEvents,
  gammaMarkets,
  kalshiConnection,
  kalshiFrames,
  kalshiGrids,
  kalshiRows,
  polymarketFrames,
  polymarketOther,
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
  recorded: ['polymarket', 'kalshi', 'kalshi-golden', 'kalshi-2026-autumn'],
}

/** A reader and what it must make of the file ('': no row in it is of ours); or why none wants it. */
type Expected = readonly [read: Reader, becomes: string] | string
type Table = Readonly<Record<string, Expected>>

/** Invented files that hold no cases; what the others become is written in them. */
const INVENTED_FILES: Table = {
  ...Object.fromEntries(
    Object.entries(CASE_READERS).map(([path, read]) => {
      const fates = casesOf(`${INVENTED}/${path}`).flatMap(({ becomes }) => becomes)
      return [path, [read, textOf(fatesOf(fates.map((fate) => ({ fate, value: null }))))] as const]
    }),
  ),
  'polymarket/book-stream-2025.jsonl': 'a stream: recorded-streams.process.test.ts',
  'polymarket/book-stream.jsonl': 'a stream: test/engine/venues/polymarket/fixtures.test.ts',
  'polymarket/data-positions.jsonl': [polymarketOther, 'rejected no_condition_id 6'],
  'kalshi/orderbook-stream.jsonl': 'a stream: recorded-streams.process.test.ts',
  'kalshi/candles.jsonl': [kalshiRows, ''],
}

const RECORDED_FILES: Table = {
  'polymarket/clob_book_response.json': [polymarketFrames, 'book mapped 1'],
  'polymarket/clob_fee_rate_response_nonzero.json': [polymarketOther, 'rejected no_condition_id 1'],
  'polymarket/clob_fee_rate_response_zero.json': [polymarketOther, 'rejected no_condition_id 1'],
  // The CLOB's own market rows: `condition_id`. The catalogue reads Gamma's, with `conditionId`.
  'polymarket/clob_market_closed_binary_accepting_false.json': [
    polymarketOther,
    'rejected no_condition_id 1',
  ],
  'polymarket/clob_market_closed_binary_accepting_true.json': [
    polymarketOther,
    'rejected no_condition_id 1',
  ],
  // Positions name a market's id but hold no question.
  'polymarket/data_api_positions_response.json': [polymarketOther, 'rejected no_question 4'],
  'polymarket/data_api_trades_response.json': [dataTrades, 'trade 3'],
  'polymarket/gamma-markets-2025-11-08.jsonl': [gammaMarkets, 'market closed 4, market open 175'],
  'polymarket/gamma-nba-events-2026-01.json.gz': [
    gammaEvents,
    'event 50, market closed 10, market open 510, market resolved 218',
  ],
  'polymarket/gamma_event.json': [gammaEvents, 'event 1, market open 2'],
  'polymarket/gamma_market.json': [gammaMarkets, 'market open 1'],
  'polymarket/gamma_market_closed_binary_accepting_false.json': [gammaMarkets, 'market resolved 1'],
  'polymarket/gamma_market_closed_binary_accepting_true.json': [gammaMarkets, 'market resolved 1'],
  // Closed, and its prices name no winner.
  'polymarket/gamma_market_closed_nonbinary_legacy.json': [gammaMarkets, 'market closed 1'],
  'polymarket/gamma_market_closed_zero_zero_legacy.json': [gammaMarkets, 'market closed 1'],
  'polymarket/gamma_market_sports_market_map_handicap.json': [gammaMarkets, 'market resolved 1'],
  'polymarket/gamma_market_sports_market_money_line.json': [gammaMarkets, 'market resolved 1'],
  'polymarket/gamma_tags.json': [polymarketOther, 'rejected no_condition_id 5'],
  'polymarket/search_response.json': [gammaEvents, 'event 1, market open 1'],
  // The frames without `event_type` are of an old client's tests; a book alone is known by its shape.
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
  // Nothing of ours in them: candles, metadata, exchange status, filters, scores, milestones, tags.
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

testOnBoth(
  '[REC14] every file is known here, and none that is known is missing',
  ROOTS,
  (_, root, origin) => {
    const files = FOLDERS[origin].flatMap((folder) =>
      readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1)),
    )
    assert.deepEqual(files.sort(), Object.keys(EXPECTED[origin]).sort())
  },
)

testOnBoth(
  '[REC15] every row parses and maps, or is refused for the right reason',
  ROOTS,
  (t, root, origin) => {
    const sums = { rows: 0, taken: 0, refused: 0 }
    t.diagnostic(tableRow(['file', 'rows', 'read', 'refused', 'what they became']))
    for (const [path, expected] of Object.entries(EXPECTED[origin])) {
      if (typeof expected === 'string') t.diagnostic(tableRow([path, 0, 0, 0, expected]))
      if (typeof expected === 'string') continue
      const [read, becomes] = expected
      const became = read(rowsOf(`${root}/${path}`, origin))
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

function tableRow(cells: readonly (string | number)[]): string {
  const [file, rows, taken, refused, became] = cells.map(String)
  return `${file?.padEnd(60)} ${rows?.padStart(5)} ${taken?.padStart(5)} ${refused?.padStart(7)}  ${became}`
}
