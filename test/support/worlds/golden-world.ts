// Data of the golden run that is not in its recording.

import { FetchError } from '../../../engine/fetch.ts'
import { nativeMarketId, type WalletAddress } from '../../../engine/ids.ts'
import { HOUR_MS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import type { VenueWallets, WalletEvent } from '../../../engine/wallet.ts'
import type { Recording, VenueAnswers } from '../rigs/replayed-service.ts'
import { addressOf } from './stored-wallets.ts'

/** Wallets that are known to the venue. */
export const WALLETS: readonly WalletAddress[] = [1, 2, 3].map(addressOf)

const KINDS = ['buy', 'buy', 'sell', 'split', 'merge', 'buy', 'redeem', 'income'] as const

/** An event every half hour in the ten hours before the recording. */
function eventsOf(recording: Recording, wallet: number): readonly WalletEvent[] {
  const markets = (recording.pages.get('a') ?? []).flatMap((page) => page.markets)
  const startSeconds = Math.floor(recording.startedAtMs / 1_000)
  return Array.from({ length: 20 }, (_, index): WalletEvent => {
    const kind = KINDS[(index + wallet) % KINDS.length] ?? 'buy'
    const market = markets[(index + 3 * wallet) % Math.max(1, markets.length)]
    const isFill = kind === 'buy' || kind === 'sell'
    const price = isFill ? 100_000 + 20_000 * ((index * 7 + wallet) % 40) : 0
    const contracts = 5 + ((index * 13 + wallet) % 50)
    const role = index % 2 === 0 ? 'taker' : 'maker'
    return {
      kind,
      timeMs: timeMs(startSeconds * 1_000 - (20 - index) * (HOUR_MS / 2)),
      txHash: `0x${(1_000 * wallet + index).toString(16).padStart(64, '0')}`,
      market: kind === 'income' || market === undefined ? nativeMarketId('') : market.nativeId,
      token: isFill ? (market?.outcomes[index % 2]?.id ?? null) : null,
      size: sizeMicros(contracts * 1_000_000),
      price: priceMicros(price),
      usd: usdMicros(contracts * (isFill ? price : 500_000)),
      fee: usdMicros(isFill ? index * 1_000 : 0),
      role: isFill ? role : null,
      converted: [],
    }
  })
}

export function venueAnswers(recording: Recording): VenueAnswers {
  const wallets: VenueWallets = {
    async profile(address) {
      const index = WALLETS.indexOf(address)
      if (index < 0) return null
      const handle = `wallet${index}`
      return { proxy: address, eoa: null, handle, pseudonym: `Calm-${handle}`, image: null }
    },
    async history({ address, fromMs }, onEvents) {
      const all = eventsOf(recording, WALLETS.indexOf(address) + 1)
      await onEvents(all.filter((event) => event.timeMs >= fromMs))
      const settledToMs = timeMs(Math.floor(recording.startedAtMs / 1_000) * 1_000)
      return { settledToMs, isComplete: true, isTailComplete: true, isLastListed: true }
    },
    async positions() {
      throw new FetchError('status', 'no positions')
    },
    group: async () => null,
    follow: () => undefined,
    unfollow: () => undefined,
  }
  return {
    wallets,
    pastPrices({ fromMs, toMs }) {
      const first = Math.ceil(fromMs / HOUR_MS)
      const count = Math.max(0, Math.min(500, Math.floor(toMs / HOUR_MS) - first + 1))
      return Array.from({ length: count }, (_, index) => ({
        timeMs: timeMs((first + index) * HOUR_MS),
        price: priceMicros(200_000 + 10_000 * ((first + index) % 50)),
      }))
    },
  }
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface ReadRoute {
  readonly pattern: string
  readonly parameters: readonly {
    readonly name: string
    readonly schema: Fields
    readonly isRequired: boolean
  }[]
}

/** In the order of the API document. */
export function readRoutes(document: unknown): readonly ReadRoute[] {
  const paths = isFields(document) && isFields(document.paths) ? document.paths : {}
  return Object.entries(paths).flatMap(([pattern, methods]) => {
    const operation = isFields(methods) ? methods.get : null
    if (!isFields(operation)) return []
    const given = Array.isArray(operation.parameters) ? operation.parameters : []
    const parameters = given.flatMap((parameter: unknown) => {
      if (!isFields(parameter) || parameter.in !== 'query' || !isFields(parameter.schema)) return []
      const { name, schema, required } = parameter
      return [{ name: String(name), schema, isRequired: required === true }]
    })
    return [{ pattern, parameters }]
  })
}

/** Values of a parameter: those of its schema, the samples for its name, and one or two invalid values. */
export function valuesFor(
  { name, schema }: ReadRoute['parameters'][number],
  samples: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const { type, minimum, maximum, enum: choices, items, anyOf } = schema
  const own = samples[name] ?? []
  if (Array.isArray(choices)) return [...own, ...choices.map(String), 'none-of-them']
  if (Array.isArray(anyOf)) {
    const inner = anyOf.flatMap((one: unknown) =>
      isFields(one) && Array.isArray(one.enum) ? one.enum.map(String) : [],
    )
    return [...own, ...inner, 'none-of-them']
  }
  if (type === 'boolean') return ['true', 'false', 'maybe']
  if (type === 'integer' || type === 'number') {
    const bounds = [minimum, maximum].filter((bound) => typeof bound === 'number').map(String)
    const beyond = typeof minimum === 'number' ? [String(minimum - 1)] : []
    return [...own, ...bounds, ...beyond, 'many']
  }
  if (type === 'array' && isFields(items) && Array.isArray(items.enum)) {
    return [...own, ...items.enum.map(String), 'none-of-them']
  }
  return [...own, 'nothing-of-this-name']
}
