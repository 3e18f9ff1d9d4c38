// Keys and records of the wallet tables: addresses as 20 bytes, the wallet's facts as fields by schema version, its
// hours packed.
//
//   hours   hour (varint: since the hour before) · realised (signed) · volume (varint) · fills (varint)
//           · fees (signed) · income (signed) · next hour …

import {
  type NativeMarketId,
  nativeMarketId,
  outcomeId,
  type WalletAddress,
  walletAddress,
} from '../../engine/ids.ts'
import { priceMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/wallet-figures.ts'
import type { StoredWallet, StoredWalletMarket, WalletHead } from '../contract/wallets.ts'
import type { Schemas } from '../lmdb/table.ts'
import { curveFields, readCurve } from './fees.ts'
import { nativeKey } from './keys.ts'
import type { FieldReader } from './records.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

export const WALLET_SCHEMA = 3
export const WALLET_MARKET_SCHEMA = 2

/** Bytes of an address, which is a wallet's key. */
const addressBytes = 20

/** The 20 bytes of an address. */
export function addressKey(address: WalletAddress): Buffer {
  return Buffer.from(address.slice(2), 'hex')
}

/** The 20 bytes of an address, then a block number as u32. */
export function blockKey(address: WalletAddress, index: number): Buffer {
  const key = Buffer.alloc(addressBytes + 4)
  key.write(address.slice(2), 'hex')
  key.writeUInt32BE(index, addressBytes)
  return key
}

/** Traded markets are all of venue a; an id too long for a key ends in its hash. */
export function walletMarketKey(id: NativeMarketId): Buffer {
  return nativeKey('a', id)
}

export function walletFields(wallet: StoredWallet): readonly unknown[] {
  const { proxy, eoa, handle, pseudonym, image, settledToMs, isComplete, readAtMs } = wallet
  const { requestedAtMs, events, pnlEvents, blocks, side, lacking, listedToMs, rules } = wallet
  const { totals, hours } = wallet
  const who = [proxy, eoa, handle, pseudonym, image]
  const reach = [settledToMs, isComplete, readAtMs, requestedAtMs, events, pnlEvents, blocks]
  const syncFields = [side, lacking, listedToMs, rules]
  return [...who, ...reach, ...syncFields, ...totalsFields(totals), packHours(hours)]
}

/** Decoders that skip the hours, which are the last field. */
export const walletHeadSchemas: Schemas<WalletHead> = {
  1: (fields) => readHead(fields, 1),
  2: (fields) => readHead(fields, 2),
  3: (fields) => readHead(fields, 3),
}

const fullSchema = (schema: number) => (fields: FieldReader) => ({
  ...readHead(fields, schema),
  hours: unpackHours(fields.bytes(), schema),
})

export const walletSchemas: Schemas<StoredWallet> = {
  1: fullSchema(1),
  2: fullSchema(2),
  3: fullSchema(3),
}

/**
 * Before schema 2 there was one side, and events that the venue's next response lacked were dropped. Before schema 3
 * combos were left out.
 */
function readSyncFields(
  fields: FieldReader,
  schema: number,
): Pick<WalletHead, 'side' | 'lacking' | 'listedToMs' | 'rules'> {
  if (schema < 2) return { side: 0, lacking: 0, listedToMs: null, rules: 0 }
  const side = fields.number() === 0 ? 0 : 1
  const [lacking, listedToMs] = [fields.number(), fields.orNull(timeMs)]
  return { side, lacking, listedToMs, rules: schema < 3 ? 0 : fields.number() }
}

function readHead(fields: FieldReader, schema: number): WalletHead {
  return {
    proxy: addressOf(fields.text()),
    eoa: ownerOf(fields.textOrNull()),
    handle: fields.textOrNull(),
    pseudonym: fields.textOrNull(),
    image: fields.textOrNull(),
    settledToMs: timeMs(fields.number()),
    isComplete: fields.boolean(),
    readAtMs: timeMs(fields.number()),
    requestedAtMs: timeMs(fields.number()),
    events: fields.number(),
    pnlEvents: fields.number(),
    blocks: fields.number(),
    ...readSyncFields(fields, schema),
    totals: readTotals(fields, schema),
  }
}

const ownerOf = (text: string | null) => (text === null ? null : addressOf(text))

/** Throws if the text is not an address, which makes the record invalid. */
function addressOf(text: string): WalletAddress {
  const address = walletAddress(text)
  if (address === null) throw new RangeError('not an address')
  return address
}

function totalsFields(totals: WalletTotals): readonly (number | null)[] {
  const { realized, volume, trades, fees, income, markets, wins, losses } = totals
  const { splits, merges, redemptions, conversions, firstTradeMs, lastTradeMs } = totals
  const sums = [realized, volume, trades, fees, income]
  const counts = [markets, wins, losses, splits, merges, redemptions, conversions]
  const { comboEvents, comboRealized } = totals
  return [...sums, ...counts, firstTradeMs, lastTradeMs, comboEvents, comboRealized]
}

function readTotals(fields: FieldReader, schema: number): WalletTotals {
  const totals = {
    realized: usdMicros(fields.number()),
    volume: usdMicros(fields.number()),
    trades: fields.number(),
    fees: usdMicros(fields.number()),
    income: usdMicros(fields.number()),
    markets: fields.number(),
    wins: fields.number(),
    losses: fields.number(),
    splits: fields.number(),
    merges: fields.number(),
    redemptions: fields.number(),
    conversions: fields.number(),
    firstTradeMs: fields.orNull(timeMs),
    lastTradeMs: fields.orNull(timeMs),
  }
  if (schema < 3) return { ...totals, comboEvents: 0, comboRealized: null }
  return { ...totals, comboEvents: fields.number(), comboRealized: fields.orNull(usdMicros) }
}

const NUMBERS_AN_HOUR = 6

function packHours(hours: readonly HourFigures[]): Buffer {
  const bytes = Buffer.allocUnsafe(hours.length * NUMBERS_AN_HOUR * varintBytesMax)
  let position = 0
  let before = 0
  for (const { hour, realized, volume, trades, fees, income } of hours) {
    position = writeVarint(bytes, position, hour - before)
    position = writeSigned(bytes, position, realized)
    position = writeVarint(bytes, position, volume)
    position = writeVarint(bytes, position, trades)
    position = writeSigned(bytes, position, fees)
    position = writeSigned(bytes, position, income)
    before = hour
  }
  return bytes.subarray(0, position)
}

/** Throws RangeError if the bytes end within a number. Before schema 3 hours had neither fees nor income. */
function unpackHours(bytes: Uint8Array, schema: number): readonly HourFigures[] {
  const hours: HourFigures[] = []
  const reader = new VarintReader(bytes)
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

export function walletMarketFields(market: StoredWalletMarket): readonly unknown[] {
  const { nativeId, tokens, payout, resolvedAtMs, group, isConverted } = market
  const { question, slug, eventSlug, labels, takerFee } = market
  const rules = [nativeId, tokens, payout, resolvedAtMs, group, isConverted]
  return [...rules, question, slug, eventSlug, labels, curveFields(takerFee)]
}

export const walletMarketSchemas: Schemas<StoredWalletMarket> = {
  1: (fields) => ({ ...readMarket(fields), takerFee: null }),
  2: (fields) => ({ ...readMarket(fields), takerFee: readCurve(fields) }),
}

function readMarket(fields: FieldReader): Omit<StoredWalletMarket, 'takerFee'> {
  return {
    nativeId: nativeMarketId(fields.text()),
    tokens: fields.texts().map(outcomeId),
    payout: fields.orNull(priceMicros),
    resolvedAtMs: fields.orNull(timeMs),
    group: fields.textsOrNull()?.map(nativeMarketId) ?? null,
    isConverted: fields.boolean(),
    question: fields.textOrNull(),
    slug: fields.textOrNull(),
    eventSlug: fields.textOrNull(),
    labels: fields.texts(),
  }
}
