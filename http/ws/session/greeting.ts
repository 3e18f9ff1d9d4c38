import type { DataSource } from '../../../engine/data-source.ts'
import {
  commandBytesMax,
  commandsPerSecondMax,
  heartbeatMs,
  subscriptionsMax,
} from '../../../engine/limits.ts'
import type { TimeMs } from '../../../engine/units.ts'
import type { Reply } from '../encode/encoder.ts'

export interface ReplayFacts {
  readonly from_ms: number
  readonly to_ms: number
  readonly speed: number
}

/** The first message of a connection. `replay` is null for live connections. */
export function connectedMessage(facts: {
  readonly id: string
  readonly nowMs: TimeMs
  readonly data: DataSource
  readonly replay: ReplayFacts | null
}): Reply {
  const { id, nowMs, data, replay } = facts
  return {
    type: 'connected',
    connection_id: id,
    server_time_ms: nowMs,
    heartbeat_s: heartbeatMs / 1000,
    data,
    ...(replay === null ? {} : { replay }),
    limits: {
      subscriptions: subscriptionsMax,
      commands_per_s: commandsPerSecondMax,
      message_bytes: commandBytesMax,
    },
  }
}
