import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { timeMs } from '../../../engine/units.ts'
import type { WalletMarket } from '../../../engine/wallet.ts'
import { walletActivityRecord, walletTradeRecord } from '../../../http/wallets/events.ts'
import { NAMES, NOON } from '../../support/worlds/builders.ts'
import { addressOf } from '../../support/worlds/stored-wallets.ts'
import { fillAt } from '../../support/worlds/wallet-venue.ts'

const OLD: WalletMarket = {
  ...{ nativeId: nativeMarketId('old'), question: 'Was it?', slug: 'was-it', eventSlug: 'was' },
  tokens: [outcomeId('old-yes'), outcomeId('old-no')],
  ...{ labels: ['Up', 'Down'], payout: null, resolvedAtMs: null, group: null },
  takerFee: null,
}
const PARTIES = { names: NAMES, proxy: addressOf(1) }

function row(outcome: 'yes' | 'no', facts: WalletMarket | null) {
  const event = fillAt(NOON, { name: 'old', outcome })
  return { event, timeMs: timeMs(NOON), ordinal: 0, id: 'id', view: null, facts }
}

test('returns the names of a removed market in a wallet’s events, and converts prices and sides to the first outcome', () => {
  const fieldsOf = ([outcome, facts]: readonly ['yes' | 'no', WalletMarket | null]) => {
    const record = walletTradeRecord(row(outcome, facts), PARTIES)
    const { question, slug, price, side } = record
    return [question, slug, record.outcome, price, side]
  }
  const [named, unnamed] = [
    ['Was it?', 'was-it'],
    [null, null],
  ]
  assert.deepEqual(fieldsOf(['yes', OLD]), [...named, 'Up', 0.4, 'buy'])
  assert.deepEqual(fieldsOf(['no', OLD]), [...named, 'Down', 0.6, 'sell'])
  // A token of an unknown outcome counts as the first outcome.
  assert.deepEqual(fieldsOf(['no', null]), [...unnamed, null, 0.4, 'buy'])
  const blank = { ...OLD, tokens: [], labels: [], question: null, slug: null, eventSlug: null }
  assert.deepEqual(fieldsOf(['no', blank]), [...unnamed, null, 0.4, 'buy'])
  const { question, slug } = walletActivityRecord(row('yes', OLD), NAMES)
  assert.deepEqual([question, slug], named)
})
