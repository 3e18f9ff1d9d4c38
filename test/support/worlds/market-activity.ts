import { setImmediate as nextTurn } from 'node:timers/promises'
import { nativeEventId } from '../../../engine/ids.ts'
import type { Random } from '../../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import type { Message, StreamClient } from '../clients/stream-client.ts'
import type { FakeEngine, FakeMarket } from '../fakes/engine.ts'
import type { ManualClock } from '../fakes/manual-clock.ts'
import { level } from './builders.ts'

/** Markets `m0`, `m1`, … of alternating venues, in events `e0`, `e1`, … in rotation. */
export function addMarkets(engine: FakeEngine, count: number, eventCount: number): FakeMarket[] {
  return Array.from({ length: count }, (_, index) => {
    const event = nativeEventId(`e${index % eventCount}`)
    const venue = index % 2 === 0 ? 'a' : 'b'
    return engine.add(`m${index}`, { venue, event, eventSlug: event })
  })
}

/** Returns the client’s messages after the server has processed all its commands and sent all messages. */
export async function settled(
  clock: ManualClock,
  client: StreamClient,
): Promise<readonly Message[]> {
  clock.advance(1_000)
  await client.ask({ action: 'ping', id: `settle ${client.messages.length}` }, 'pong')
  return client.messages
}

/**
 * Runs at most fifty event-loop ticks until the client has received another message. Between steps of the manual clock
 * it gives a busy kernel time to deliver data.
 */
export async function received(client: StreamClient): Promise<void> {
  const { length } = client.messages
  for (let ticks = 0; ticks < 50 && client.messages.length === length; ticks += 1) await nextTurn()
}

export function simulateActivity(markets: readonly FakeMarket[], random: Random): void {
  const chosen = random.pick(markets)
  const roll = random.next()
  if (roll < 0.02) chosen.replace([level(0.3, random.below(9) + 1)], [level(0.7, 5)], 'venue_gap')
  else if (roll < 0.2) chosen.trade()
  else if (roll < 0.3) chosen.reprice(10_000 * (1 + random.below(98)))
  else {
    chosen.change({
      side: random.pick(['bid', 'ask']),
      price: priceMicros(10_000 * (1 + random.below(98))),
      size: sizeMicros(random.below(4) * 1_000_000),
    })
  }
}
