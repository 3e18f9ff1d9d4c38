// Without a browser these tests are skipped, so that `npm test` passes on any machine. With BROWSER_TESTS=required,
// which `.ci/run` sets, they fail instead.

import {
  after as afterAll,
  afterEach,
  before as beforeAll,
  type HookFn,
  type TestFn,
  test as testOf,
} from 'node:test'
import { closeTabs, missingBrowser } from './chromium.ts'

const reason = process.env.BROWSER_TESTS === 'required' ? null : missingBrowser()

const skipped = (name: string, run: TestFn): void =>
  void testOf(name, { skip: reason ?? true }, run)
const nothing = (_run: HookFn): void => {}

// Node's own function reports a failure for the file that contains the test.
export const test: (name: string, run: TestFn) => void = reason === null ? testOf : skipped
export const before: (run: HookFn) => void = reason === null ? beforeAll : nothing
export const after: (run: HookFn) => void = reason === null ? afterAll : nothing

if (reason === null) afterEach((t) => closeTabs(!('passed' in t) || t.passed === true))
