// The parameters of a handshake that ask for a replay.

import { Type } from '@sinclair/typebox'
import type { Caller, EngineView, ReplaysView } from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { replaySpeedMax, replaySpeedMin } from '../../../engine/limits.ts'
import { NO_TAPE, type ReplayPeriod, replayPeriod } from '../../request/replay-period.ts'
import { type Answer, json, refusal } from '../../request/reply.ts'
import { compileQuery, type RawQuery } from '../../validation/query.ts'

const timeMax = 8_640_000_000_000
const SPEEDS = `0 or from ${replaySpeedMin} to ${replaySpeedMax}`

export const replayParameters = {
  replay_from: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: timeMax,
      description:
        'Begin of a replay, Unix milliseconds. The connection sends the messages of this time. Absent: the connection is live.',
    }),
  ),
  replay_to: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: timeMax,
      description: 'End of the replay, exclusive, Unix milliseconds. Absent: now.',
    }),
  ),
  speed: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: replaySpeedMax,
      description: `Speed of the replay: ${SPEEDS}. Default: 1. 0 sends as fast as the client reads.`,
    }),
  ),
}

const parse = compileQuery(Type.Object(replayParameters))

export interface ReplayRequest {
  readonly period: ReplayPeriod
  /** 0: as fast as the client reads. */
  readonly speed: number
  readonly replays: ReplaysView
}

/** Null: the connection is live. An Answer refuses the handshake. */
export function readReplayRequest(
  raw: RawQuery,
  parts: {
    readonly engine: Pick<EngineView, 'tape' | 'replays'>
    readonly caller: Pick<Caller, 'tier'>
    readonly nowMs: number
  },
): ReplayRequest | Answer | null {
  const parsed = parse(raw)
  if (parsed.kind === 'invalid') return json({ detail: parsed.problems }, 422)
  if (parsed.kind === 'conflict') return json({ detail: parsed.detail }, 400)
  try {
    return requestOf(parsed.value, parts)
  } catch (error) {
    if (error instanceof EngineError) return refusal(error)
    throw error
  }
}

function requestOf(
  query: {
    readonly replay_from?: number
    readonly replay_to?: number
    readonly speed?: number
  },
  { engine, caller, nowMs }: Parameters<typeof readReplayRequest>[1],
): ReplayRequest | null {
  const { replay_from: from, replay_to: to = nowMs, speed = 1 } = query
  if (from === undefined) {
    if (query.replay_to === undefined && query.speed === undefined) return null
    throw new EngineError('BAD_REQUEST', '`replay_to` and `speed` need `replay_from`')
  }
  if (speed > 0 && speed < replaySpeedMin) {
    throw new EngineError('BAD_REQUEST', `\`speed\` is ${SPEEDS}`)
  }
  const { tape, replays } = engine
  if (tape === undefined || replays === undefined) throw new EngineError('NOT_FOUND', NO_TAPE)
  const names = { from: 'replay_from', to: 'replay_to' }
  const { oldestMs } = tape.status()
  const facts = { nowMs, oldestMs, isFree: caller.tier === 'free' }
  return { period: replayPeriod({ from, to, names }, facts), speed, replays }
}
