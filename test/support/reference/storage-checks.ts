// Compares a restarted service with the changes that it acknowledged before it was killed. Unanswered requests may have
// taken effect or not.

import { setTimeout as pause } from 'node:timers/promises'
import { type PriceMicros, priceMicros } from '../../../engine/units.ts'
import {
  type HookEntry,
  type KeyEntry,
  type MixedLoad,
  type Person,
  tradeFacts,
} from '../clients/mixed-load.ts'
import {
  bearerHeader,
  type Credential,
  expectAnswer,
  keyHeader,
  requestWithRetry,
} from '../clients/rest-caller.ts'
import type { EventReceiver } from '../fakes/event-receivers.ts'
import { read, type ServiceLocations } from '../rigs/full-service.ts'
import { naiveCandles } from './naive/candles.ts'

interface HookRow {
  readonly id: string
  readonly description: string | null
  readonly active: boolean
}

/** Returns problems as sentences. Resolves the unknown outcomes of users changed since the last check. */
export async function checkPeople(
  { api }: ServiceLocations,
  load: MixedLoad,
  receiver: EventReceiver,
): Promise<readonly string[]> {
  const problems: string[] = []
  const tests: { readonly hook: HookEntry; readonly credential: Credential }[] = []
  for (const person of load.people) {
    const credential = bearerHeader(person.token)
    const isTouched = person.isNew || [...person.keys, ...person.hooks].some((one) => one.isTouched)
    if (!isTouched) continue
    const logLine = (what: string) => problems.push(`${person.email}: ${what}`)
    const me = await requestWithRetry(api, 'GET', '/v1/auth/me', { credential })
    if (me?.status !== 200) logLine(`the account is gone (${me?.status})`)
    if (person.isNew) await checkLogIn(api, person, logLine)
    await checkKeys(api, person, logLine)
    await checkHooks(api, person, logLine)
    for (const hook of person.hooks) {
      if (hook.isTouched && hook.isPresent === true) tests.push({ hook, credential })
    }
  }
  problems.push(...(await checkSecrets(api, tests.slice(-12), receiver)))
  for (const { keys, hooks } of load.people) {
    for (const entry of [...keys, ...hooks]) entry.isTouched = false
  }
  return problems
}

async function checkLogIn(
  api: string,
  person: Person,
  logLine: (what: string) => void,
): Promise<void> {
  person.isNew = false
  const { email, password } = person
  const session = await requestWithRetry(api, 'POST', '/v1/auth/login', {
    body: { email, password },
  })
  if (session?.status !== 200) logLine(`no log-in (${session?.status})`)
}

async function checkKeys(
  api: string,
  person: Person,
  logLine: (what: string) => void,
): Promise<void> {
  const credential = bearerHeader(person.token)
  const { keys } = await expectAnswer(200, api, 'GET', '/v1/keys', { credential })
  const listed = new Set(Array.from(Array.isArray(keys) ? keys : [], ({ id }) => String(id)))
  for (const entry of person.keys) {
    settle(entry, listed, `key ${entry.id}`, logLine)
    if (!entry.isTouched) continue
    const used = await requestWithRetry(api, 'GET', '/v1/auth/me', {
      credential: keyHeader(entry.key),
    })
    const expected = entry.isPresent === true ? 200 : 401
    if (used?.status !== expected) logLine(`key ${entry.id} answers ${used?.status}`)
  }
}

async function checkHooks(
  api: string,
  person: Person,
  logLine: (what: string) => void,
): Promise<void> {
  const credential = bearerHeader(person.token)
  const { webhooks } = await expectAnswer(200, api, 'GET', '/v1/webhooks', { credential })
  const rows: readonly HookRow[] = Array.isArray(webhooks) ? webhooks : []
  const listed = new Map(rows.map((row) => [row.id, row]))
  for (const entry of person.hooks) {
    settle(entry, listed, `webhook ${entry.id}`, logLine)
    const row = listed.get(entry.id)
    if (row === undefined) continue
    const fields = entry.publicFields.find(
      ({ description, active }) => description === row.description && active === row.active,
    )
    if (fields === undefined) logLine(`webhook ${row.id} is ${JSON.stringify(row)}`)
    else entry.publicFields = [fields]
  }
}

/** Checks which objects exist, and resolves unknown outcomes. */
function settle(
  entry: KeyEntry | HookEntry,
  listed: { has(id: string): boolean },
  what: string,
  logLine: (what: string) => void,
): void {
  const isListed = listed.has(entry.id)
  if (entry.isPresent === true && !isListed) logLine(`${what} is missing`)
  if (entry.isPresent === false && isListed) logLine(`${what} is there again`)
  entry.isPresent = isListed
}

/** Each webhook's owner sends a test. The secret acknowledged last must sign it. */
async function checkSecrets(
  api: string,
  tests: readonly { readonly hook: HookEntry; readonly credential: Credential }[],
  receiver: EventReceiver,
): Promise<readonly string[]> {
  const waiting = new Map(tests.map(({ hook }) => [hook.id, hook]))
  const problems: string[] = []
  receiver.onDelivery(({ body, isSignedBy }) => {
    const event: { data: { webhook_id: string } } = JSON.parse(body)
    const hook = waiting.get(event.data.webhook_id)
    if (hook === undefined) return
    waiting.delete(hook.id)
    // The newest secret comes first, because the previous secret signs as well.
    const secret = hook.secrets.toReversed().find(isSignedBy)
    if (secret === undefined) problems.push(`webhook ${hook.id}: signed with no secret of its own`)
    else hook.secrets = [secret]
  })
  for (const { hook, credential } of tests) {
    await expectAnswer(202, api, 'POST', `/v1/webhooks/${hook.id}/test`, { credential })
  }
  for (let tries = 0; waiting.size > 0 && tries < 1_200; tries += 1) await pause(50)
  for (const id of waiting.keys()) problems.push(`webhook ${id}: its test never came`)
  return problems
}

interface TradeRow {
  readonly native_trade_id: string
  readonly timestamp_ms: number
  readonly price: number
  readonly size: number
  readonly size_usd: number
  readonly is_block_trade: boolean
}

/** Every stored trade of a market, newest first. */
async function storedTrades(
  { api, key }: ServiceLocations,
  market: string,
): Promise<readonly TradeRow[]> {
  const trades: TradeRow[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`
    const url = `${api}/v1/markets/${encodeURIComponent(market)}/trades?limit=500${after}`
    const page: { trades: TradeRow[]; cursor: string | null } = await read(url, key)
    trades.push(...page.trades)
    cursor = page.cursor
  } while (cursor !== null)
  return trades
}

/** Returns served trades that are missing or changed. */
export async function checkTrades(
  locations: ServiceLocations,
  load: MixedLoad,
): Promise<readonly string[]> {
  const problems: string[] = []
  const stored = new Map<string, string>()
  const markets = new Set([...load.trades.keys()].map((name) => name.split(' ')[0] ?? ''))
  for (const market of markets) {
    for (const row of await storedTrades(locations, market)) {
      stored.set(`${market} ${row.native_trade_id}`, tradeFacts(row))
    }
  }
  for (const [name, text] of load.trades) {
    const found = stored.get(name)
    if (found === undefined) problems.push(`${name} is missing`)
    else if (found !== text) problems.push(`${name} was ${text} and is ${found}`)
  }
  return problems
}

const micros = (value: number) => Math.round(value * 1e6)
const price = (value: number): PriceMicros => priceMicros(micros(value))

/** Returns candles of a market that differ from its stored trades. */
export async function checkCandles(
  locations: ServiceLocations,
  market: string,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const [interval, lengthMs] of [
    ['1m', 60_000],
    ['1h', 3_600_000],
  ] as const) {
    for (let tries = 0; ; tries += 1) {
      const trades = await storedTrades(locations, market)
      const url = `${locations.api}/v1/markets/${encodeURIComponent(market)}/candles?interval=${interval}&limit=1000`
      const { candles } = await read<{ candles: readonly Candle[] }>(url, locations.key)
      // A trade that arrived between the two reads is in only one of them.
      if ((await storedTrades(locations, market)).length !== trades.length && tries < 20) continue
      const expected = expectedCandles(trades, lengthMs)
      const served = candles.map((candle) => JSON.stringify(shown(candle)))
      if (served.join() !== expected.slice(-1_000).join()) {
        problems.push(
          `${market} ${interval}: ${served.join().slice(0, 300)}, not ${expected.join().slice(0, 300)}`,
        )
      }
      break
    }
  }
  return problems
}

interface Candle {
  readonly timestamp_ms: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly trades_count: number
  readonly vwap: number
}

function shown({ timestamp_ms: startMs, open, high, low, close, volume, ...rest }: Candle) {
  const prices = [open, high, low, close, volume, rest.vwap].map(micros)
  return [startMs, ...prices, rest.trades_count]
}

function expectedCandles(trades: readonly TradeRow[], lengthMs: number): readonly string[] {
  const inBook = trades.filter((trade) => !trade.is_block_trade)
  const rows = inBook.toReversed().map((trade, ordinal) => ({
    ...{ timeMs: trade.timestamp_ms, ordinal, price: price(trade.price) },
    ...{ size: micros(trade.size), usd: micros(trade.size_usd) },
  }))
  return naiveCandles(rows, lengthMs).map((candle) => {
    const { startMs, open, high, low, close, usd, vwap, count } = candle
    return JSON.stringify([startMs, open, high, low, close, usd, vwap, count])
  })
}

/** Number of records with a failed checksum since the service started. */
export async function damagedRecords({ api }: ServiceLocations): Promise<number> {
  const metrics = await (await fetch(`${api}/metrics`)).text()
  const counts = metrics.matchAll(/^storage_records_damaged\{[^}]*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
