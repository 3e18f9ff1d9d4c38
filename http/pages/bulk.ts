// Requests for several markets: their ids, and an answer in request order that also lists the unknown ids.

import { Type } from '@sinclair/typebox'
import type { MarketView } from '../../actors/views.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import { type Answer, jsonText } from '../request/reply.ts'
import type { RouteParts } from '../request/route.ts'
import { mapInSlices } from '../request/sliced-rows.ts'

const IDS_MAX = 100

/** Query parameter with 1 to 100 ids, repeated or separated by commas. */
export const marketIds = () =>
  Type.Array(Type.String({ maxLength: 256 }), {
    minItems: 1,
    maxItems: IDS_MAX,
  })

export const MissingSchema = Type.Array(Type.String(), {
  description: 'ids that no market has, as they were given',
})

/** `{"<name>":[…],"missing":[…]}`. A market or missing id that is named twice appears once. */
export function bulkAnswer(
  parts: RouteParts,
  name: 'prices' | 'orderbooks',
  ids: readonly string[],
  text: (view: MarketView) => string,
): Answer | Promise<Answer> {
  const found = new Map<MarketNumber, MarketView>()
  const missing = new Map<string, string>()
  for (const id of ids) {
    const view = parts.catalog.find(id)
    if (view !== null) found.set(view.ref.number, view)
    else if (!missing.has(id.toLowerCase())) missing.set(id.toLowerCase(), id)
  }
  const missingText = JSON.stringify([...missing.values()])
  const answer = (texts: readonly string[]) =>
    jsonText(`{"${name}":[${texts.join(',')}],"missing":${missingText}}`)
  const texts = mapInSlices(parts.clock, [...found.values()], text)
  return texts instanceof Promise ? texts.then(answer) : answer(texts)
}
