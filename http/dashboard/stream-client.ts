// The package's client for the dashboard, wherever its stream runs: each connection is opened by a ticket of this
// browser's session, so that no address names a token.

import { connect, type StreamClient } from '../client/connect.ts'
import type { StreamEvent } from '../client/messages.ts'
import { request } from './api.ts'
import { serverBase } from './browser.ts'
import type { Ticket } from './records.ts'

/** Connects, and stays connected. */
export const openClient = (onEvent: (event: StreamEvent) => void): StreamClient =>
  connect({
    url: new URL('v1/ws', serverBase()).href,
    ticket: async () => (await request<Ticket>('/v1/ws/ticket', { method: 'POST' })).ticket,
    onEvent,
  })
