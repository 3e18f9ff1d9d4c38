import { type WalletAddress, walletAddress } from '../../../engine/ids.ts'
import { timeMs, USD_ZERO, usdMicros } from '../../../engine/units.ts'
import { type StoredWallet, WALLET_RULES } from '../../../storage/contract/wallets.ts'
import { NOON_MS } from './stored.ts'

/** The address 0x00…0n. */
export function addressOf(number: number): WalletAddress {
  const address = walletAddress(`0x${number.toString(16).padStart(40, '0')}`)
  if (address === null) throw new RangeError(`${number} is no address`)
  return address
}

export function storedWallet(
  proxy: WalletAddress,
  changes: Partial<StoredWallet> = {},
): StoredWallet {
  return {
    proxy,
    eoa: addressOf(0xe0a),
    handle: 'somebody',
    pseudonym: 'Some-Body',
    image: 'https://example.com/one.png',
    settledToMs: timeMs(NOON_MS - 60_000),
    isComplete: true,
    readAtMs: timeMs(NOON_MS),
    requestedAtMs: timeMs(NOON_MS + 1),
    events: 3,
    pnlEvents: 2,
    blocks: 1,
    ...{ side: 0, lacking: 0, listedToMs: null, rules: WALLET_RULES },
    totals: {
      realized: usdMicros(-5_000_000),
      volume: usdMicros(70_000_000),
      trades: 2,
      fees: usdMicros(1),
      income: USD_ZERO,
      markets: 4,
      wins: 1,
      losses: 2,
      splits: 3,
      merges: 4,
      redemptions: 5,
      conversions: 6,
      comboEvents: 0,
      comboRealized: USD_ZERO,
      firstTradeMs: timeMs(NOON_MS - 120_000),
      lastTradeMs: timeMs(NOON_MS - 61_000),
    },
    hours: [],
    ...changes,
  }
}
