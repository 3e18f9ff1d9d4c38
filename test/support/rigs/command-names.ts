// Process entry: prints each command of package.json with its usage and options, as listed by its `--help`.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

class Ended extends Error {}

/** The lines of a help text without the descriptions. */
function namesIn(help: string): readonly string[] {
  const parts = help.split('\n\n')
  const linesOf = (title: string) =>
    (parts.find((part) => part.startsWith(`${title}:\n`)) ?? '').split('\n').slice(1)
  const usage = linesOf('Usage').map((line) => line.trim())
  const [first = ''] = usage
  const command = first.split(' -- ')[0] ?? ''
  const options = linesOf('Options').map((line) => `${command} ${line.trim().split(/ {2,}/)[0]}`)
  return [...usage, ...options]
}

async function helpOf(module: string): Promise<string> {
  const texts: string[] = []
  const { write } = process.stdout
  process.argv = [process.argv[0] ?? '', module, '--help']
  process.stdout.write = (text: string | Uint8Array) => texts.push(String(text)) > 0
  try {
    await import(pathToFileURL(resolve(module)).href)
  } catch (error) {
    if (!(error instanceof Ended)) throw error
  } finally {
    process.stdout.write = write
  }
  return texts.join('')
}

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)
const end = process.exit.bind(process)
process.exit = () => {
  throw new Ended()
}
process.stderr.write = () => true
const lines: string[] = []
for (const script of Object.values(scripts)) {
  const module = /\bengine\/[\w/.-]+\.(?:ts|mjs)\b/.exec(script)?.[0]
  if (module === undefined) continue
  lines.push(
    ...namesIn(
      await helpOf(module.replace('engine/app/commands/launch.mjs', 'engine/app/main.ts')),
    ),
  )
}
process.stdout.write(`${lines.join('\n')}\n`, () => end(0))
