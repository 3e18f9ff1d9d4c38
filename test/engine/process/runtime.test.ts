import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Metrics } from '../../../engine/process/metrics.ts'
import { watchRuntime } from '../../../engine/process/runtime.ts'

test('exports heap spaces, garbage collections with pauses, event-loop delay and threads as metrics', async () => {
  const metrics = new Metrics()
  watchRuntime(metrics)
  const read = async (name: string) => {
    const text = await metrics.registry.metrics()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  }
  for (const name of ['process_resident', 'process_heap', 'heap_old_space', 'heap_new_space']) {
    assert.ok((await read(`${name}_bytes`)) > 0, name)
  }
  assert.ok((await read('heap_old_space_bytes')) < (await read('process_heap_bytes')))
  if (process.platform === 'linux') {
    assert.ok((await read('process_threads')) > 1)
    const files = await read('process_resident_files_bytes')
    // Node's executable alone has megabytes of resident pages.
    assert.ok(files > 2 ** 20 && files < (await read('process_resident_bytes')), String(files))
  }
  assert.ok((await read('loop_late_max_ms')) >= 0)

  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  const before = await read('collection_full_ms_count')
  const FORCED = 2
  for (let times = 0; times < FORCED; times += 1) collect()
  // Node reports collections in a later tick.
  while ((await read('collection_full_ms_count')) < before + FORCED) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok((await read('collection_full_ms_sum')) > 0)
  assert.ok((await read('collection_longest_ms')) > 0)
})
