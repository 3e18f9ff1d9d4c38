// @ts-check
// `npm start`: runs ../start.mjs with the flags and environment of node-options.json, which only a new process can get.
// glibc reads the MALLOC_ variables; other systems ignore them.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @type {{ flags: string[], env: Record<string, string> }} */
const options = JSON.parse(readFileSync(new URL('../node-options.json', import.meta.url), 'utf8'))
const start = fileURLToPath(new URL('../start.mjs', import.meta.url))
const args = [...options.flags, start, ...process.argv.slice(2)]
const env = { ...process.env, ...options.env }

// Node 22.15 and later can replace this process, except on Windows. Its warning that execve is experimental would
// appear after the call.
if ('execve' in process && typeof process.execve === 'function' && process.platform !== 'win32') {
  process.execve(process.execPath, [process.execPath, ...args], env)
}

// The service stops when this process is killed, because the channel then closes.
const service = spawn(process.execPath, args, {
  env,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
})
/** @type {NodeJS.Signals[]} */
const signals = ['SIGINT', 'SIGTERM']
for (const signal of signals) {
  process.on(signal, () => {
    // On Windows, kill would end the service without its shutdown. A Ctrl-C reaches it without help.
    if (process.platform !== 'win32') service.kill(signal)
  })
}
service.on('error', (error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
service.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  for (const name of signals) process.removeAllListeners(name)
  process.kill(process.pid, signal)
})
