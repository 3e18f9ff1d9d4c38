// Answers requests to the stream's path that are no WebSocket handshake, and issues tickets that open a stream.

import { ticketSeconds } from '../../engine/limits.ts'
import { failure, json } from '../request/reply.ts'
import { type Route, requireCaller, route } from '../request/route.ts'
import { TicketSchema } from '../schemas.ts'
import type { Tickets } from '../ws/session/tickets.ts'
import { upgradeRequired } from '../ws/session/upgrade-required.ts'

export function streamRoutes(tickets: Tickets): readonly Route[] {
  return [
    route(
      'GET /v1/ws',
      {
        group: 'WebSocket',
        summary: 'The realtime stream; connect with a WebSocket upgrade',
        answer: null,
        status: 101,
        refusals: {
          426: 'a request that is no WebSocket handshake; the detail says what it lacks',
        },
        access: 'upgrade',
      },
      // Only HEAD with the headers of a complete handshake reaches this code.
      ({ header }) =>
        upgradeRequired(header) ?? failure('UPGRADE_REQUIRED', 'a WebSocket handshake is a GET'),
    ),
    route(
      'POST /v1/ws/ticket',
      {
        group: 'WebSocket',
        summary: 'A ticket that opens the stream once, in place of a key or token in its address',
        description: `Addresses are written into logs: \`/v1/ws?ticket=…\` names a ticket that is good for one handshake within ${ticketSeconds} seconds. The handshake does not count as a request once more.`,
        answer: TicketSchema,
        status: 201,
        isPrivate: true,
      },
      ({ caller }) => {
        const ticket = tickets.issue(requireCaller(caller))
        return json({ ticket, expires_in: ticketSeconds }, 201)
      },
    ),
  ]
}
