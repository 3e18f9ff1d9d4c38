// What the stream needs of uWebSockets.js, so that something may stand between (batches.ts).

import type { TemplatedApp, WebSocket } from 'uWebSockets.js'

/** Of the app. */
export type Topics = Pick<TemplatedApp, 'publish' | 'numSubscribers'>

/** Of a socket; nothing may be called after it is closed. */
export type Socket = Pick<
  WebSocket<unknown>,
  'send' | 'subscribe' | 'unsubscribe' | 'getBufferedAmount' | 'end' | 'close'
> & { cork(action: () => void): unknown }
