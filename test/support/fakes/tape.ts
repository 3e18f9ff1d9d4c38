import { gzipSync } from 'node:zlib'
import type {
  ExportsView,
  OpenReplay,
  ReplayChunk,
  ReplayQuery,
  ReplaysView,
  TapeView,
} from '../../../actors/views.ts'
import { EngineError } from '../../../engine/errors.ts'
import { EXPORT_FORMATS, EXPORT_TABLES } from '../../../engine/tape/export-names.ts'
import { DAY_MS, type TimeMs, timeMs } from '../../../engine/units.ts'

export interface FakeTape {
  readonly tape: TapeView
  readonly exports: ExportsView
  readonly replays: ReplaysView
}

/** A tape of seven days that sends the same line for each replay and file. The hour 13 is not final, and the hour 0 is unknown. */
export function fakeTape(nowMs: TimeMs): FakeTape {
  const sent = (bytes: Buffer): OpenReplay => ({
    next: async () => ({ bytes, isLast: true }),
    close: () => undefined,
  })
  const lines = Buffer.from('{}\n')
  const sentReplay = ({ isGzip, toUs }: ReplayQuery): OpenReplay<ReplayChunk> => {
    const marks = Float64Array.of()
    const bytes = isGzip ? gzipSync(lines) : lines
    return {
      next: async () => ({ bytes, isLast: true, marks, endUs: toUs, epoch: null }),
      close: () => undefined,
    }
  }
  const status = {
    ...({ state: 'recording', bytes: 4_096, hours: 2, lostRows: 0 } as const),
    ...{ oldestMs: timeMs(nowMs - 7 * DAY_MS), newestMs: nowMs },
  }
  return {
    tape: { status: () => status },
    replays: { reserve: () => ({ read: sentReplay, release: () => undefined }) },
    exports: {
      list: async () =>
        JSON.stringify({
          ...{ tables: EXPORT_TABLES, formats: EXPORT_FORMATS },
          ...{ hours: [], has_more: false },
        }),
      open: async ({ hour, isPartial }) => {
        if (hour === 0) throw new EngineError('NOT_FOUND', 'the tape has no such hour')
        if (hour === 13 && !isPartial) throw new EngineError('NOT_FINAL', 'not_final: use partial')
        return sent(lines)
      },
    },
  }
}
