// Shared worker with the browser's only stream. The browser stops it with the last tab.

import { after, onTab } from './browser.ts'
import { openClient, SharedStream } from './shared-stream.ts'

const stream = new SharedStream({ after, open: openClient })
onTab((post) => stream.attach(post))
