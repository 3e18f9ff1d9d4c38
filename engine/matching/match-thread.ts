// Runs the matcher in its own thread, with a sentence encoder if one is configured. Tasks run in the order of
// submission.

import { EngineError } from '../errors.ts'
import { isRecord } from '../json-record.ts'
import { openPool } from '../pool.ts'
import type { Metrics } from '../process/metrics.ts'
import type { RefusedEncoder } from './encoder/encoder-folder.ts'
import { type EncoderCounts, TEXT_OUTCOMES } from './encoder/sentence-encoder.ts'
import type { MatchResult, MatchTask } from './match-task.ts'
import type { ThreadAnswer, ThreadTask } from './worker.ts'

export interface MatchPort {
  /** Rejects only with EngineError: the thread is down, or the task timed out and ended it. */
  run(task: MatchTask): Promise<MatchResult>
  close(): Promise<void>
}

/**
 * One thread, which starts at once and never ends, because it holds the index. A task takes some ten milliseconds on an
 * idle core. The caller submits one task at a time, and further tasks are rejected.
 */
const MATCH_POOL = { threads: 1, isPersistent: true, queueMax: 2, timeoutMs: 120_000 } as const

const openThread = () =>
  openPool<ThreadTask, ThreadAnswer>({
    ...MATCH_POOL,
    worker: new URL('./worker.ts', import.meta.url),
    isResult: (value): value is ThreadAnswer => isRecord(value) && 'kind' in value,
  })

/** Starts a thread without an encoder. */
export function openMatchThread(): MatchPort {
  return portOf(openThread(), null, () => undefined)
}

/** Starts a thread with the encoder of a folder. If the folder is unusable, the thread ends. */
export async function openEncodingThread(
  folder: string,
  metrics: Metrics,
): Promise<{ readonly kind: 'open'; readonly port: MatchPort } | RefusedEncoder> {
  const pool = openThread()
  const opened = await pool.run({ folder, task: null })
  if (opened.kind === 'refused') {
    await pool.close()
    return opened
  }
  const means = 'Texts by outcome of the sentence encoder: read, failed, or evicted.'
  const counts = TEXT_OUTCOMES.map((outcome) => {
    return [outcome, metrics.count('match_encoder_texts_total', means, { outcome })] as const
  })
  const port = portOf(pool, folder, (texts) => {
    for (const [outcome, count] of counts) count.inc(texts[outcome])
  })
  return { kind: 'open', port }
}

function portOf(
  pool: ReturnType<typeof openThread>,
  folder: string | null,
  onTexts: (counts: EncoderCounts) => void,
): MatchPort {
  return {
    async run(task) {
      const answer = await pool.run({ folder, task })
      if (answer.kind === 'refused') throw new EngineError('UNAVAILABLE', answer.reason)
      if (answer.counts !== null) onTexts(answer.counts)
      return answer.result
    },
    close: pool.close,
  }
}
