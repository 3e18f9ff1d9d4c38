// The steps of the golden run in order. golden-run.ts performs and records them.

import { type GoldenRun, statusEvent } from './golden-run.ts'
import type { Recording } from './replayed-service.ts'

const ENCODINGS = [
  ['json', ''],
  ['msgpack', '&encoding=msgpack'],
  ['json batch', '&batch=on'],
  ['msgpack batch', '&encoding=msgpack&batch=on'],
] as const

export async function playGoldenStory(run: GoldenRun, recording: Recording): Promise<void> {
  await run.openAccount()
  await run.openWebhooks()
  await run.playTo(5)
  for (const [name, query] of ENCODINGS) await run.subscribeAll(await run.stream(name, query))
  await run.playTo(40)
  await commands(run)
  await run.playTo(100)
  await lossesAndEnds(run, recording)
  await resumes(run)
  await run.playTo(600)
  await run.endStreams()
  await run.readAll()
  await run.writeAll()
}

/** Sends commands with options, lists, snapshots, and each kind of refused command. */
async function commands(run: GoldenRun): Promise<void> {
  const ids = await run.marketIds()
  const [one = '', two = ''] = [ids.a[0], ids.b[0]]
  for (const [name, query] of ENCODINGS.slice(0, 2)) {
    const stream = await run.stream(`commands ${name}`, query)
    const accepted = [
      {
        action: 'subscribe',
        id: 1,
        channel: 'depth',
        market_ids: [one],
        levels: 5,
        conflate_ms: 100,
      },
      { action: 'subscribe', id: 2, channel: 'prices', market_ids: [one, two], conflate_ms: 250 },
      { op: 'subscribe', id: 3, channel: 'candles', markets: [two], interval: '5m' },
      {
        action: 'subscribe',
        id: 4,
        channels: ['orderbook', 'trades'],
        market_ids: [one, 'venue_a_none'],
      },
      { action: 'subscribe', id: 5, channel: 'whales', platform: 'venue_b' },
      { action: 'subscribe', id: 6, channel: 'arbitrage', market_ids: ['*'], min_profit_usd: 5 },
      { action: 'subscribe', id: 7, channel: 'lifecycle', event_slugs: [ids.slug] },
      { action: 'list', id: 8 },
      { action: 'snapshot', id: 9, market_ids: [one, two] },
      { action: 'ping', id: 10 },
      { action: 'unsubscribe', id: 11, channel: 'depth', market_ids: [one] },
      { action: 'list', id: '12' },
    ]
    for (const command of accepted) {
      stream.send(command)
      await run.playTo(run.second + 1)
    }
    await run.playTo(run.second + 10)
    stream.send('{"action":')
    stream.send({ action: 'shout', id: 13 })
    stream.send({ action: 'subscribe', id: 14, channel: 'weather', market_ids: ['*'] })
    stream.send({ action: 'subscribe', id: 15, channel: 'trades' })
    stream.send({ action: 'snapshot', id: 16, market_ids: ['*'] })
    stream.send({ action: 'subscribe', id: 17, channel: 'depth', market_ids: [one], levels: 7 })
    stream.send({ action: 'ping', id: 18, filler: 'x'.repeat(20_000) })
    stream.send(
      Buffer.from([0x81, 0xa6, 0x61, 0x63, 0x74, 0x69, 0x6f, 0x6e, 0xa4, 0x6c, 0x69, 0x73, 0x74]),
    )
    await stream.barrier()
    await run.playTo(run.second + 2)
    await run.endStream(stream)
  }
}

/** A trade stream is down for a while, books miss messages, and markets end. */
async function lossesAndEnds(run: GoldenRun, recording: Recording): Promise<void> {
  const { service } = run
  service.feed('a', 'feedDown', 'trades')
  await run.playTo(run.second + 12)
  service.feed('a', 'feedUp', 'trades')
  await run.playTo(run.second + 20)
  const outcomes = (recording.pages.get('b') ?? [])
    .flatMap(({ markets }) => markets)
    .slice(1, 3)
    .flatMap((market) => market.outcomes.map(({ id }) => id))
  service.feed('b', 'feedGap', 'books', outcomes)
  await run.playTo(run.second + 20)
  for (const venue of ['a', 'b'] as const) {
    service.emit({ ...statusEvent(recording, run.second, venue, 0), status: 'closed' })
    await run.playTo(run.second + 3)
    const resolved = statusEvent(recording, run.second, venue, 0)
    service.emit({ ...resolved, status: 'resolved', settlementPrice: run.fullPrice })
    await run.playTo(run.second + 3)
  }
}

/** A client disconnects and resumes every channel, first by its offset and then by unknown positions. */
async function resumes(run: GoldenRun): Promise<void> {
  for (const [name, query] of ENCODINGS.slice(0, 2)) {
    const first = await run.stream(`before ${name}`, query)
    await run.subscribeAll(first)
    await run.playTo(run.second + 20)
    const offsets = first.offsets
    await run.endStream(first)
    await run.playTo(run.second + 25)
    const again = await run.stream(`resumed ${name}`, query)
    await run.subscribeAll(again, (channel) => ({
      epoch: 'recorded',
      offset: offsets.get(channel) ?? 0,
    }))
    await run.playTo(run.second + 10)
    await run.endStream(again)
    const lost = await run.stream(`lost ${name}`, query)
    await run.subscribeAll(lost, () => ({ epoch: 'of nobody', offset: 5 }))
    await run.playTo(run.second + 2)
    await run.subscribeAll(lost, () => ({ epoch: 'recorded', offset: 1_000_000 }))
    await run.playTo(run.second + 5)
    await run.endStream(lost)
  }
}
