import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FetchError } from '../../../../../engine/fetch.ts'
import { walletAddress } from '../../../../../engine/ids.ts'
import { SuspectAnswerError } from '../../../../../engine/venues/answer-checks.ts'
import { DataApi } from '../../../../../engine/venues/polymarket/data-api.ts'
import { readPositions } from '../../../../../engine/venues/polymarket/wallets/positions.ts'
import { readProfile } from '../../../../../engine/venues/polymarket/wallets/profile.ts'
import { quietDrift } from '../../../../support/fakes/quiet-drift.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import {
  randomPast,
  type StubRequest,
  WALLET,
  WalletStub,
} from '../../../../support/fakes/wallet-stub.ts'

const RECORDED = `${process.env.SHARED_DATA ?? '../shared/data'}/wallets`
const skip = existsSync(RECORDED) ? false : 'NO RECORDED WALLETS HERE (SHARED_DATA)'
const OWNER = walletAddress(`0x${'0e'.repeat(20)}`) ?? WALLET
const signal = new AbortController().signal

type Row = Readonly<Record<string, unknown>>

function recorded(name: string): readonly Row[] {
  const rows: unknown = JSON.parse(readFileSync(`${RECORDED}/${name}.json`, 'utf8'))
  assert.ok(Array.isArray(rows))
  return rows
}

/** The fake host has the venue's limits and defaults. */
async function read(open: readonly Row[], closed: readonly Row[], pageRows = 1_000) {
  const stub = new WalletStub(randomPast('none', []))
  stub.others = ({ query }) => {
    const rows = query.get('status') === 'OPEN' ? open : closed
    if (rows === open) assert.equal(query.get('filter_amount'), '0')
    const from = Number(query.get('cursor') ?? 0)
    const data = rows.slice(from, from + Math.min(Number(query.get('limit')), pageRows))
    const next = from + data.length < rows.length ? String(from + data.length) : null
    return { data, pagination: { has_more: next !== null, next_cursor: next } }
  }
  const { counters, countOf } = venueCounters('a')
  const positions = await readPositions({ data: dataOf(stub), counters }, WALLET, signal)
  return { positions, rejectedCount: countOf('rejected', 'bad_position') }
}

const dataOf = (client: WalletStub) => new DataApi({ client, drift: quietDrift() })

function newRow({ asset, conditionId, size, totalBought, realizedPnl, curPrice }: Row): Row {
  return {
    ...{ token_id: asset, condition_id: conditionId, current_size: size ?? 0 },
    ...{ total_size: totalBought, realized_pnl: realizedPnl, current_price: curPrice },
  }
}

const row = (number: number, more: Row = {}): Row => ({
  token_id: `${number}`,
  condition_id: `0x${number}`,
  current_size: 10,
  total_size: 20,
  avg_price: 0.25,
  realized_pnl: -1.5,
  current_price: 0.5,
  ...more,
})
const many = (count: number, from = 0) => Array.from({ length: count }, (_, at) => row(from + at))

test('reads wallet positions with the venue’s own figures, including recorded rows', {
  skip,
}, async () => {
  const open = [...recorded('positions'), ...recorded('em-positions')]
  const closed = recorded('closed_positions')
  const { positions, rejectedCount } = await read(open.map(newRow), closed.map(newRow))
  assert.equal(rejectedCount, 0)
  assert.equal(positions.length, open.length + closed.length)
  for (const [index, position] of positions.entries()) {
    const published = [...open, ...closed][index]
    assert.equal(position.token, published?.asset)
    assert.equal(position.market, published?.conditionId)
    assert.equal(position.isClosed, index >= open.length)
    assert.equal(position.size, position.isClosed ? 0 : Math.round(Number(published?.size) * 1e6))
    assert.equal(position.bought, Math.round(Number(published?.totalBought) * 1e6))
    const average = Math.round(Number(published?.avgPrice) * 1e6)
    const gain = (position.bought * (position.price - average)) / 1e6
    if (position.isClosed) {
      // The venue rounds averages to four decimals.
      assert.ok(Math.abs(position.realized - gain) <= position.bought * 0.00005 + 1, `${index}`)
    }
  }
})

test('reads all pages of a wallet’s open positions, and closed positions up to a limit', async () => {
  const all = await read(many(2_203), many(120, 5_000))
  assert.equal(all.positions.length, 2_323)
  assert.equal((await read(many(700), many(7, 5_000), 90)).positions.length, 707, 'smaller pages')
  const tooMany = await read(many(3), many(9_000, 5_000))
  assert.equal(tooMany.positions.length, 2_003)
  const bad = await read([row(1), row(2, { current_price: 7 }), row(3, { token_id: '' })], [])
  assert.deepEqual([bad.positions.length, bad.rejectedCount], [1, 2])
  const looping = new WalletStub(randomPast('none', []))
  const pagination = { has_more: true, next_cursor: 'again' }
  looping.others = () => ({ data: many(3), pagination })
  const { counters } = venueCounters('a')
  const requesting = () => readPositions({ data: dataOf(looping), counters }, WALLET, signal)
  await assert.rejects(requesting(), SuspectAnswerError)
  assert.equal(looping.requests.length, 2, 'reading stops when a cursor repeats')
  looping.others = () => ({ error: 'no' })
  await assert.rejects(requesting(), SuspectAnswerError)
})

async function profile(
  address: typeof WALLET,
  others: (request: StubRequest) => unknown,
  past = randomPast('none', []),
) {
  const stub = new WalletStub(past)
  stub.others = others
  return await readProfile({ gamma: stub, data: dataOf(stub) }, address, signal)
}

test('reads the proxy address of a profile, and the profile’s owner when the owner is known', async () => {
  const published = {
    proxyWallet: WALLET.toUpperCase().replace('0X', '0x'),
    name: 'Someone',
    pseudonym: 'Quiet-Otter',
    profileImage: '',
  }
  const existing = { proxy: WALLET, handle: 'Someone', pseudonym: 'Quiet-Otter', image: null }
  assert.deepEqual(await profile(WALLET, () => published), { ...existing, eoa: null })
  assert.deepEqual(await profile(OWNER, () => published), { ...existing, eoa: OWNER })
  const based = { ...published, baseAddress: OWNER }
  assert.deepEqual(await profile(WALLET, () => based), { ...existing, eoa: OWNER })
})

test('accepts a wallet without a profile if the wallet has trades or activity', async () => {
  const bare = { proxy: WALLET, eoa: null, handle: null, pseudonym: null, image: null }
  const traded = (count: number, answer: unknown) => (request: StubRequest) =>
    request.path === '/v2/user-stats' ? { data: count === 0 ? null : { trades: count } } : answer
  for (const answer of [404, null, {}, { proxyWallet: '' }, []]) {
    assert.deepEqual(await profile(WALLET, traded(3, answer)), bare)
    assert.deepEqual(await profile(WALLET, traded(0, answer), randomPast('one', [1])), bare)
    assert.equal(await profile(WALLET, traded(0, answer)), null)
  }
  for (const answer of [500, 'html', 429]) {
    await assert.rejects(
      profile(WALLET, () => answer),
      FetchError,
    )
  }
})

test('includes a wallet’s position whose average price is negative after a conversion', async () => {
  const rows = [
    row(1, { avg_price: -0.31 }),
    row(2, { avg_price: 1.2 }),
    row(3, { avg_price: null }),
  ]
  const { positions, rejectedCount } = await read(rows, [])
  assert.deepEqual([positions.length, rejectedCount], [3, 0])
})
