// The channel `whales`: large trades, each the sum of its fills. A resume reads missed messages from the engine's whale
// log, where their sums include later fills.

import { Type } from '@sinclair/typebox'
import type { EngineView, WhaleLogView } from '../../../actors/views.ts'
import type { Whale, WhaleUpdate } from '../../../engine/events.ts'
import { replayReadRows, ringWhalesMax } from '../../../engine/limits.ts'
import { quoted, whaleText } from '../../records/render.ts'
import { EXAMPLE_IDS, nullable, TradeSchema } from '../../schemas.ts'
import { type Encoder, type Frame, MessageKind } from '../encode/encoder.ts'
import { writeWhale } from '../encode/msgpack-records.ts'
import { variantOf } from '../fan-out/channel-variants.ts'
import { counted } from '../messages.ts'
import type { LogEntry, MessageTable } from '../resume/message-log.ts'
import type { Channel } from './channel.ts'
import { LoggedChannel } from './logged.ts'
import { EXAMPLE_TRADE } from './trades.ts'

const NAME = 'whales'

const WHALE = new MessageKind<Whale>('whale', NAME, {
  json(whale, market) {
    const texts = { id: quoted(market.id), platform: quoted(market.platform), labels: [] }
    return `"data":${whaleText(whale, texts)}`
  },
  count: () => 1,
  msgpack(to, whale, market) {
    to.text('data')
    writeWhale(to, whale, market)
  },
})

/** `epoch`: the epoch of the run that first sent the message. Required if a later run sends it again. */
export function whaleMessage(encoder: Encoder, update: WhaleUpdate, epoch?: string): Frame {
  return encoder.message(WHALE, update.market, update, update.whale, epoch)
}

const text = () => Type.String()

/** The fields of a trade, with the market's texts at the time of the trade. */
export const WhaleSchema = Type.Object({
  ...TradeSchema.properties,
  outcome: nullable(text()),
  taker_outcome: nullable(text()),
  question: text(),
  slug: text(),
  event_slug: nullable(text()),
  category: nullable(text()),
  wallet: nullable(text()),
  fills: Type.Integer({ minimum: 1 }),
})

export const EXAMPLE_WHALE = {
  ...EXAMPLE_TRADE,
  size: 20_000,
  size_usd: 8_600,
  question: 'Will it rain in Denver on Sunday?',
  slug: 'rain-denver-sunday',
  event_slug: 'denver-weather',
  category: 'Weather',
  wallet: EXAMPLE_IDS.wallet,
  fills: 3,
}

export const whales: Channel = {
  name: NAME,
  delivery: 'every',
  hasState: false,
  options: {},
  variants: [variantOf(NAME, {})],
  updateKinds: ['whale'],
  messages: {
    whale: counted('whale', NAME, {
      summary: 'A large trade: the sum of its fills',
      fields: { data: WhaleSchema },
      example: { data: EXAMPLE_WHALE },
    }),
  },
  shapes: { WhaleSchema },
  row: {
    messages:
      '`whale`: the Trade, with question, slug, event_slug, category, wallet, fills; from 5,000 dollars',
    when: 'every one',
    begins: '–',
  },
  open: (parts) =>
    new LoggedChannel(parts, {
      name: NAME,
      capacity: ringWhalesMax,
      table: whaleTable(parts.engine.whaleLog, parts.engine.catalog),
      write: (encoder, update, epoch) =>
        update.kind === 'whale' ? whaleMessage(encoder, update, epoch) : null,
    }),
}

/** Reports no losses, because the channel `trades` reports lost trades. */
export function whaleTable(whaleLog: WhaleLogView, catalog: EngineView['catalog']): MessageTable {
  return {
    present: whaleLog.present,
    runs: () => whaleLog.runs(),
    losses: () => [],
    range({ run, offset: behind, markets }) {
      const rows = whaleLog.range({ run, offset: behind, limit: replayReadRows })
      return rows.map(({ market: number, venue, nativeMarket, whale }): LogEntry => {
        const { offset, seq, timeMs: venueTimeMs, receivedAtMs } = whale
        if (offset === null || seq === null) return { offset: behind, update: 'lost' }
        if (markets !== null && !markets.has(number)) return { offset, update: 'unread' }
        // The market may have been evicted from the catalogue. The log still has its whales and its native id.
        const market = catalog.byNumber(number)?.ref ?? {
          id: catalog.names.marketId(venue, nativeMarket),
          number,
          venue,
          platform: catalog.names.platform(venue),
          nativeId: nativeMarket,
        }
        const times = { venueTimeMs, receivedAtMs }
        return { offset, update: { kind: 'whale', market, offset, seq, ...times, whale } }
      })
    },
  }
}
