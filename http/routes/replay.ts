// Past messages of the stream, read from the tape.

import { Type } from '@sinclair/typebox'
import {
  type CatalogView,
  type EngineView,
  REPLAY_CHANNELS,
  REPLAY_FORMATS,
  type ReplayChannel,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { findMarket } from '../request/find-market.ts'
import { NO_TAPE, replayPeriod } from '../request/replay-period.ts'
import { streamed } from '../request/reply.ts'
import { type Route, requireCaller, route } from '../request/route.ts'
import { choice, parameters } from '../schemas.ts'

const MARKETS_MAX = 1_000
const CONTENT_TYPES = { ndjson: 'application/x-ndjson', msgpack: 'application/vnd.msgpack' }

const isChannel = (name: string): name is ReplayChannel =>
  REPLAY_CHANNELS.some((channel) => channel === name)

/** In milliseconds. The aliases are refused, because they are in seconds on other routes. */
const time = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 8_640_000_000_000, description, hasAliases: false })

export function replayRoutes({
  engine,
  clock,
}: {
  readonly engine: Pick<EngineView, 'catalog' | 'tape' | 'replays'>
  readonly clock: Clock
}): readonly Route[] {
  const { catalog } = engine
  return [
    route(
      'GET /v1/replay',
      {
        group: 'Market Data',
        summary: 'Past messages of the stream',
        description: `The messages that the stream sent from \`from\` to before \`to\`, one JSON object per line, or with \`format=msgpack\` one MessagePack map after the other. It begins with a \`snapshot\` of each selected market. \`gap\` states messages that were not recorded, \`disconnect\` a time in which the service did not run. \`from_offset\` continues a replay of one channel after the message with this offset; repeat the other parameters. With \`Accept-Encoding: gzip\` the answer is compressed. If the connection ends early, the answer is incomplete. At most two replays run at once for an account. The tier \`free\` can replay the last 24 hours.`,
        answer: null,
        contentTypes: Object.values(CONTENT_TYPES),
        refusals: {
          400: '`from` is not before `to`, an unknown channel, or `from_offset` with several channels',
          403: 'the tier `free` reads the last 24 hours',
          404: 'no such market, nothing recorded in the period, or no tape (`TAPE=off`, or a gateway)',
          429: 'two replays of the account are running',
          503: 'too many replays are running',
        },
        query: Type.Object({
          from: time('Begin of the period, Unix milliseconds.'),
          to: time('End of the period, exclusive, Unix milliseconds. At most now.'),
          market_ids: parameters.list(),
          event_slug: parameters.id(),
          platform: Type.Optional(choice(catalog.names.platforms)),
          channels: Type.Optional(
            Type.Array(Type.String({ maxLength: 256 }), {
              maxItems: 100,
              description: `A list of ${REPLAY_CHANNELS.map((name) => `\`${name}\``).join(', ')}. Without it: orderbook and trades.`,
            }),
          ),
          format: choice(REPLAY_FORMATS, {
            default: 'ndjson',
            description: 'One JSON object per line, or one MessagePack map after the other.',
          }),
          from_offset: Type.Optional(
            Type.Integer({
              minimum: 0,
              description: 'Skips the messages of the only channel up to this `offset`.',
            }),
          ),
        }),
      },
      ({ caller, header }, query) => {
        const { accountId, tier } = requireCaller(caller)
        const isGzip = /\bgzip\b/i.test(header('accept-encoding'))
        const { tape, replays } = engine
        if (tape === undefined || replays === undefined) {
          throw new EngineError('NOT_FOUND', NO_TAPE)
        }
        const channels = channelsOf(query.channels)
        const fromOffset = query.from_offset ?? null
        if (fromOffset !== null && channels.length !== 1) {
          throw new EngineError('BAD_REQUEST', 'from_offset needs exactly one channel')
        }
        const { oldestMs } = tape.status()
        const period = replayPeriod(
          { ...query, names: { from: 'from', to: 'to' } },
          { nowMs: clock.nowMs(), oldestMs, isFree: tier === 'free' },
        )
        const markets = marketsOf(catalog, query)
        const platforms = query.platform === undefined ? null : [query.platform]
        const slot = replays.reserve(accountId)
        const reader = slot.read({
          ...period,
          selections: channels.map((channel) => ({ channel, platforms, markets })),
          ...{ format: query.format, states: 'send', isTimed: false, isGzip, fromOffset },
        })
        const body = { next: () => reader.next(), close: () => slot.release() }
        return streamed(body, CONTENT_TYPES[query.format], isGzip ? 'gzip' : 'identity')
      },
    ),
  ]
}

function channelsOf(names: readonly string[] = ['orderbook', 'trades']): readonly ReplayChannel[] {
  const channels = names.filter(isChannel)
  if (channels.length === names.length && channels.length > 0) return [...new Set(channels)]
  throw new EngineError('BAD_REQUEST', `channels takes a list of ${REPLAY_CHANNELS.join(', ')}`)
}

/** Ids of the markets, or null for all. */
function marketsOf(
  catalog: CatalogView,
  query: { readonly market_ids?: readonly string[]; readonly event_slug?: string },
): readonly string[] | null {
  const { market_ids: ids, event_slug: slug } = query
  if (ids === undefined && slug === undefined) return null
  const views = (ids ?? []).map((id) => findMarket(catalog, id))
  if (slug !== undefined) {
    const event = catalog.eventBySlug(slug)
    if (event === null) throw new EngineError('NOT_FOUND', 'no such event')
    views.push(...event.markets(MARKETS_MAX))
  }
  return [...new Set(views.map(({ ref }) => ref.id))]
}
