// `test`, `before` and `after` for tests that need a browser. Without one the tests are skipped with installation
// advice, so that the README's two commands pass on any machine. With BROWSER_TESTS=required, as in `.ci/run`, a
// missing browser fails them.

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

// Node's own function where tests run, so that a failure is reported with the file that contains the test.
export const test: (name: string, run: TestFn) => void = reason === null ? testOf : skipped
export const before: (run: HookFn) => void = reason === null ? beforeAll : nothing
export const after: (run: HookFn) => void = reason === null ? afterAll : nothing

// A failed test leaves its tabs open. Closing the browser then prints what they show.
if (reason === null) afterEach((t) => ('passed' in t && !t.passed ? undefined : closeTabs()))
