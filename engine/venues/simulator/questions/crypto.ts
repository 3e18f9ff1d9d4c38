// Questions on prices of coins: up or down in a quarter of an hour, above a strike at an hour, in a
// range on a day. Coins beyond the known ones are invented. Upholds SIMCAL4 and SIMCAL5.

import { hash32 } from '../../../random.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../units.ts'
import {
  aboveAnswers,
  clampChance,
  GRID_TRAPS,
  logistic,
  numberOf,
  payoutOf,
  rangeAnswers,
  roundTo,
  strikesAround,
  underRules,
} from './answers.ts'
import {
  clockLower,
  clockUpper,
  easternTime,
  longDate,
  longDay,
  shortDate,
  shortDay,
  stampHour,
  stampMinute,
  zoneWord,
} from './eastern.ts'
import { gridSize } from './grid-size.ts'
import { coinName } from './names.ts'
import { pathAt, type Wave } from './path.ts'
import type { Asked, Family, View } from './question.ts'
import { everyDays, everyPeriod } from './schedule.ts'
import { variantOf } from './variants.ts'

interface Coin {
  readonly name: string
  readonly code: string
  readonly basePrice: number
  readonly rank: number
}

const WAVES: readonly Wave[] = [
  { amplitude: 0.35, scaleMs: 120 * DAY_MS },
  { amplitude: 0.12, scaleMs: 14 * DAY_MS },
  { amplitude: 0.04, scaleMs: 2 * DAY_MS },
  { amplitude: 0.015, scaleMs: 7 * HOUR_MS },
  { amplitude: 0.005, scaleMs: HOUR_MS },
  { amplitude: 0.0025, scaleMs: 9 * MINUTE_MS },
]

/** "Bitcoin Up or Down": one market an hour for each coin, the coins spread over the hour. */
export const UP_OR_DOWN: Family = {
  name: 'up or down',
  topic: 'crypto',
  share: 0.25,
  variant(ordinal) {
    const coin = coinOf(Math.floor(ordinal / 3))
    // Three of one coin lie twenty minutes apart; the next coins fill the gaps.
    const minute = ((ordinal % 3) * 20 + (Math.floor(ordinal / 3) % 4) * 5) % 60
    return variantOf({
      key: `updown/${coin.code}/${minute}`,
      schedule: everyPeriod(HOUR_MS, minute * MINUTE_MS),
      lifeMs: 80 * MINUTE_MS,
      count: 1,
      traps: ['other_date', 'opposite_side', 'other_rules'],
      otherDateMs: 10 * MINUTE_MS,
      interest: 2,
      ask: (view) => askUpOrDown(view, coin),
    })
  },
}

/** "Bitcoin above ___ on November 20, 4PM ET?", each day, at an hour of the coin's. */
export const COIN_ABOVE: Family = {
  name: 'coin above',
  topic: 'crypto',
  share: 0.045,
  variant(ordinal, size) {
    const coin = coinOf(Math.floor(ordinal / 6))
    const hour = [16, 12, 9, 20, 14, 18][ordinal % 6] ?? 16
    const count = size.marketsPerVenue < 100 ? 1 : gridSize(size, { least: 3, most: 11 })
    return variantOf({
      key: `above/${coin.code}/${hour}`,
      schedule: everyDays({ days: 1, dayPhase: 0, minuteOfDay: hour * 60 }),
      lifeMs: 4 * DAY_MS,
      count,
      traps: GRID_TRAPS,
      otherDateMs: HOUR_MS,
      interest: 2,
      ask: (view) => askAbove(view, coin, count),
    })
  },
}

/** "Bitcoin price range on November 20?", each day at 5pm, two days ahead. */
export const COIN_RANGE: Family = {
  name: 'coin range',
  topic: 'crypto',
  share: 0.06,
  variant(ordinal, size) {
    const coin = coinOf(ordinal)
    const count = gridSize(size, { least: 4, most: 9 })
    return variantOf({
      key: `range/${coin.code}`,
      schedule: everyDays({ days: 1, dayPhase: 0, minuteOfDay: 17 * 60 }),
      lifeMs: 4 * DAY_MS,
      count,
      traps: ['other_rules', 'other_date'],
      interest: 1,
      ask: (view) => askRange(view, coin, count),
    })
  },
}

function askUpOrDown(view: View, coin: Coin): Asked {
  const endAt = easternTime(view.closeMs)
  const startAt = easternTime(view.closeMs - 15 * MINUTE_MS)
  const isA = view.venue === 'a'
  const isInverted = view.trap === 'opposite_side'
  const from = priceOf(view, coin, view.closeMs - 15 * MINUTE_MS)
  const move = underRules(view, Math.log(priceOf(view, coin, view.closeMs) / from), 0.0004)
  const yes = clampChance(0.42 + 0.16 * logistic(numberOf(9, view.key, 'tilt') - 4))
  const source = isA
    ? `the Binance ${coin.code}/USDT close`
    : `the CF Benchmarks ${coin.code} index`
  const window = isA
    ? `${longDate(startAt)}, ${clockUpper(startAt)}-${clockUpper(endAt)} ${zoneWord(endAt)}`
    : `${shortDay(startAt)} - ${clockLower(startAt)} to ${clockLower(endAt)}`
  return {
    form: 'single',
    answers: [
      {
        key: 'up',
        code: '',
        label: isInverted ? 'Price down' : 'Price up',
        floor: null,
        cap: null,
        chance: isInverted ? 1 - yes : yes,
        payout: payoutOf(move >= 0 !== isInverted),
        isInverted,
        weight: 1,
      },
    ],
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? `${coin.code.toLowerCase()}-up-or-down-15m` : `KX${coin.code}15M`,
      seriesTitle: isA ? `${coin.name} Up or Down 15m` : `${coin.name} price up down`,
      stamp: stampMinute(endAt),
      title: isA ? `${coin.name} Up or Down - ${window}` : `${coin.code} Up or Down - 15 minutes`,
      subtitle: isA ? '' : window,
      category: 'Crypto',
      tags: isA ? ['Crypto', coin.name, 'Up or Down', 'Recurring'] : [coin.code, '15 min'],
      question: () =>
        isA ? `${coin.name} Up or Down - ${window}` : `${coin.code} price up in next 15 mins?`,
      clause: () =>
        `${source} price at ${clockUpper(endAt)} ${zoneWord(endAt)} on ${longDate(endAt)} is ` +
        `greater than or equal to its price at ${clockUpper(startAt)}`,
      negatedQuestion: () => `${coin.code} price down in next 15 mins?`,
      negatedClause: () =>
        `${source} price at ${clockUpper(endAt)} on ${longDate(endAt)} is less than its price at ` +
        clockUpper(startAt),
      remarks: remarksOf(view, coin),
    },
  }
}

function askAbove(view: View, coin: Coin, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const value = measuredOf(view, coin, 4 * DAY_MS)
  const step = niceStep(value.guess * 0.008)
  const strikes = strikesAround(view, { guess: value.guess, step, count, shift: step / 2 })
  const when = `${longDay(at)}, ${at.year} at ${clockUpper(at)} ET`
  return {
    form: 'above',
    answers: aboveAnswers(view, strikes, value),
    format: (price) => dollars(price),
    unit: step >= 1 ? 0.01 : step / 100,
    isInclusive: true,
    words: {
      series: isA ? `${coin.name.toLowerCase()}-multi-strikes` : `KX${coin.code}D`,
      seriesTitle: isA ? `${coin.name} Multi Strikes` : `${coin.name} price Above/below`,
      stamp: stampHour(at),
      title: isA
        ? `${coin.name} above ___ on ${when}?`
        : `${coin.name} price on ${shortDate(at)} at ${clockLower(at)}?`,
      subtitle: isA ? '' : `On ${shortDate(at)} at ${clockLower(at)}`,
      category: 'Crypto',
      tags: isA ? ['Crypto', coin.name, 'Crypto Prices'] : [coin.code, 'Hourly'],
      question: (phrase) =>
        isA
          ? `Will the price of ${coin.name} be ${phrase} on ${when}?`
          : `${coin.name} price on ${shortDate(at)} at ${clockLower(at)}?`,
      clause: (phrase) =>
        isA
          ? `the Binance 1 minute candle for ${coin.code}/USDT at ${clockUpper(at)} ET on ` +
            `${longDate(at)} has a final "Close" price ${phrase}`
          : `the simple average of the sixty seconds of the CF Benchmarks ${coin.code} index before ` +
            `${clockLower(at)} is ${phrase} on ${shortDate(at)}`,
      remarks: remarksOf(view, coin),
    },
  }
}

function askRange(view: View, coin: Coin, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const value = measuredOf(view, coin, 4 * DAY_MS)
  const step = niceStep(value.guess * 0.02)
  const unit = step >= 10 ? 0.01 : step / 1000
  const edges = strikesAround(view, { guess: value.guess, step, count: count - 1, shift: step / 2 })
  return {
    form: 'range',
    answers: rangeAnswers(edges, unit, value),
    format: (price) => dollars(price),
    unit,
    isInclusive: false,
    words: {
      series: isA ? `${coin.name.toLowerCase()}-price-range` : `KX${coin.code}`,
      seriesTitle: isA ? `${coin.name} price range` : `${coin.name} range`,
      stamp: stampHour(at),
      title: isA
        ? `${coin.name} price on ${longDate(at)}?`
        : `${coin.name} price range on ${shortDate(at)} at ${clockLower(at)}?`,
      subtitle: isA ? '' : `On ${shortDate(at)} at ${clockLower(at)}`,
      category: 'Crypto',
      tags: isA ? ['Crypto', coin.name, 'Crypto Prices'] : [coin.code],
      question: (phrase) =>
        isA
          ? `Will the price of ${coin.name} be ${phrase} on ${longDate(at)}?`
          : `${coin.name} price range on ${shortDate(at)} at ${clockLower(at)}?`,
      clause: (phrase) =>
        isA
          ? `the Binance 1 minute candle for ${coin.code}/USDT at ${clockUpper(at)} ET on ` +
            `${longDate(at)} has a final "Close" price ${phrase}`
          : `the simple average of the sixty seconds of the CF Benchmarks ${coin.code} index before ` +
            `${clockLower(at)} is ${phrase} on ${shortDate(at)}`,
      remarks: remarksOf(view, coin),
    },
  }
}

/** What the price was a life before, how far it may go, where it went. */
function measuredOf(
  view: View,
  coin: Coin,
  lifeMs: number,
): { guess: number; spread: number; result: number } {
  const guess = priceOf(view, coin, view.plainCloseMs - lifeMs)
  const result = underRules(view, priceOf(view, coin, view.closeMs), guess * 0.002)
  return { guess, spread: guess * 0.04, result }
}

function priceOf(view: View, coin: Coin, atMs: number): number {
  return coin.basePrice * Math.exp(pathAt(hash32(view.seed, 'coin', coin.code), WAVES, atMs))
}

const KNOWN_COINS = (
  'Bitcoin BTC 92000,Ethereum ETH 3100,Solana SOL 145,XRP XRP 2.2,Dogecoin DOGE 0.16,BNB BNB 880,' +
  'Cardano ADA 0.48,Litecoin LTC 96,Chainlink LINK 13.5,Avalanche AVAX 15,Polkadot DOT 2.6,' +
  'Sui SUI 1.6,Hyperliquid HYPE 36,Tron TRX 0.29,Stellar XLM 0.25,Aptos APT 2.8,Near NEAR 2.1,' +
  'Uniswap UNI 7.4,Aave AAVE 175,Monero XMR 380,Zcash ZEC 520,Cosmos ATOM 2.6,Toncoin TON 1.8'
)
  .split(',')
  .map((row) => row.split(' '))

function coinOf(rank: number): Coin {
  const known = KNOWN_COINS[rank]
  if (known !== undefined) {
    const [name = '', code = '', price = '1'] = known
    return { name, code, basePrice: Number(price), rank }
  }
  const { name, code } = coinName(rank - KNOWN_COINS.length)
  const basePrice = 10 ** (numberOf(50, name, 'price') / 10 - 1.5)
  return { name, code, basePrice, rank }
}

/** 1, 2 or 5 times a power of ten, at or below the value. */
function niceStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const lead = value / power
  return roundTo((lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power, power)
}

function dollars(price: number): string {
  const [whole = '0', fraction] = String(price).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `$${grouped}${fraction === undefined ? '' : `.${fraction}`}`
}

const binanceRemark = (coin: Coin): string =>
  `The resolution source for this market is Binance, specifically the ${coin.code}/USDT "Close" ` +
  `prices with "1m" and "Candles" selected on the top bar.\n\nPlease note that this market is ` +
  `about the price according to Binance ${coin.code}/USDT, not according to other sources or spot ` +
  'markets.'

const indexRemark = (coin: Coin): string =>
  `Not all cryptocurrency price data is the same. While checking a source like Google or Coinbase ` +
  `may help guide your decision, the price used to determine this market is based on CF ` +
  `Benchmarks' corresponding Real Time Index of ${coin.code}.`

const otherRemark = (coin: Coin): string =>
  `The price used to determine this market is not the index but the median of the last ` +
  `${coin.code} trades on three exchanges, and a halt of any of them postpones the expiration by ` +
  'ten minutes.'

function remarksOf(view: View, coin: Coin): string {
  if (view.venue === 'a') return binanceRemark(coin)
  return view.trap === 'other_rules' ? otherRemark(coin) : indexRemark(coin)
}
