import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { ScriptedFaults, twoMarkets } from '../../../../support/clients/kalshi-client.ts'

test('drops, repeats or swaps numbered book deltas under the faults lost_delta, silence, duplicate and reorder', async (t) => {
  const seqs = async (fault: 'lost_delta' | 'duplicate' | 'reorder' | 'silence') => {
    const faults = new ScriptedFaults(fault)
    const { venue, world, first, clock } = await twoMarkets(t, faults)
    const client = await venue.connect()
    const ticker = first.listing.nativeId
    client.send('subscribe', { channels: ['orderbook_delta'], market_ticker: ticker })
    await client.drain()
    world.setLevels(first, [['bid', 40, 1]])
    faults.isOn = true
    if (fault === 'silence') clock.advance(1_000)
    world.setLevels(first, [['bid', 40, 2]])
    faults.isOn = false
    if (fault === 'silence') clock.advance(20_000)
    world.setLevels(first, [['bid', 40, 3]])
    world.setLevels(first, [['bid', 40, 4]])
    return (await client.drain()).map(({ seq }) => seq)
  }
  assert.deepEqual(await seqs('lost_delta'), [2, 4, 5])
  assert.deepEqual(await seqs('silence'), [2, 4, 5])
  assert.deepEqual(await seqs('duplicate'), [2, 3, 3, 4, 5])
  assert.deepEqual(await seqs('reorder'), [2, 4, 3, 5])
})

test('closes the client’s socket when the fault `disconnect` occurs', async (t) => {
  const faults = new ScriptedFaults('disconnect')
  const { venue, clock } = await twoMarkets(t, faults)
  const client = await venue.connect()
  const closed = once(client.socket, 'close')
  faults.isOn = true
  clock.advance(1_000)
  assert.equal((await closed)[0], 1006)
})

test('disconnects a client when 64 MiB of sent data are unread', async (t) => {
  const { venue, world, first } = await twoMarkets(t)
  for (let price = 1; price < 44; price += 1) world.setLevels(first, [['bid', price, price]])
  const client = await venue.connect()
  client.send('subscribe', { channels: ['orderbook_delta'], market_ticker: first.listing.nativeId })
  await client.drain()
  client.socket.on('error', () => {})
  const closed = once(client.socket, 'close')
  client.socket.pause()
  const tickers = new Array(4_000).fill(first.listing.nativeId)
  for (let round = 0; round < 40; round += 1) {
    client.send('update_subscription', { sid: 1, action: 'get_snapshot', market_tickers: tickers })
  }
  // Answers to a second client show that the server has processed these commands.
  const other = await venue.connect()
  for (let round = 0; round < 100; round += 1) await other.drain()
  client.socket.resume()
  await closed
  assert.equal(other.socket.readyState, WebSocket.OPEN)
})
