// The matcher with a sentence encoder, in its thread: the encoder is opened there before the service starts, and what became of
// texts is counted here. Not for: the thread without one (../thread.ts). Upholds ENCODER3, ENCODER7.

import { EngineError } from '../../errors.ts'
import { isRecord } from '../../json-record.ts'
import { openPool } from '../../pool.ts'
import type { Metrics } from '../../process/metrics.ts'
import { MATCH_POOL, type MatchPort } from '../thread.ts'
import { TEXT_OUTCOMES } from './encoder.ts'
import type { RefusedEncoder } from './encoder-folder.ts'
import type { EncodedAnswer, EncodedTask } from './worker.ts'

/** Starts the thread and opens the encoder of a folder in it; a folder that cannot be used leaves no thread. */
export async function openEncodingThread(
  folder: string,
  metrics: Metrics,
): Promise<{ readonly kind: 'open'; readonly port: MatchPort } | RefusedEncoder> {
  const isResult = (value: unknown): value is EncodedAnswer => isRecord(value) && 'kind' in value
  const worker = new URL('./worker.ts', import.meta.url)
  const pool = openPool<EncodedTask, EncodedAnswer>({ ...MATCH_POOL, worker, isResult })
  const opened = await pool.run({ folder, task: null })
  if (opened.kind === 'refused') {
    await pool.close()
    return opened
  }
  const means = 'Texts by what the sentence encoder made of them, and those dropped for others.'
  const counts = TEXT_OUTCOMES.map((outcome) => {
    return [outcome, metrics.count('match_encoder_texts_total', means, { outcome })] as const
  })
  const run: MatchPort['run'] = async (task) => {
    const answer = await pool.run({ folder, task })
    if (answer.kind === 'refused') throw new EngineError('UNAVAILABLE', answer.reason)
    for (const [outcome, count] of counts) count.inc(answer.counts[outcome])
    return answer.result
  }
  return { kind: 'open', port: { run, close: pool.close } }
}
