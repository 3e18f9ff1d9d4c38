import {
  boolean,
  choice,
  number,
  orNull,
  price,
  record,
  size,
  stated,
  text,
  time,
  usd,
} from '../../engine/codec.ts'
import type { Trade, TradeSide, Whale } from '../../engine/events.ts'
import { timeMs } from '../../engine/units.ts'
import type { StoredWhale, WhaleRow } from '../contract/rows.ts'
import { readInteger } from './keys.ts'
import { marketId, venue } from './listings.ts'
import { listed } from './records.ts'

const SIDES: readonly TradeSide[] = ['buy', 'sell']
export const side = choice(SIDES)

const traded = {
  price,
  size,
  side,
  outcomeIndex: number,
  usd,
  maker: orNull(text),
  taker: orNull(text),
  txHash: orNull(text),
}

const described = {
  outcome: orNull(text),
  question: text,
  slug: text,
  eventSlug: orNull(text),
  category: orNull(text),
  wallet: orNull(text),
  fills: number,
}

const tradeFields = { nativeId: text, timeMs: time, ordinal: number, ...traded, isBlock: boolean }

export const trade = record<Trade>(tradeFields)
export const whale = record<Whale>({ ...tradeFields, ...described })

/** Schema 2: the whale was a block trade. Schema 1: it was not. */
const BLOCK_SCHEMA = 2

/** Time and ordinal of the whale are in the key. */
export const whaleCodec = listed<WhaleRow>(
  BLOCK_SCHEMA,
  record<WhaleRow>({
    market: number,
    venue,
    nativeMarket: marketId,
    whale: record<StoredWhale>({
      nativeId: text,
      timeMs: stated(({ key }) => timeMs(readInteger(key, 0))),
      ordinal: stated(({ key }) => key.readUInt32BE(8)),
      ...traded,
      isBlock: stated(({ schema }) => schema === BLOCK_SCHEMA),
      ...described,
      receivedAtMs: time,
      run: orNull(number),
      offset: orNull(number),
      seq: orNull(number),
    }),
  }),
  { schemaOf: ({ whale: { isBlock } }) => (isBlock ? BLOCK_SCHEMA : 1) },
)
