import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { namesText } from '../../../http/request/route.ts'
import { RouteClient } from '../../support/clients/route-client.ts'
import {
  ACCOUNT,
  type DocumentedServer,
  openDocumentedServer,
} from '../../support/rigs/documented-server.ts'

let server: DocumentedServer
before(async () => {
  server = await openDocumentedServer()
})
after(() => server.stop())

/** The documented aliases, written independently of the product's table. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  search: ['keyword', 'q'],
  tags: ['tag'],
  min_volume: ['min_volume_24h'],
  cursor: ['pagination_key'],
  start_time: ['start_ts', 'start', 'from', 'min_ts', 'created_after'],
  start_ts: ['start_time', 'start', 'from', 'min_ts', 'created_after'],
  end_time: ['end_ts', 'end', 'to', 'max_ts', 'created_before'],
  end_ts: ['end_time', 'end', 'to', 'max_ts', 'created_before'],
  market_slug: ['slug', 'slugs', 'market_slugs', 'polymarket_market_slug', 'venue_a_slugs'],
  slug: ['market_slug', 'market_slugs', 'slugs', 'venue_a_slug'],
  condition_id: ['condition_ids'],
  event_slug: ['event_slugs'],
  event_ticker: ['event_tickers', 'kalshi_event_ticker', 'venue_b_event_ticker'],
  series_ticker: ['series_tickers'],
  ticker: ['tickers', 'market_ticker', 'market_tickers'],
  market_id: ['market_ids', 'ids'],
  token_id: ['token_ids', 'clob_token_ids'],
  wallet: ['user'],
  interval: ['resolution', 'period_interval'],
  min_score: ['min_similarity', 'min_match_score'],
  min_usd: ['min_size_usd', 'min_amount'],
  market_ids: ['market_id', 'ids'],
}
/** Aliases that only one route has. */
const OWN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '/v1/sports/{sport}': { search: ['team'] },
  '/v1/venue_a/markets': { min_volume: ['min_total_volume'] },
}

test('accepts the aliases of a parameter on every route that has the parameter', async () => {
  const { clients, close } = RouteClient.all(server)
  let aliasCount = 0
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
      const own = promised.filter((one) => !canonical.includes(one))
      if (own.length === 0) continue
      const others = client.required.filter(([one]) => one !== name)
      const { status: wanted } = await client.ask({ query: [...others, [name, value]] })
      for (const alias of own) {
        const { status, headers } = await client.ask({ query: [...others, [alias, value]] })
        assert.equal(status, wanted, `${pattern}: ${alias} for ${name}`)
        assert.equal(headers.get('x-unknown-parameters'), undefined, `${pattern}: ${alias}`)
        aliasCount += 1
      }
    }
  }
  close()
  assert.ok(aliasCount > 60, `${aliasCount} aliases`)
})

test('refuses several ids under every alias of a parameter that accepts one id', async () => {
  for (const query of [
    'condition_id=0x1,0x2',
    'condition_ids=0x1,0x2',
    'condition_ids=0x1&condition_ids=0x2',
    'slugs=one,two',
  ]) {
    const response = await fetch(`${server.origin}/v1/venue_a/trades?${query}`, {
      headers: { 'x-api-key': `${ACCOUNT}-key` },
    })
    assert.equal(response.status, 422, query)
    assert.match(await response.text(), /at most 1 item/)
  }
})

test('lists unknown parameters in a response header as safe text of limited length', async () => {
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
  const response = await fetch(`${server.origin}/health?${query}&%0d%0aX-Injected:1`)
  await response.text()
  assert.equal(response.headers.get('x-unknown-parameters'), `${many.slice(0, 16).join(', ')}, +15`)
  assert.equal(response.headers.get('x-injected'), null)
})
