import { execFile } from 'node:child_process'

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** `env` replaces the environment of this process, except PATH. */
export function runToEnd(
  file: string,
  args: readonly string[],
  { env = {}, cwd = process.cwd() }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Ended> {
  const nodeArgs = ['--import', import.meta.resolve('tsx'), file, ...args]
  const options = { cwd, env: { PATH: process.env.PATH ?? '', ...env } }
  return new Promise((resolve) => {
    execFile(process.execPath, nodeArgs, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}
