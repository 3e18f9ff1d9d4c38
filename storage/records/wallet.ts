// The keys and records of the wallet tables: addresses as their 20 bytes, the wallet's own facts in fields by schema
// version, its hours packed. Not for: blocks and running tallies, which engine/wallets/ packs.
//
//   hours   hour (varint: since the hour before) · realised (signed) · volume (varint) · fills (varint) · next hour …

import {
  type NativeMarketId,
  nativeMarketId,
  outcomeId,
  type WalletAddress,
  walletAddress,
} from '../../engine/ids.ts'
import { priceMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { HourFigures, WalletTotals } from '../../engine/wallets/figures.ts'
import type { StoredWallet, StoredWalletMarket, WalletHead } from '../contract/wallets.ts'
import type { Schemas } from '../lmdb/table.ts'
import { nativeKey } from './keys.ts'
import type { FieldReader } from './records.ts'
import { VarintReader, varintBytesMax, writeSigned, writeVarint } from './varints.ts'

export const WALLET_SCHEMA = 2
export const WALLET_MARKET_SCHEMA = 1

/** Bytes of an address, and so of a wallet's key. */
const addressBytes = 20

/** The 20 bytes of an address. */
export function addressKey(address: WalletAddress): Buffer {
  return Buffer.from(address.slice(2), 'hex')
}

/** The 20 bytes of an address, then a block's number as u32. */
export function blockKey(address: WalletAddress, index: number): Buffer {
  const key = Buffer.alloc(addressBytes + 4)
  key.write(address.slice(2), 'hex')
  key.writeUInt32BE(index, addressBytes)
  return key
}

/** Markets of wallets are all of venue a; an id too long for a key ends in its hash. */
export function walletMarketKey(id: NativeMarketId): Buffer {
  return nativeKey('a', id)
}

export function walletFields(wallet: StoredWallet): readonly unknown[] {
  const { proxy, eoa, handle, pseudonym, image, settledToMs, isComplete, readAtMs } = wallet
  const { askedAtMs, events, tallyEvents, blocks, side, lacking, listedToMs, totals, hours } =
    wallet
  const who = [proxy, eoa, handle, pseudonym, image]
  const reach = [settledToMs, isComplete, readAtMs, askedAtMs, events, tallyEvents, blocks]
  const kept = [side, lacking, listedToMs]
  return [...who, ...reach, ...kept, ...totalsFields(totals), packHours(hours)]
}

/** A wallet without its hours, which are the last field. */
export const walletHeadSchemas: Schemas<WalletHead> = {
  1: (fields) => readHead(fields, withoutSides),
  2: (fields) => readHead(fields, readSides),
}

export const walletSchemas: Schemas<StoredWallet> = {
  1: (fields) => ({ ...readHead(fields, withoutSides), hours: unpackHours(fields.bytes()) }),
  2: (fields) => ({ ...readHead(fields, readSides), hours: unpackHours(fields.bytes()) }),
}

type Sides = Pick<WalletHead, 'side' | 'lacking' | 'listedToMs'>

/** Before schema 2 there was one side, and what the venue's next answer lacked was dropped. */
const withoutSides = (): Sides => ({ side: 0, lacking: 0, listedToMs: null })

function readSides(fields: FieldReader): Sides {
  const side = fields.number() === 0 ? 0 : 1
  return { side, lacking: fields.number(), listedToMs: fields.orNull(timeMs) }
}

function readHead(fields: FieldReader, sides: (fields: FieldReader) => Sides): WalletHead {
  return {
    proxy: addressOf(fields.text()),
    eoa: ownerOf(fields.textOrNull()),
    handle: fields.textOrNull(),
    pseudonym: fields.textOrNull(),
    image: fields.textOrNull(),
    settledToMs: timeMs(fields.number()),
    isComplete: fields.boolean(),
    readAtMs: timeMs(fields.number()),
    askedAtMs: timeMs(fields.number()),
    events: fields.number(),
    tallyEvents: fields.number(),
    blocks: fields.number(),
    ...sides(fields),
    totals: readTotals(fields),
  }
}

const ownerOf = (text: string | null) => (text === null ? null : addressOf(text))

/** Throws for what is no address: the record is then no record. */
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
  return [...sums, ...counts, firstTradeMs, lastTradeMs]
}

function readTotals(fields: FieldReader): WalletTotals {
  return {
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
}

const NUMBERS_AN_HOUR = 4

function packHours(hours: readonly HourFigures[]): Buffer {
  const bytes = Buffer.allocUnsafe(hours.length * NUMBERS_AN_HOUR * varintBytesMax)
  let position = 0
  let before = 0
  for (const { hour, realized, volume, trades } of hours) {
    position = writeVarint(bytes, position, hour - before)
    position = writeSigned(bytes, position, realized)
    position = writeVarint(bytes, position, volume)
    position = writeVarint(bytes, position, trades)
    before = hour
  }
  return bytes.subarray(0, position)
}

/** Throws RangeError when the bytes end within a number. */
function unpackHours(bytes: Uint8Array): readonly HourFigures[] {
  const hours: HourFigures[] = []
  const reader = new VarintReader(bytes)
  let hour = 0
  while (!reader.isAtEnd) {
    hour += reader.next()
    const realized = usdMicros(reader.nextSigned())
    const volume = usdMicros(reader.next())
    hours.push({ hour, realized, volume, trades: reader.next() })
  }
  return hours
}

export function walletMarketFields(market: StoredWalletMarket): readonly unknown[] {
  const { nativeId, tokens, payout, resolvedAtMs, group, isConverted } = market
  const { question, slug, eventSlug, labels } = market
  const rules = [nativeId, tokens, payout, resolvedAtMs, group, isConverted]
  return [...rules, question, slug, eventSlug, labels]
}

export const walletMarketSchemas: Schemas<StoredWalletMarket> = {
  1: (fields) => ({
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
  }),
}
