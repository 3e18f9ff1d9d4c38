import { after } from 'node:test'
import { WebSocket } from 'ws'
import { connect, type StreamClient, type StreamEvent } from '../../../http/client/connect.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { FakeStream } from './fake-stream.ts'

type EventOf<Type extends StreamEvent['type']> = StreamEvent & { readonly type: Type }

export interface Rig {
  readonly server: FakeStream
  readonly clock: ManualClock
  readonly client: StreamClient
  readonly events: StreamEvent[]
  of<Type extends StreamEvent['type']>(type: Type): EventOf<Type>[]
  /** Checks the condition after each event. */
  until(holds: () => boolean): Promise<void>
  /** Waits until the client plans a retry, then advances the clock to it. */
  retry(): Promise<void>
  /** Lets the client reconnect and waits until it is live. */
  comeBack(): Promise<void>
  /** Resolves when all messages sent before have arrived. */
  settle(): Promise<void>
}

/** Server and client are stopped after the tests of the file. */
export async function openRig(
  set: {
    markets?: readonly string[]
    encoding?: 'json' | 'msgpack'
    random?: () => number
    ticket?: () => Promise<string>
  } = {},
): Promise<Rig> {
  const server = await FakeStream.open(...(set.markets ?? ['venue_a_One', 'venue_a_Two']))
  const clock = new ManualClock()
  const events: StreamEvent[] = []
  let wake: (() => void)[] = []
  const client = connect({
    url: server.url,
    ...(set.ticket === undefined ? { apiKey: 'key' } : { ticket: set.ticket }),
    encoding: set.encoding ?? 'json',
    WebSocket,
    clock,
    random: set.random ?? (() => 0),
    onEvent: (event) => {
      events.push(event)
      const waiting = wake
      wake = []
      for (const resolve of waiting) resolve()
    },
  })
  after(async () => {
    client.close()
    await server.stop()
  })
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => wake.push(resolve))
  }
  const isOf =
    <Type extends StreamEvent['type']>(type: Type) =>
    (event: StreamEvent): event is EventOf<Type> =>
      event.type === type
  const toLive = async (): Promise<void> => {
    while (client.state !== 'live') {
      if (client.state === 'waiting') await rig.retry()
      await until(() => client.state === 'live' || client.state === 'waiting')
    }
  }
  const settle = async (): Promise<void> => {
    for (;;) {
      clock.advance(1000)
      if ((await client.ping()) !== null && client.state === 'live') return
      await toLive()
    }
  }
  const rig: Rig = {
    server,
    clock,
    client,
    events,
    of: (type) => events.filter(isOf(type)),
    until,
    settle,
    async retry() {
      await until(() => client.state === 'waiting')
      clock.advance(rig.of('state').at(-1)?.retry_ms ?? 0)
    },
    async comeBack() {
      await until(() => client.state === 'waiting')
      await toLive()
    },
  }
  await until(() => client.state === 'live')
  return rig
}
