// Runs commands with the Python packages of Debian.

import { execFile, spawnSync } from 'node:child_process'

/** The interpreter of Debian's packages, which may not be the first of the path. */
export const PYTHON = '/usr/bin/python3'
export const PACKAGE = 'http/client/python'
const isRequired = process.env.PYTHON_TESTS === 'required'

/** Returns why a test is skipped, or false. */
export function skipWithout(...modules: readonly string[]): string | false {
  if (isRequired || spawnSync(PYTHON, ['-c', `import ${modules.join(',')}`]).status === 0)
    return false
  return `${PYTHON} lacks one of ${modules.join(', ')}; .ci/run installs them`
}

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs a command without blocking the servers of this process. */
export function run(
  command: string,
  args: readonly string[],
  { env = {}, cwd = process.cwd() }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      command,
      args,
      { cwd, env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, output: stdout + stderr }),
    )
  })
}
