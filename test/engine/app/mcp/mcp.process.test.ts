import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { McpCalls } from '../../../../engine/app/mcp/mcp-calls.ts'
import { accountId } from '../../../../engine/ids.ts'
import { isRecord } from '../../../../engine/json-record.ts'
import {
  ACCOUNT,
  type DocumentedServer,
  openDocumentedServer,
  POOR_ACCOUNT,
} from '../../../support/rigs/documented-server.ts'

const NAMES = [
  'search_markets',
  'get_market',
  'get_orderbook',
  'get_trades',
  'get_candles',
  'find_matches',
  'find_arbitrage',
  'quote_basket',
  'get_whales',
  'get_wallet',
  'get_health',
]
const MARKET = 'venue_a_a0'
const LEGS = [{ market_id: MARKET }, { market_id: 'venue_b_b0', outcome: 'no' }]
/** A call of each tool, and the REST request that has the same answer. */
const CALLS: readonly (readonly [name: string, args: Record<string, unknown>, path: string])[] = [
  ['search_markets', { search: 'happen' }, '/v1/markets/search?search=happen&limit=10'],
  ['get_market', { market_id: MARKET }, `/v1/markets/${MARKET}`],
  ['get_orderbook', { market_id: MARKET }, `/v1/markets/${MARKET}/orderbook?depth=10`],
  ['get_trades', { market_id: MARKET, limit: 3 }, `/v1/markets/${MARKET}/trades?limit=3`],
  ['get_candles', { market_id: MARKET }, `/v1/markets/${MARKET}/candles?limit=50`],
  ['find_matches', {}, '/v1/matching-markets?limit=10'],
  ['find_arbitrage', {}, '/v1/arbitrage?limit=10'],
  ['quote_basket', { legs: LEGS }, '/v1/arbitrage/quote'],
  ['get_whales', { side: 'buy' }, '/v1/whales?limit=20&side=buy'],
  ['get_health', {}, '/health'],
]

let server: DocumentedServer
const mcp = new McpCalls()
const ajv = new Ajv2020({ strict: false, validateFormats: false })

before(async () => {
  server = await openDocumentedServer({ mcp })
  mcp.listen('127.0.0.1', server.port)
  // Builds the document and starts the thread, which takes longer than a request may on a busy machine.
  await fetch(`${server.origin}/openapi.json`)
  await mcp.handle({ body: '{}', headers: {}, credential: {} }, accountId('acc_first'))
})
after(async () => {
  await mcp.stop()
  await server.stop()
})

const withKey = (account = ACCOUNT) => ({ 'x-api-key': `${account}-key` })

async function connectHttp(
  mode: 'legacy' | 'auto' = 'auto',
  headers: Record<string, string> = withKey(),
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const address = new URL('/mcp', server.origin)
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
  return client
}

async function connectStdio(...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', 'tsx', 'engine/app/commands/mcp.ts', '--url', server.origin, ...args],
    env: { PATH: process.env.PATH ?? '' },
    stderr: 'pipe',
  })
  await client.connect(transport)
  return client
}

async function restBody(name: string, path: string): Promise<unknown> {
  const init =
    name === 'quote_basket' ? { method: 'POST', body: JSON.stringify({ legs: LEGS }) } : {}
  const response = await fetch(server.origin + path, { headers: withKey(), ...init })
  assert.equal(response.status, 200, path)
  return response.json()
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const {
    isError = false,
    content,
    structuredContent,
  } = await client.callTool({
    ...{ name, arguments: args },
  })
  const [part] = content
  const text = part?.type === 'text' ? part.text : ''
  return { isError, text, structured: structuredContent }
}

async function answersEveryTool(client: Client): Promise<void> {
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
    NAMES.map((name) => [name, true]),
  )
  for (const [name, args, path] of CALLS) {
    const expected = await restBody(name, path)
    const { isError, text, structured } = await call(client, name, args)
    assert.equal(isError, false, `${name}: ${text}`)
    assert.deepEqual(JSON.parse(text), structured, name)
    const schema = tools.find((tool) => tool.name === name)?.outputSchema
    const isValid = ajv.compile(JSON.parse(JSON.stringify(schema)))
    assert.ok(isValid(structured), `${name}: ${JSON.stringify(isValid.errors)}`)
    assert.ok(isRecord(structured))
    const { result, data, stale, as_of: asOf } = structured
    assert.deepEqual(result, expected, name)
    assert.deepEqual([data, stale], ['live', false], name)
    assert.equal(new Date(String(asOf)).toISOString(), asOf)
  }
}

describe('MCP over HTTP', () => {
  for (const mode of ['auto', 'legacy'] as const) {
    test(`answers every tool with the REST body, as text and structured content, to a client in mode ${mode}`, async () => {
      const client = await connectHttp(mode)
      assert.equal(client.getNegotiatedProtocolVersion() === '2026-07-28', mode === 'auto')
      await answersEveryTool(client)
      await client.close()
    })
  }

  test('refuses a client without a key or with a wrong one, and counts calls against the account', async () => {
    await assert.rejects(connectHttp('auto', {}), /401|Unauthorized/i)
    await assert.rejects(connectHttp('auto', { 'x-api-key': 'pmk_wrong' }), /401|Unauthorized/i)
    await assert.rejects(connectHttp('auto', withKey(POOR_ACCOUNT)), /429|at most/i)
  })

  test('says what is accepted when an argument is wrong', async () => {
    const client = await connectHttp()
    const wrong: readonly [string, Record<string, unknown>, RegExp][] = [
      ['get_trade', {}, /the tools are search_markets, get_market/],
      ['get_market', {}, /needs the argument market_id/],
      [
        'get_trades',
        { market_id: MARKET, size: 1 },
        /no argument size; it accepts market_id, limit/,
      ],
      ['get_trades', { market_id: MARKET, limit: 101 }, /limit .* accepts .*"maximum":100/],
      ['get_trades', { market_id: MARKET, limit: 'ten' }, /422: limit: .*valid integer/],
      ['get_trades', { market_id: MARKET, limit: { toString: 1 } }, /limit .* accepts/],
      ['get_trades', { market_id: MARKET, side: {} }, /side .* accepts .*buy.*sell/],
      ['get_candles', { market_id: MARKET, interval: '2m' }, /422: interval: .*1m/],
      ['quote_basket', { legs: [] }, /422: legs: .*at least 2/],
      ['get_wallet', { address: 'bob' }, /422: address/],
    ]
    for (const [name, args, pattern] of wrong) {
      const { isError, text, structured } = await call(client, name, args)
      assert.ok(isError && structured === undefined, name)
      assert.match(text, pattern)
    }
    await client.close()
  })

  test('reads no other path than the one of the tool, whatever the arguments contain', async () => {
    const client = await connectHttp()
    const ids = [
      '.',
      '..',
      '',
      '../stats',
      '..%2fstats',
      '%2e%2e',
      'a?limit=1',
      '#',
      '\ud800',
      '\0',
      '\r\nx: y',
    ]
    for (const id of ids) {
      const { isError, text } = await call(client, 'get_market', { market_id: id })
      assert.ok(isError, JSON.stringify(id))
      assert.match(text, /market_id has a value that is not accepted|no such market|404|400/)
    }
    for (const args of [{ constructor: 1 }, { toString: 1 }]) {
      assert.match((await call(client, 'get_health', args)).text, /it accepts no arguments/)
    }
    await client.close()
  })

  test('refuses pages of other hosts, large bodies and bodies that are not JSON-RPC', async () => {
    const post = async (
      headers: Record<string, string>,
      body: string | Uint8Array<ArrayBuffer>,
    ) => {
      const init = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const { status } = await fetch(`${server.origin}/mcp`, {
        ...{ method: 'POST', headers: { ...init, ...withKey(), ...headers }, body },
      })
      return status
    }
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    assert.equal(await post({}, list), 200)
    assert.equal(await post({ origin: server.origin }, list), 200)
    assert.equal(await post({ origin: 'https://evil.example' }, list), 403)
    assert.equal(await post({ origin: 'null' }, list), 403)
    assert.equal(await post({}, 'x'.repeat(16_385)), 413)
    for (const body of ['', '{', '[]', ` [${list}]`, 'null', '{"jsonrpc":"2.0"}']) {
      assert.equal(await post({}, body), 400, body)
    }
    assert.equal(await post({}, new Uint8Array([0xff])), 400)
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }
    assert.notEqual(await post({}, JSON.stringify(subscribe)), 503)
    assert.equal((await fetch(`${server.origin}/mcp`, { headers: withKey() })).status, 405)
  })
})

describe('MCP requests', () => {
  test('runs at most eight at once for an account', async () => {
    const account = accountId('acc_busy')
    const request = { body: '{}', headers: {}, credential: {} }
    const running = Array.from({ length: 8 }, () => mcp.handle(request, account))
    await assert.rejects(
      mcp.handle(request, account),
      /RATE_LIMITED: an account may have 8 MCP requests at once/,
    )
    await Promise.all(running)
    await mcp.handle(request, account)
  })
})

describe('npm run mcp', () => {
  test('answers every tool over standard input and output', async () => {
    const client = await connectStdio('--key', `${ACCOUNT}-key`)
    await answersEveryTool(client)
    await client.close()
  })

  test('returns the refusal of the service when the key is wrong', async () => {
    const client = await connectStdio('--key', 'pmk_wrong')
    const { isError, text } = await call(client, 'get_market', { market_id: MARKET })
    assert.ok(isError)
    assert.match(text, /401: missing or invalid API key/)
    await client.close()
  })
})
