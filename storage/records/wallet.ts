// Keys and records of the wallet tables. The hours of a wallet are packed, each as:
//
//   hours since the previous hour (varint) | realised (signed) | volume (varint) | fills (varint) |
//   fees (signed) | income (signed)

import {
  as,
  boolean,
  bytes,
  type Fields,
  list,
  number,
  orNull,
  price,
  record,
  since,
  single,
  text,
  texts,
  time,
  usd,
} from '../../engine/codec.ts'
import {
  type NativeMarketId,
  outcomeId,
  type WalletAddress,
  walletAddress,
} from '../../engine/ids.ts'
import { usdMicros } from '../../engine/units.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from '../../engine/varints.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/wallet-figures.ts'
import type {
  StoredWallet,
  StoredWalletMarket,
  WalletHead,
  WalletSide,
} from '../contract/wallets.ts'
import { curve } from './fees.ts'
import { nativeKey } from './keys.ts'
import { marketId } from './listings.ts'
import { listed } from './records.ts'

const side = single<WalletSide>((value, context) => (number.decode(value, context) === 0 ? 0 : 1))

const addressBytes = 20

export function addressKey(address: WalletAddress): Buffer {
  return Buffer.from(address.slice(2), 'hex')
}

/** 20 bytes of the address, then the block number as u32. */
export function blockKey(address: WalletAddress, index: number): Buffer {
  const key = Buffer.alloc(addressBytes + 4)
  key.write(address.slice(2), 'hex')
  key.writeUInt32BE(index, addressBytes)
  return key
}

/** All markets are of venue a. If the id is too long, its end is replaced by its hash. */
export function walletMarketKey(id: NativeMarketId): Buffer {
  return nativeKey('a', id)
}

/** Throws if the text is not an address, so that the record counts as damaged. */
const address = as(text, (value) => {
  const found = walletAddress(value)
  if (found === null) throw new RangeError('not an address')
  return found
})

/** Before schema 3 combinations were ignored. */
const totals = record<WalletTotals>({
  realized: usd,
  volume: usd,
  trades: number,
  fees: usd,
  income: usd,
  markets: number,
  wins: number,
  losses: number,
  splits: number,
  merges: number,
  redemptions: number,
  conversions: number,
  firstTradeMs: orNull(time),
  lastTradeMs: orNull(time),
  comboEvents: since(3, number, 0),
  comboRealized: since(3, orNull(usd), null),
})

/** Before schema 2 a wallet had one ledger version, and events that the venue's next response lacked were dropped. */
const head: Fields<WalletHead> = {
  proxy: address,
  eoa: orNull(address),
  handle: orNull(text),
  pseudonym: orNull(text),
  image: orNull(text),
  settledToMs: time,
  isComplete: boolean,
  readAtMs: time,
  requestedAtMs: time,
  events: number,
  pnlEvents: number,
  blocks: number,
  side: since(2, side, 0),
  lacking: since(2, number, 0),
  listedToMs: since(2, orNull(time), null),
  rules: since(3, number, 0),
  totals,
}

const NUMBERS_AN_HOUR = 6

function packHours(hours: readonly HourFigures[]): Buffer {
  const packed = Buffer.allocUnsafe(hours.length * NUMBERS_AN_HOUR * varintBytesMax)
  let position = 0
  let before = 0
  for (const { hour, realized, volume, trades, fees, income } of hours) {
    position = writeVarint(packed, position, hour - before)
    position = writeSigned(packed, position, realized)
    position = writeVarint(packed, position, volume)
    position = writeVarint(packed, position, trades)
    position = writeSigned(packed, position, fees)
    position = writeSigned(packed, position, income)
    before = hour
  }
  return packed.subarray(0, position)
}

/** Throws RangeError if the bytes end within a number. Before schema 3 hours have no fees and no income. */
function unpackHours(packed: Uint8Array, schema: number): readonly HourFigures[] {
  const hours: HourFigures[] = []
  const reader = new VarintReader(packed)
  let hour = 0
  while (!reader.isAtEnd) {
    hour += reader.next()
    const realized = usdMicros(reader.nextSigned())
    const volume = usdMicros(reader.next())
    const trades = reader.next()
    const [fees, income] = schema < 3 ? [0, 0] : [reader.nextSigned(), reader.nextSigned()]
    const beside = { fees: usdMicros(fees), income: usdMicros(income) }
    hours.push({ hour, realized, volume, trades, ...beside })
  }
  return hours
}

const hours = single<readonly HourFigures[]>(
  (value, context) => unpackHours(bytes.decode(value, context), context.schema),
  packHours,
)

export const walletCodec = listed(3, record<StoredWallet>({ ...head, hours }))
/** Omits the hours, which are the last field. */
export const walletHeadCodec = listed(3, record<WalletHead>(head))

export const walletMarketCodec = listed(
  2,
  record<StoredWalletMarket>({
    nativeId: marketId,
    tokens: list(as(text, outcomeId)),
    payout: orNull(price),
    resolvedAtMs: orNull(time),
    group: orNull(list(marketId)),
    isConverted: boolean,
    question: orNull(text),
    slug: orNull(text),
    eventSlug: orNull(text),
    labels: texts,
    takerFee: since(2, curve, null),
  }),
)
