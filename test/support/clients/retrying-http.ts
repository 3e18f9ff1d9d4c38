// The clock does not move, so responses never time out on a busy machine.

import type { TestContext } from 'node:test'
import { HttpClient } from '../../../engine/fetch.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { ManualClock } from '../fakes/manual-clock.ts'

/** Stopped at the end of the test. */
export function retryingHttp(t: TestContext, baseUrl: string, metrics = new Metrics()): HttpClient {
  const limits = { timeoutMs: 5_000, bodyBytesMax: 1 << 24, retries: 0 }
  const parts = { clock: new ManualClock(), random: seededRandom(1), log: silentLog, metrics }
  const http = new HttpClient({ baseUrl, ...limits, ...parts })
  t.after(() => http.stop())
  return http
}
