// One table of aliases for all routes: what the interface promises of each name, asked of every route that has it. That
// an alias filters as its name does, and may not contradict it, is the conformance run's to show.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { namesText } from '../../../http/request/route.ts'
import { RouteClient } from '../../support/clients/route-client.ts'
import { type DescribedFace, openDescribedFace } from '../../support/rigs/described-face.ts'

let face: DescribedFace
before(async () => {
  face = await openDescribedFace()
})
after(() => face.stop())

/** As the interface has them, and not as the table does. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  search: ['keyword', 'q'],
  tags: ['tag'],
  min_volume: ['min_volume_24h'],
  cursor: ['pagination_key'],
  start_time: ['start_ts', 'from'],
  end_time: ['end_ts', 'to'],
  market_slug: ['slug', 'polymarket_market_slug'],
  slug: ['market_slug'],
  event_ticker: ['kalshi_event_ticker'],
  ticker: ['market_ticker', 'tickers'],
  token_id: ['token_ids', 'clob_token_ids'],
  wallet: ['user'],
  interval: ['resolution', 'period_interval'],
  min_score: ['min_similarity'],
  min_usd: ['min_size_usd', 'min_amount'],
  market_ids: ['market_id', 'ids'],
}
/** Promised of one route alone. */
const OWN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '/v1/sports/{sport}': { search: ['team'] },
  '/v1/matching-markets': {
    market_slug: ['venue_a_slug'],
    event_ticker: ['venue_b_event_ticker'],
  },
  '/v1/venue_a/markets': { start_time: ['created_after'], end_time: ['created_before'] },
  '/v1/venue_b/trades': { start_time: ['min_ts'], end_time: ['max_ts'] },
}

test('[ALIAS1] wherever a parameter stands, its aliases do too, and one name means one parameter', async () => {
  const { clients, close } = RouteClient.all(face)
  let asked = 0
  for (const client of clients) {
    const { pattern, querySchema } = client.route
    const canonical = Object.keys(querySchema.properties)
    const all = Object.entries(querySchema.properties).flatMap(([name, { aliases = [] }]) => [
      name,
      ...aliases,
    ])
    assert.equal(new Set(all).size, all.length, `${pattern}: ${all}`)
    for (const { name, values } of client.parameters) {
      const [value = ''] = values.valid
      const promised = [...(PROMISED[name] ?? []), ...(OWN[pattern]?.[name] ?? [])]
      for (const alias of promised.filter((one) => !canonical.includes(one))) {
        const others = client.required.filter(([one]) => one !== name)
        const { status, headers } = await client.ask({ query: [...others, [alias, value]] })
        const { status: wanted } = await client.ask({ query: [...others, [name, value]] })
        assert.equal(status, wanted, `${pattern}: ${alias} for ${name}`)
        assert.equal(headers.get('x-unknown-parameters'), undefined, `${pattern}: ${alias}`)
        asked += 1
      }
    }
  }
  close()
  assert.ok(asked > 60, `${asked} aliases`)
})

test('[ALIAS2] unknown parameters are named in a header whose text stays ours, in bounds', async () => {
  const tables: readonly (readonly [string[], string])[] = [
    [['a'], 'a'],
    [['a', 'b_c', 'd[]'], 'a, b_c, d%5B%5D'],
    [[''], '""'],
    [['a\r\nSet-Cookie: b', 'é', ',', '+3'], 'a%0D%0ASet-Cookie%3A%20b, %C3%A9, %2C, %2B3'],
    [['x'.repeat(99)], 'x'.repeat(48)],
    [['é'.repeat(99)], '%C3%A9'.repeat(8)],
    [[`${'x'.repeat(47)}é`], 'x'.repeat(47)],
  ]
  for (const [names, text] of tables) assert.equal(namesText(names), text)
  const many = Array.from({ length: 30 }, (_, index) => `n${index}`)
  assert.equal(namesText(many), `${many.slice(0, 16).join(', ')}, +14`)
  const query = many.map((name) => `${name}=1`).join('&')
  const response = await fetch(`${face.origin}/health?${query}&%0d%0aX-Injected:1`)
  await response.text()
  assert.equal(response.headers.get('x-unknown-parameters'), `${many.slice(0, 16).join(', ')}, +15`)
  assert.equal(response.headers.get('x-injected'), null)
})
