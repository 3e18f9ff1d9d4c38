// The worker that all tabs of a browser share: the one stream is here, and each tab is a seat. The browser ends it with
// the last tab.

import { after, onTab } from './browser.ts'
import { SharedStream } from './shared-stream.ts'
import { openClient } from './stream-client.ts'

const stream = new SharedStream({ after, open: openClient })
onTab((post) => stream.attach(post))
