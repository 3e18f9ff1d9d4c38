// The parts of uWebSockets.js that the stream uses, so that a layer can replace them (batches.ts).

import type { TemplatedApp, WebSocket } from 'uWebSockets.js'

export type Topics = Pick<TemplatedApp, 'publish' | 'numSubscribers'>

/** Nothing may be called after the socket is closed. */
export type Socket = Pick<
  WebSocket<unknown>,
  'send' | 'subscribe' | 'unsubscribe' | 'getBufferedAmount' | 'end' | 'close'
> & { cork(action: () => void): unknown }
