import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../engine/config.ts'
import { readTapeSelection } from '../../../engine/tape-selection.ts'

test('parses the markets that the tape records: all markets, a minimum volume, or a list of ids', () => {
  assert.deepEqual(readTapeSelection(' * '), { kind: 'all' })
  assert.deepEqual(readTapeSelection('min_volume: 2500.5'), {
    kind: 'minVolume',
    volume: 2_500_500_000,
  })
  assert.deepEqual(readTapeSelection('venue_a_0xAB, venue_b_KX-1'), {
    kind: 'markets',
    ids: new Set(['venue_a_0xab', 'venue_b_kx-1']),
  })
  for (const text of ['', 'all', 'min_volume:', 'min_volume:-1', 'venue_a_0x,', 'top:5', '*,a_b']) {
    assert.equal(readTapeSelection(text), null, text)
  }
})

test('records the tape by default when the venues are live, and not when the venues are simulated', () => {
  assert.equal(loadConfig({}).tape, null)
  assert.notEqual(loadConfig({ VENUES: 'live' }).tape, null)
  assert.equal(loadConfig({ VENUES: 'live', TAPE: 'off' }).tape, null)
  const tape = loadConfig({ TAPE: 'on', TAPE_DAYS: '3', TAPE_MAX_GB: '0.5' }).tape
  assert.deepEqual(tape, { daysMax: 3, bytesMax: 2 ** 29, selection: { kind: 'all' } })
  assert.throws(() => loadConfig({ TAPE_MARKETS: 'all' }), /TAPE_MARKETS is "all"; it accepts "\*"/)
})
