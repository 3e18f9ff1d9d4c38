// Wallet routes of the venue that reports wallets: paths, parameters and documents.

import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import type { CatalogView } from '../../actors/views.ts'
import { WALLET_WINDOWS } from '../../actors/wallets/views.ts'
import {
  nativeMarketId,
  type VenueKey,
  type WalletAddress,
  walletAddress,
} from '../../engine/ids.ts'
import { answerPage, pageRefusals } from '../pages/lists.ts'
import { ListCursors } from '../request/cursor.ts'
import { type Answer, failure, json } from '../request/reply.ts'
import { type Route, type RouteDocument, route } from '../request/route.ts'
import { choice, parameters } from '../schemas.ts'
import { walletActivitySchema, walletTradesSchema } from '../wallets/events.ts'
import { WalletPins } from '../wallets/pins.ts'
import { walletPositionsSchema } from '../wallets/positions.ts'
import {
  PNL_POINTS_MAX,
  pnlSchema,
  profileSchema,
  rankedRecord,
  rankingSchema,
  WALLET_ORDERS,
} from '../wallets/records.ts'
import {
  ActivityQuery,
  activityAnswer,
  INCOMPLETE_REASONS,
  PnlQuery,
  PositionsQuery,
  pnlAnswer,
  positionsAnswer,
  profileAnswer,
  TradesQuery,
  tradesAnswer,
  type WalletParts,
  type WalletRequest,
} from '../wallets/wallet-answers.ts'

const DATA_COMPLETE = {
  'X-Data-Complete':
    '`true`: the answer contains everything that the venue reported up to `X-Data-As-Of`, a few seconds ago at most; ' +
    '`false`: something may be missing, or sums may be wrong, and `X-Data-Incomplete` says why',
  'X-Data-As-Of':
    'when the venue was last queried, Unix milliseconds. Later events are not in the answer, except fills from the ' +
    'stream. Absent for a wallet that has not traded',
  'X-Data-Incomplete':
    'why the answer may not be complete, `code: sentence`, separated by `; `, and how many events the venue lacks. ' +
    `${Object.entries(INCOMPLETE_REASONS)
      .map(([code, text]) => `\`${code}\`: ${text}`)
      .join('. ')}. Absent from complete answers`,
}
const ADDRESS = Type.Object({ address: parameters.address() })

const RankingQuery = Type.Object({
  window: choice(WALLET_WINDOWS, { default: 'all_time' }),
  sort_by: choice(WALLET_ORDERS, { default: 'realized_pnl' }),
  limit: parameters.limit(200, 50),
  offset: parameters.offset(),
  cursor: parameters.cursor(),
})

/** `GET /v1/wallets`, `/v1/wallets/{address}` and what is under it. */
export function walletRoutes(parts: WalletParts): readonly Route[] {
  const { clock } = parts
  const all = { ...parts, cursors: new ListCursors(), pins: new WalletPins(clock) }
  const refusals = { 503: 'the venue does not answer and nothing is known yet, or too many wait' }
  const rangeRefusal = 'start after end, or a foreign cursor'
  const tooFew = `${refusals[503]}; or too few rows pass the filters to find a page in time`
  return [
    ranking(parts),
    ofWallet(all, '', Type.Object({}), profileAnswer, {
      summary: 'Who a wallet is, and its figures',
      description:
        'Wins and losses are markets closed for the wallet with a realised profit or loss after fees. ' +
        'Windows end now. Fees and income (rewards, rebates, yield) are no part of profits but of the ' +
        'net ones. Fees that were withheld in contracts, before 28 April 2026, count at the price of their fill.',
      answer: profileSchema,
      refusals: { ...refusals, 404: 'the wallet has not traded' },
    }),
    ofWallet(all, '/trades', TradesQuery, tradesAnswer, {
      summary: 'The trades of a wallet',
      description:
        '`price` and `side` are quoted for the first outcome. `outcome` is the one that the wallet traded. `side` is ' +
        'what the wallet did, as taker or maker (`role`, null where the venue does not say). `taker_side` is ' +
        'what the taker did with that outcome: null where `role` is null.',
      answer: walletTradesSchema,
      refusals: { 400: rangeRefusal, 503: tooFew },
    }),
    ofWallet(all, '/positions', PositionsQuery, positionsAnswer, {
      summary: 'The positions of a wallet',
      description:
        'Profits by weighted average cost. `initial_value` is what is held cost, ' +
        '`percent_pnl` the unrealised profit in hundredths of it. A loser of a resolved market is ' +
        'closed, also before it is redeemed. `summary` is of the whole wallet, whatever the filters. ' +
        'Pages keep the order of the first one, with figures as of now.',
      answer: walletPositionsSchema,
      refusals: { ...refusals, 400: 'a cursor of another list or an expired one' },
    }),
    ofWallet(all, '/pnl', PnlQuery, pnlAnswer, {
      summary: 'Profits of a wallet, in all and over time',
      description:
        'Realised figures, fees and income are those of the range, unrealised profit and wins those of ' +
        'now. The series is before fees. ' +
        `Granularity \`all\` has a point for each moment at which something was realised, at most ` +
        `${PNL_POINTS_MAX.toLocaleString('en')}: of more, evenly chosen ones, the last among them, ` +
        'each with what was realised since the one before. `pnl_to_date` counts from the beginning ' +
        'of the wallet.',
      answer: pnlSchema,
      refusals: { ...refusals, 400: 'start after end' },
    }),
    ofWallet(all, '/activity', ActivityQuery, activityAnswer, {
      summary: 'Splits, merges, redemptions and conversions of a wallet',
      description: 'A conversion stands under the first of the markets that it converted.',
      answer: walletActivitySchema,
      refusals: { 400: rangeRefusal, 503: tooFew },
    }),
  ]
}

/** A route of one wallet. Checks beyond the schema that ids do not belong to another venue. */
function ofWallet<Q extends TProperties, P extends WalletParts>(
  parts: P,
  path: string,
  query: TObject<Q>,
  handle: (parts: P, request: WalletRequest<Static<TObject<Q>>>) => Promise<Answer>,
  document: Omit<RouteDocument, 'group' | 'headers'>,
): Route {
  const { catalog } = parts
  const { names } = catalog
  const others = names.all.filter(({ hasWallets }) => !hasWallets)
  const foreign = `an id of ${others.map(({ name }) => name).join(' or ')}`
  const { 400: badRequest, ...refusals } = document.refusals ?? {}
  const refusal = `${foreign} instead of an address`
  const inner = route(
    `GET /v1/wallets/{address}${path}`,
    {
      ...document,
      group: 'Wallets',
      headers: DATA_COMPLETE,
      refusals: {
        ...refusals,
        429: 'too many wallets that are not stored yet were requested within a minute',
        400: badRequest === undefined ? refusal : `${badRequest}; ${refusal}`,
      },
      path: ADDRESS,
      query,
    },
    (facts, values) =>
      handle(parts, {
        address: addressOf(facts.path('address')),
        query: values,
        signal: facts.signal(),
        requester: facts.requester(),
      }),
  )
  return {
    ...inner,
    respond: (facts, raw, body) =>
      others.some(({ key }) => isIdOf(key, catalog, facts.path('address')))
        ? failure(
            'BAD_REQUEST',
            `a wallet is an address of ${names.ofWallets.name}; this is ${foreign}`,
          )
        : inner.respond(facts, raw, body),
  }
}

/** An id with the venue's prefix, or a native id in the catalogue. */
function isIdOf(venue: VenueKey, catalog: CatalogView, text: string): boolean {
  const { names } = catalog
  if (names.split(text)?.venue === venue) return true
  return catalog.find(names.marketId(venue, nativeMarketId(text))) !== null
}

function addressOf(text: string): WalletAddress {
  const address = walletAddress(text)
  if (address === null) throw new Error(`the path's schema let the address ${text} pass`)
  return address
}

function ranking({ engine }: WalletParts): Route {
  const cursors = new ListCursors()
  return route(
    'GET /v1/wallets',
    {
      group: 'Wallets',
      summary: 'The ranking of wallets that were ever asked for',
      description:
        'By realised profit or volume of a window; shorter windows than all time count whole UTC ' +
        'hours. Wins, losses and the last trade are those of all time. The ranking is cut at most every 5 s.',
      answer: rankingSchema,
      refusals: { 400: pageRefusals[400] },
      query: RankingQuery,
    },
    (_, query) => {
      const { window, sort_by, limit } = query
      return answerPage({
        ...{ cursors, query: query, binding: () => `${window} ${sort_by}` },
        read: (position) => engine.wallets.ranking({ window, sortBy: sort_by, limit, ...position }),
        answer: ({ wallets, total }, cursor) =>
          json({
            ...{ wallets: wallets.map(rankedRecord), total, window, sort_by },
            ...{ cursor, has_more: cursor !== null },
          }),
      })
    },
  )
}
