import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineError } from '../../../engine/errors.ts'
import { priceMicros, timeMs } from '../../../engine/units.ts'
import type { WalletEvent } from '../../../engine/wallet.ts'
import { packBlock } from '../../../engine/wallets/ledger-block.ts'
import { PnlState } from '../../../engine/wallets/pnl-state.ts'
import { openWalletThread, type WalletPort } from '../../../engine/wallets/wallet-thread.ts'
import { accountFigures, naiveFigures, positionOf } from '../../support/reference/wallet-figures.ts'
import { randomHistory } from '../../support/worlds/wallet-histories.ts'
import { walletsInline } from '../../support/worlds/wallet-venue.ts'

const ALL = [[0, Number.MAX_SAFE_INTEGER]] as const
const SLICES = 5

const history = (seed: number) =>
  randomHistory(seed, { isComplete: true, eventCount: 500, groupCount: 6 })

test('computes the same PnL state in the worker thread as in the main thread and in the reference implementation', async () => {
  const thread = openWalletThread()
  try {
    for (const seed of [1, 2]) {
      const { events, markets } = history(seed)
      const slices = sliced(events, SLICES).map((slice) => packBlock(slice))
      const complete = await build(walletsInline(), { blocks: [packBlock(events)], markets })
      let packed = PnlState.empty().pack()
      for (const block of slices) {
        const base = packed
        const result = await thread.run({ base, blocks: [block], markets })
        assert.ok(result instanceof Uint8Array)
        assert.deepEqual(
          [base.byteLength, block.byteLength],
          [0, 0],
          'both buffers were transferred',
        )
        packed = result
      }
      const pnlState = PnlState.unpack(packed)
      assert.ok(pnlState !== null)
      assert.deepEqual(accountFigures(pnlState, ALL), accountFigures(complete, ALL))
      const find = (id: string) => markets.find(({ nativeId }) => nativeId === id) ?? null
      assert.deepEqual(accountFigures(pnlState, ALL), naiveFigures(events, find, ALL))
    }
  } finally {
    await thread.close()
  }
})

test('requests a rebuild when the stored PnL state is damaged, and reports a damaged ledger block', async () => {
  const port = walletsInline()
  const { events, markets } = history(3)
  const block = () => packBlock(events)
  const damaged = new Uint8Array(64)
  assert.equal(await port.run({ base: damaged, blocks: [block()], markets }), 'rebuild')
  assert.equal(await port.run({ base: null, blocks: [block(), damaged], markets }), 'damaged')
  const unresolved = markets.map((market) => ({
    ...market,
    tokens: [],
    payout: null,
    resolvedAtMs: null,
  }))
  const early = await port.run({ base: null, blocks: [block()], markets: unresolved })
  assert.ok(early instanceof Uint8Array)
  assert.equal(
    await port.run({ base: early, blocks: [], markets }),
    'rebuild',
    'the base was built with unknown facts',
  )
})

test('adds market resolutions to a PnL state in a task without wallet events', async () => {
  const port = walletsInline()
  const { events, markets } = history(4)
  const [market] = markets
  assert.ok(market !== undefined)
  const bought = events.filter((event) => event.kind === 'buy' && event.market === market.nativeId)
  const open = { ...market, payout: null, resolvedAtMs: null }
  const base = await port.run({ base: null, blocks: [packBlock(bought)], markets: [open] })
  assert.ok(base instanceof Uint8Array)
  const payout = { payout: priceMicros(0), resolvedAtMs: timeMs(bought[0]?.timeMs ?? 0) }
  const pnlState = await build(port, { base, blocks: [], markets: [{ ...market, ...payout }] })
  const yes = positionOf(pnlState, market.tokens[0] ?? bought[0]?.token ?? fail())
  assert.equal(yes.amount, 0)
  assert.ok(yes.lost > 0 && yes.realized === -yes.lost)
})

test('preserves byte arrays that share a buffer, and refuses tasks beyond the limit', async () => {
  const thread = openWalletThread()
  try {
    const { events, markets } = history(5)
    const block = packBlock(events)
    const page = new Uint8Array(block.byteLength + 8)
    page.set(block, 8)
    const tasks = Array.from({ length: 40 }, () =>
      thread.run({ base: null, blocks: [page.subarray(8)], markets }),
    )
    const results = await Promise.allSettled(tasks)
    const made = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    assert.ok(made.length >= 16 && refused.length > 0, `${made.length} made`)
    assert.ok(made.every((result) => result instanceof Uint8Array))
    assert.ok(
      refused.every((error) => error instanceof EngineError && error.code === 'UNAVAILABLE'),
    )
    assert.deepEqual(page.subarray(8), block, 'the shared page was copied')
  } finally {
    await thread.close()
  }
})

function fail(): never {
  throw new Error('the history has no such position')
}

async function build(
  port: WalletPort,
  task: Partial<Parameters<WalletPort['run']>[0]> &
    Pick<Parameters<WalletPort['run']>[0], 'markets'>,
): Promise<PnlState> {
  const result = await port.run({ base: null, blocks: [], ...task })
  const pnlState = result instanceof Uint8Array ? PnlState.unpack(result) : null
  assert.ok(pnlState !== null, String(result))
  return pnlState
}

function sliced(events: readonly WalletEvent[], count: number): WalletEvent[][] {
  const length = Math.ceil(events.length / count)
  return Array.from({ length: count }, (_, index) =>
    events.slice(index * length, (index + 1) * length),
  )
}
