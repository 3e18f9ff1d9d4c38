// Stream client of the dashboard. Each connection uses a ticket of the browser's session, so that no URL
// contains a token.

import { connect, type StreamClient } from '../client/connect.ts'
import type { StreamEvent } from '../client/messages.ts'
import { request } from './api.ts'
import { serverBase } from './browser.ts'
import type { Ticket } from './records.ts'

export const openClient = (onEvent: (event: StreamEvent) => void): StreamClient =>
  connect({
    url: new URL('v1/ws', serverBase()).href,
    ticket: async () => (await request<Ticket>('/v1/ws/ticket', { method: 'POST' })).ticket,
    onEvent,
  })
