// All benches in the order in which they run: small parts first, the complete service last.
// test/bench/bench.process.test.ts compares this list with the files in the folder.

import { bench as cluster } from './cluster.bench.ts'
import { bench as connect } from './connect.bench.ts'
import { bench as endToEnd } from './end-to-end.bench.ts'
import { bench as fanOut } from './fan-out.bench.ts'
import { bench as freshness } from './freshness.bench.ts'
import type { Bench } from './harness.ts'
import { bench as ingest } from './ingest.bench.ts'
import { bench as matching } from './matching.bench.ts'
import { bench as memory } from './memory.bench.ts'
import { bench as peak } from './peak.bench.ts'
import { bench as rest } from './rest.bench.ts'
import { bench as scale } from './scale.bench.ts'
import { bench as start } from './start.bench.ts'
import { bench as storage } from './storage.bench.ts'
import { bench as tape } from './tape.bench.ts'
import { bench as webhooks } from './webhooks.bench.ts'

export const BENCHES: readonly Bench[] = [
  matching,
  storage,
  ingest,
  tape,
  rest,
  fanOut,
  endToEnd,
  freshness,
  peak,
  connect,
  cluster,
  webhooks,
  start,
  memory,
  scale,
]
