// The stream's path for requests that are no WebSocket handshake, and the ticket that opens a stream.

import { Type } from '@sinclair/typebox'
import { ticketSeconds } from '../../engine/limits.ts'
import { failure, json } from '../request/reply.ts'
import { type Route, route } from '../request/route.ts'
import { TicketSchema } from '../schemas.ts'
import type { Tickets } from '../ws/session/tickets.ts'
import { upgradeRequired } from '../ws/session/upgrade-required.ts'

const NoQuery = Type.Object({})

/** `GET /v1/ws`, `POST /v1/ws/ticket`. */
export function streamRoutes(tickets: Tickets): readonly Route[] {
  return [
    route(
      {
        method: 'GET',
        pattern: '/v1/ws',
        document: {
          group: 'WebSocket',
          summary: 'The realtime stream; connect with a WebSocket upgrade',
          answer: null,
          status: 101,
          refusals: {
            426: 'a request that is no WebSocket handshake; the detail says what it lacks',
          },
        },
        access: 'upgrade',
      },
      NoQuery,
      // A complete handshake arrives here only as HEAD.
      ({ header }) =>
        upgradeRequired(header) ?? failure('UPGRADE_REQUIRED', 'a WebSocket handshake is a GET'),
    ),
    route(
      {
        method: 'POST',
        pattern: '/v1/ws/ticket',
        document: {
          group: 'WebSocket',
          summary: 'A ticket that opens the stream once, in place of a key or token in its address',
          description: `Addresses are written into logs: \`/v1/ws?ticket=…\` names a ticket that is good for one handshake within ${ticketSeconds} seconds. The handshake does not count as a request once more.`,
          answer: TicketSchema,
          status: 201,
        },
        isPrivate: true,
      },
      NoQuery,
      ({ caller }) => {
        if (caller === null) throw new Error('the wrapper admits no request without a caller')
        return json({ ticket: tickets.issue(caller), expires_in: ticketSeconds }, 201)
      },
    ),
  ]
}
