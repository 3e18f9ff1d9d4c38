import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { RawReader } from '../support/clients/raw-reader.ts'
import { refusedUpgrade, StreamClient } from '../support/clients/stream-client.ts'
import { Rig, read, type ServiceLocations } from '../support/rigs/full-service.ts'
import type { TestProcess } from '../support/rigs/processes.ts'

const STREAMS = 100
const rig = new Rig()
let engine: TestProcess
let locations: ServiceLocations
let port = 0
before(async () => {
  await rig.startVenues({ messagesPerSecond: 200, marketsPerVenue: 20, faults: 'off' })
  ;({ engine, locations } = await rig.startEngine({ LOG_LEVEL: 'trace' }))
  port = Number(new URL(locations.api).port)
})
after(() => rig.close())

test('writes no key, password or token to a log line, an error response or a metric', async (t) => {
  const password = 'correct-horse-7-battery'
  const reported: string[] = []
  const post = async (path: string, body: unknown, token?: string) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { 'content-type': 'application/json', ...authorization }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return fetch(`${locations.api}${path}`, init)
  }
  const account = { email: 'loose@example.org', password }
  const signedUp = await post('/v1/auth/signup', account)
  assert.ok(signedUp.ok, `signup was answered with ${signedUp.status}`)
  const session: { access_token: string } = JSON.parse(await signedUp.text())
  const token = session.access_token
  const made = await post('/v1/keys', { label: 'stream' }, token)
  assert.ok(made.ok, `a new key was answered with ${made.status}`)
  const { id, key }: { id: string; key: string } = JSON.parse(await made.text())
  assert.ok(key.startsWith('pmk_') && token.length > 20)
  const secrets = [key, token, password, locations.key]
  const hostile = [`pmk_${'x'.repeat(30)}`, `${token}x`]
  const query = `api_key=${key}`
  // Sends the key in every input that a response may repeat.
  for (const wrong of [
    `${query}&encoding=${key}`,
    `${query}&x=%zz`,
    `access_token=${hostile[1]}`,
  ]) {
    reported.push((await refusedUpgrade(port, wrong)).body)
  }
  for (const path of [
    `/v1/markets?${query}&limit=nope`,
    `/v1/markets/nothing?${query}`,
    `/v1/nowhere?${query}`,
    `/v1/markets?api_key=${hostile[0]}`,
  ]) {
    reported.push(await (await fetch(`${locations.api}${path}`)).text())
  }
  reported.push(
    await (await post('/v1/auth/login', { ...account, password: `${password}!` })).text(),
  )
  reported.push(await (await post('/v1/auth/signup', account)).text())
  const client = await StreamClient.open(port, query)
  client.send({ action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'] })
  client.send('{"action":')
  client.send({ action: 'dance', id: 2, api_key: key })
  const error = await client.next(({ code }) => code === 'UNKNOWN_ACTION')
  reported.push(JSON.stringify(error))
  const authorization = `Bearer ${token}`
  const removed = await fetch(`${locations.api}/v1/keys/${id}`, {
    ...{ method: 'DELETE', headers: { authorization } },
  })
  assert.equal(removed.status, 204)
  assert.equal((await client.closed).code, 4010)
  reported.push((await refusedUpgrade(port, query)).body)
  reported.push(await (await fetch(`${locations.api}/metrics`)).text())
  const log = engine.stderr()
  t.diagnostic(`${log.length} characters of log, ${reported.length} answers`)
  for (const [index, secret] of [...secrets, ...hostile].entries()) {
    assert.ok(!log.includes(secret), `secret ${index} is in the log`)
    for (const text of reported) assert.ok(!text.includes(secret), `secret ${index}: ${text}`)
  }
})

test('closes every stream with code 1001 and exits with code 0 when the engine receives SIGTERM under load', async () => {
  const commands = [
    { action: 'subscribe', id: 1, channels: ['orderbook', 'trades'], market_ids: ['*'] },
  ]
  const readers = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      RawReader.open(port, `api_key=${locations.key}`, commands),
    ),
  )
  const watching = await StreamClient.open(port, `api_key=${locations.key}`)
  await watching.ask({ action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'] }, 'synced')
  const last = await watching.ofType('trade')
  // The service exits with an error code if the shutdown takes longer than 15 s.
  assert.equal(await engine.end('SIGTERM'), 0)
  await Promise.all(readers.map(({ closed }) => closed))
  assert.deepEqual(
    readers.map(({ closeCode }) => closeCode),
    readers.map(() => 1001),
  )
  assert.equal((await watching.closed).code, 1001)
  // Trades published before the shutdown must be stored.
  ;({ engine, locations } = await rig.startEngine())
  const id = encodeURIComponent(String(last.market_id))
  const url = `${locations.api}/v1/markets/${id}/trades?limit=500`
  const { trades } = await read<{ trades: { id: string }[] }>(url, locations.key)
  const published: unknown =
    typeof last.data === 'object' && last.data !== null && 'id' in last.data ? last.data.id : null
  assert.ok(trades.some((trade) => trade.id === published))
})
