// `test`, `before` and `after` for files that need a real browser. Where none is installed their tests are skipped with
// what to install, so that the README's two commands pass on any machine; where BROWSER_TESTS is `required`, as in
// `.ci/run`, a missing browser fails them. Not for: driving the browser (chromium.ts).

import {
  after as afterAll,
  before as beforeAll,
  type HookFn,
  type TestFn,
  type TestOptions,
  test as testOf,
} from 'node:test'
import { missingBrowser } from './chromium.ts'

const reason = process.env.BROWSER_TESTS === 'required' ? null : missingBrowser()
const skip = reason ?? false

export function test(name: string, run: TestFn, options: TestOptions = {}): void {
  void testOf(name, { skip, ...options }, run)
}

export function before(run: HookFn): void {
  if (reason === null) beforeAll(run)
}

export function after(run: HookFn): void {
  if (reason === null) afterAll(run)
}
