// Shared by all SDK scripts.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const host = process.env.SIM_HOST ?? '127.0.0.1'
const port = Number(process.env.SIM_PORT ?? 4010)
const at = (scheme, step, path = '') => `${scheme}://${host}:${port + step}${path}`

export const urls = {
  gamma: at('http', 0),
  clob: at('http', 1),
  data: at('http', 2),
  rtdsWs: at('ws', 3),
  marketWs: at('ws', 1, '/ws/market'),
  kalshiRest: at('http', 10, '/trade-api/v2'),
  kalshiWs: at('ws', 10, '/trade-api/ws/v2'),
}

/** `npm run venues` writes the key file. */
export function kalshiKey() {
  const folder = process.env.DATA_DIR ?? new URL('../../../data', import.meta.url).pathname
  return { id: 'sim', pem: readFileSync(join(folder, 'sim-kalshi.pem'), 'utf8') }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function state(query) {
  const answer = await fetch(`${urls.gamma}/sim/state?${query}`)
  assert.equal(answer.status, 200, `/sim/state?${query}`)
  return await answer.json()
}

/** State of the simulator from /sim/state. Prices and sizes are in millionths. */
export const truth = {
  pause: () => state('action=pause'),
  resume: () => state('action=resume'),
  summary: () => state('view=summary'),
  wallet: (address) => state(`view=wallet&address=${address}`),
  books: async (venue) => (await state(`view=books&venue=${venue}`)).books,
  async trades(venue) {
    const rows = []
    for (;;) {
      const page = await state(`view=trades&venue=${venue}&from_index=${rows.length}`)
      rows.push(...page.trades)
      if (page.next_index >= page.total || page.trades.length === 0) return rows
    }
  },
}

/** Several reads during `work` see the same state. */
export async function whilePaused(work) {
  await truth.pause()
  try {
    return await work()
  } finally {
    await truth.resume()
  }
}

export const micros = (text) => Math.round(Number(text) * 1e6)
const ONE = 1_000_000

/** An outcome's side of the simulator's book: [[price, size]] in millionths, best first. */
export function bookOf(book, outcomeIndex) {
  if (outcomeIndex === 0) return { bids: book.bids, asks: book.asks }
  const mirror = (rows) => rows.map(([price, size]) => [ONE - price, size])
  return { bids: mirror(book.asks), asks: mirror(book.bids) }
}

/** Removes Kalshi's trades of combination markets, which the simulator's state lacks. */
export function withoutCombos(trades, real) {
  const ids = new Set(real.map(({ id }) => id))
  return trades.filter(({ trade_id: id }) => !id.startsWith('c1') || ids.has(id))
}

/** Id of the market with most of these trades. */
export function busiestOf(trades) {
  const counts = new Map()
  for (const { native_id: id } of trades) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

/** Groups trades as the venue lists them: one row for each transaction with total size and average price. */
export function transactions(trades) {
  const all = new Map()
  for (const trade of trades) {
    const { tx_hash: hash, size_micros: size, price_micros: price } = trade
    const { size: sizes = 0, usd = 0, first = trade } = all.get(hash) ?? {}
    all.set(hash, { hash, first, size: sizes + size, usd: usd + size * price })
  }
  return [...all.values()].map((each) => ({ ...each, price: Math.round(each.usd / each.size) }))
}

const rows = []

/** `work` returns the text of the result row, or throws. */
export async function check(call, work) {
  try {
    const shown = await work()
    rows.push({ call, result: String(shown), ok: true })
  } catch (error) {
    const text = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    rows.push({ call, result: text.slice(0, 300), ok: false })
    if (process.env.SDK_TRACE === '1') console.error(call, error)
  }
}

/** Whether the error is a response of the retired version 1 of the Data API. */
export const isRetired = (error) => /\b410\b|retired/.test(`${error?.status} ${error?.message}`)

/** Prints the table, or a line of JSON with `--json`, and exits. */
export function finish(script) {
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ script, rows })}\n`, leave)
    return
  }
  const width = Math.max(...rows.map(({ call }) => call.length))
  const lines = rows.map(
    ({ call, result, ok }) => `  ${ok ? 'ok  ' : 'FAIL'}  ${call.padEnd(width)}  ${result}`,
  )
  process.stdout.write(`${script}\n${lines.join('\n')}\n`, leave)
}

// SDKs leave sockets and timers open, so the process would not exit by itself.
const leave = () => process.exit(rows.every(({ ok }) => ok) ? 0 : 1)
