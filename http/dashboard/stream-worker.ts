// Shared worker with the browser's only stream. The browser stops it with the last tab.

import { onTab } from './browser.ts'
import { SharedStream } from './shared-stream.ts'

const stream = new SharedStream()
onTab((post) => stream.attach(post))
