// Runs command-line tools without network. A missing tool is an error, because its check would otherwise be skipped
// without notice.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the typed client has the compiler that the type generator needs. */
export const CLIENT_FOLDER = 'test/generated-client'

const FOLDERS = ['node_modules/.bin', `${CLIENT_FOLDER}/node_modules/.bin`]

/** Disables telemetry and update checks. An invalid proxy blocks all other requests. */
const OFFLINE = {
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_COLOR: '1',
}

interface ToolResult {
  readonly exitCode: number
  /** Stdout and stderr. */
  readonly output: string
}

/** Runs a tool until it ends, for at most ten minutes. */
export function runTool(name: string, args: readonly string[], folder = '.'): Promise<ToolResult> {
  const locations = [
    ...FOLDERS,
    ...(process.env.DEV_TOOLS === undefined ? [] : [process.env.DEV_TOOLS]),
  ]
  const path = locations
    .map((position) => join(position, name))
    .find((position) => existsSync(position))
  if (path === undefined) throw new Error(`${name} is not installed: npm ci`)
  const options = { cwd: folder, env: { ...process.env, ...OFFLINE }, timeout: 600_000 }
  return new Promise((done) => {
    execFile(resolve(path), [...args], options, (error, out, err) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      done({ exitCode, output: `${out}${err}` })
    })
  })
}
