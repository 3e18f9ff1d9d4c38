// Script of the shared worker. The browser stops the worker with the last tab.

import { onTab } from './browser.ts'
import { SharedStream } from './shared-stream.ts'

const stream = new SharedStream()
onTab((post) => stream.attach(post))
