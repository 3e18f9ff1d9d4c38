// Simulates changes that the venues make to their protocols without notice. A change edits serialized answers or
// frames. rest.ts and the sockets apply the active changes.

import { isRecord } from '../../json-record.ts'
import type { SimChange } from './model.ts'

export interface RestAnswer {
  readonly status: number
  readonly body: string
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
}

/** `ignores`: parameters that the server no longer reads. */
interface AnswerChange {
  readonly path: RegExp
  readonly ignores?: readonly string[]
  readonly answer: (answer: RestAnswer) => RestAnswer
}

interface FrameChange {
  readonly holding: RegExp
  readonly frames: (text: string) => readonly string[]
}

type Change = AnswerChange | FrameChange
type Row = Readonly<Record<string, unknown>>
type Edit = (row: Row) => Row

const without =
  (field: string): Edit =>
  ({ [field]: _removed, ...row }) =>
    row
const renamed =
  (field: string, name: string): Edit =>
  ({ [field]: value, ...row }) => ({ ...row, [name]: value })

function rows(path: RegExp, list: string, edit: Edit): Change {
  const inList = (name: string, value: unknown): unknown =>
    name === list && Array.isArray(value)
      ? value.map((row) => (isRecord(row) ? edit(row) : row))
      : value
  const answer = ({ body, ...head }: RestAnswer): RestAnswer => ({
    ...head,
    body: head.status === 200 ? JSON.stringify(JSON.parse(body, inList)) : body,
  })
  return { path, answer }
}

const gammaMarkets = (edit: Edit): Change => rows(GAMMA_MARKETS, 'markets', edit)
const kalshiMarkets = (edit: Edit): Change => rows(KALSHI_MARKETS, 'markets', edit)
const kalshiSeries = (edit: Edit): Change => rows(/^\/trade-api\/v2\/series$/, 'series', edit)

function instead(path: RegExp, status: number, body: string, contentType = JSON_TYPE): Change {
  return { path, answer: () => ({ status, body, contentType }) }
}

function objects(holding: RegExp, edit: Edit): Change {
  const frames = (text: string): readonly string[] => {
    const value: unknown = JSON.parse(text)
    const edited = (each: unknown) => (isRecord(each) ? edit(each) : each)
    return [JSON.stringify(Array.isArray(value) ? value.map(edited) : edited(value))]
  }
  return { holding, frames }
}

function besides(holding: RegExp, further: object): Change {
  return { holding, frames: (text) => [text, JSON.stringify(further)] }
}

const within =
  (field: string, edit: Edit): Edit =>
  (row) => {
    const inner = row[field]
    return isRecord(inner) ? { ...row, [field]: edit(inner) } : row
  }

/** Edits about a third of the rows, which are the same in every answer. */
const ofSome =
  (field: string, edit: Edit): Edit =>
  (row) => {
    const text = String(row[field])
    return text.charCodeAt(text.length - 1) % 3 === 0 ? edit(row) : row
  }

const NONE = (): readonly string[] => []
const JSON_TYPE = 'application/json; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'
const PAGE = '<!DOCTYPE html><html><body>We have moved.</body></html>'
const GAMMA_MARKETS = /^\/(events|markets)\/keyset$/
const KALSHI_MARKETS = /^\/trade-api\/v2\/(events|markets)$/
const PRICE_CHANGE = /"event_type":"price_change"/
const STREAM_TOKEN = /"asset_id":"(\d+)"/g
const hex = (token: string): string => `0x${BigInt(token).toString(16)}`
const inHex = (ids: unknown): unknown =>
  JSON.parse(JSON.stringify(ids ?? null).replaceAll(/\d+/g, hex))
const ACTIVITY = /"topic":"activity"/
const KALSHI_DELTA = /^\{"type":"orderbook_delta"/
const KALSHI_BOOK = /^\{"type":"orderbook_(snapshot|delta)"/
const KALSHI_TRADE = /^\{"type":"trade"/

/** Prices bids for No as Yes, which Kalshi announced as a future default. */
const flipped: Edit = within('msg', (body) => {
  const { no_dollars_fp: levels, side, price_dollars: price } = body
  const complement = (text: unknown) => (1 - Number(text)).toFixed(4)
  if (Array.isArray(levels)) {
    const complemented = levels.map(([at, size]) => [complement(at), size]).reverse()
    return { ...body, no_dollars_fp: complemented }
  }
  return side === 'no' ? { ...body, price_dollars: complement(price) } : body
})

const CHANGES: Readonly<Record<SimChange, Change>> = {
  question_gone: gammaMarkets(without('question')),
  condition_id_renamed: gammaMarkets(renamed('conditionId', 'condition')),
  state_as_text: gammaMarkets((row) => ({ ...row, active: `${row.active}` })),
  fee_rate_percent: gammaMarkets(
    within('feeSchedule', (schedule) => ({ ...schedule, rate: 100 * Number(schedule.rate) })),
  ),
  fee_schedule_gone: gammaMarkets(without('feeSchedule')),
  fees_enabled_gone: gammaMarkets(without('feesEnabled')),
  version_3: gammaMarkets(ofSome('id', (row) => ({ ...row, version: 'v3' }))),
  tick_size_gone: gammaMarkets(without('orderPriceMinTickSize')),
  resolution_word: gammaMarkets((row) => ({
    ...row,
    resolutionStatus: 'reviewed',
  })),
  trade_price_renamed: rows(/^\/v2\/trades$/, 'data', renamed('price', 'unit_price')),
  trades_gone: instead(/^\/v2\/trades$/, 410, '{"error":"use /v3/trades","code":"gone"}'),
  teams_html: instead(/^\/teams$/, 200, PAGE, HTML_TYPE),
  teams_refused: instead(
    /^\/teams$/,
    400,
    '{"error":"unknown parameter","code":"invalid_request","retryable":false,"parameter":"limit"}',
  ),
  books_empty: instead(/^\/books$/, 200, ''),
  lag_not_found: instead(/^\/v2\/status$/, 404, '{"error":"not found"}'),
  cursor_circles: {
    path: /^\/events\/keyset$/,
    ignores: ['after_cursor'],
    answer: ({ body, ...head }) => {
      const answer: unknown = JSON.parse(body)
      const looped = isRecord(answer) ? { ...answer, next_cursor: 'MA==' } : answer
      return { ...head, body: JSON.stringify(looped) }
    },
  },
  cursor_missing: {
    path: /^\/v2\/trades$/,
    answer: ({ body, ...head }) => ({
      ...head,
      body: JSON.stringify(
        JSON.parse(body, (name, value: unknown) =>
          name === 'pagination' && isRecord(value)
            ? { ...value, has_more: true, next_cursor: null }
            : value,
        ),
      ),
    }),
  },
  message_type_new: besides(PRICE_CHANGE, { event_type: 'depth_hint', levels: 3 }),
  message_type_renamed: objects(PRICE_CHANGE, (message) => ({
    ...message,
    event_type: 'price_change_v2',
  })),
  book_version_3: objects(/"event_type":"book"/, (book) => ({ ...book, version: 'v3' })),
  price_changes_renamed: objects(PRICE_CHANGE, renamed('price_changes', 'entries')),
  activity_topic_new: besides(ACTIVITY, { topic: 'activity_v2', type: 'fills', payload: {} }),
  activity_type_renamed: objects(/"type":"trades"/, (frame) => ({ ...frame, type: 'fills' })),
  activity_hash_renamed: objects(ACTIVITY, within('payload', renamed('transactionHash', 'tx'))),
  activity_unnamed: objects(ACTIVITY, ({ topic: _topic, type: _type, ...frame }) => frame),
  last_trade_hash_gone: objects(/"event_type":"last_trade_price"/, without('transaction_hash')),
  activity_refused: {
    holding: ACTIVITY,
    frames: () => ['{"statusCode":400,"body":{"message":"topic activity is not allowed"}}'],
  },
  price_ranges_gone: kalshiMarkets(without('price_ranges')),
  bid_as_number: kalshiMarkets((row) => ({
    ...row,
    yes_bid_dollars: Number(row.yes_bid_dollars),
  })),
  market_status_new: kalshiMarkets(
    ofSome('ticker', (row) => (row.status === 'active' ? { ...row, status: 'trading' } : row)),
  ),
  price_structure_new: kalshiMarkets((row) => ({
    ...row,
    price_level_structure: 'spiral_cent',
  })),
  fee_type_new: kalshiSeries((row) => ({
    ...row,
    fee_type: 'cubic',
  })),
  fee_multiplier_percent: kalshiSeries((row) => ({
    ...row,
    fee_multiplier: 100 * Number(row.fee_multiplier),
  })),
  fee_multiplier_renamed: kalshiSeries(renamed('fee_multiplier', 'multiplier')),
  series_gone: instead(/^\/trade-api\/v2\/series$/, 404, '{"error":{"code":"not_found"}}'),
  exchange_html: instead(/^\/trade-api\/v2\/exchange\/status$/, 200, PAGE, HTML_TYPE),
  stream_type_new: besides(KALSHI_TRADE, { type: 'market_mood', msg: { mood: 'calm' } }),
  lifecycle_change_new: besides(KALSHI_TRADE, {
    type: 'market_lifecycle_v2',
    sid: 0,
    msg: { market_ticker: 'KXNEW-26NOV-T1', event_type: 'reviewed' },
  }),
  error_code_new: besides(KALSHI_TRADE, { type: 'error', id: 0, msg: { code: 99, msg: 'slow' } }),
  trades_unacknowledged: { holding: /^\{"type":"subscribed".*"channel":"trade"/, frames: NONE },
  books_unacknowledged: { holding: /^\{"type":"subscribed".*"channel":"orderbook/, frames: NONE },
  delta_type_renamed: objects(KALSHI_DELTA, (frame) => ({ ...frame, type: 'book_delta' })),
  block_as_text: objects(
    KALSHI_TRADE,
    within('msg', (body) => ({ ...body, is_block_trade: `${body.is_block_trade}` })),
  ),
  block_renamed: objects(KALSHI_TRADE, within('msg', renamed('is_block_trade', 'is_block'))),
  trade_type_renamed: objects(KALSHI_TRADE, (frame) => ({ ...frame, type: 'fill' })),
  yes_price_flipped: objects(KALSHI_BOOK, flipped),
  change_detectors_gone: objects(PRICE_CHANGE, (message) => ({
    ...message,
    price_changes: [message.price_changes]
      .flat()
      .map((entry) =>
        isRecord(entry) ? without('hash')(without('best_bid')(without('best_ask')(entry))) : entry,
      ),
  })),
  token_ids_hex: gammaMarkets((row) => ({
    ...row,
    clobTokenIds: inHex(row.clobTokenIds),
    positionIds: inHex(row.positionIds),
  })),
  stream_tokens_hex: {
    holding: /"event_type":"book"/,
    frames: (text) => [
      text.replaceAll(STREAM_TOKEN, (_all, token) => `"asset_id":"${hex(token)}"`),
    ],
  },
  stream_tokens_unknown: {
    holding: PRICE_CHANGE,
    frames: (text) => [text.replaceAll(STREAM_TOKEN, (_all, token) => `"asset_id":"9${token}"`)],
  },
  delta_seq_gone: objects(KALSHI_DELTA, without('seq')),
  delta_renamed: objects(KALSHI_DELTA, within('msg', renamed('delta_fp', 'delta_count'))),
}

export class Changes {
  #ofAnswers: readonly AnswerChange[] = []
  #ofFrames: readonly FrameChange[] = []

  constructor(names: readonly SimChange[] = []) {
    this.set(names)
  }

  set(names: readonly SimChange[]): void {
    const changes = names.map((name) => CHANGES[name])
    this.#ofAnswers = changes.filter((change) => 'path' in change)
    this.#ofFrames = changes.filter((change) => 'holding' in change)
  }

  editRequest(path: string, query: URLSearchParams): void {
    for (const change of this.#ofAnswers) {
      if (change.path.test(path)) for (const name of change.ignores ?? []) query.delete(name)
    }
  }

  editAnswer(path: string, answer: RestAnswer): RestAnswer {
    let changed = answer
    for (const change of this.#ofAnswers) {
      if (change.path.test(path)) changed = change.answer(changed)
    }
    return changed
  }

  editFrame(frame: string | Buffer): readonly (string | Buffer)[] {
    if (this.#ofFrames.length === 0) return [frame]
    let texts: readonly string[] = [String(frame)]
    for (const { holding, frames } of this.#ofFrames) {
      texts = texts.flatMap((text) => (holding.test(text) ? frames(text) : [text]))
    }
    return texts
  }
}
