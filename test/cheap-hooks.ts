// node:test follows every promise and handle of the process to find the test that caused an uncaught error. In tests with
// many promises this takes a sixth of the CPU time. If this module is loaded before node:test, the runner follows only
// tests, which it needs to find the suite of a test. An uncaught error then fails the process instead of one test.

import asyncHooks, { type HookCallbacks } from 'node:async_hooks'

const { createHook } = asyncHooks
Object.assign(asyncHooks, {
  createHook: ({ init }: HookCallbacks) =>
    createHook({
      init(asyncId, type, triggerAsyncId, resource) {
        if (type === 'Test') init?.(asyncId, type, triggerAsyncId, resource)
      },
    }),
})
await import('node:test')
Object.assign(asyncHooks, { createHook })
