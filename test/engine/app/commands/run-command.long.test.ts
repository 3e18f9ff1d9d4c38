import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { testFolder } from '../../../support/rigs/data-folder.ts'
import { type Ended, runToEnd } from '../../../support/rigs/run-to-end.ts'

/** File and name of each npm script with arguments. */
const COMMANDS = [
  { file: 'engine/app/start.mjs', name: 'npm start' },
  { file: 'bench/run.ts', name: 'npm run bench' },
  { file: 'test/run.ts', name: 'npm test' },
  { file: 'test/screenshots.ts', name: 'npm run screenshots' },
  ...readdirSync('engine/app/commands')
    .filter((file) =>
      readFileSync(`engine/app/commands/${file}`, 'utf8').includes('await runCommand('),
    )
    .map((file) => ({ file: `engine/app/commands/${file}`, name: scriptOf(file) })),
]

function scriptOf(file: string): string {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const found = Object.entries(scripts).find(([, line]) =>
    line.endsWith(`engine/app/commands/${file}`),
  )
  assert.ok(found !== undefined, `${file} has no script`)
  return `npm run ${found[0]}`
}

/** Pattern of a name that may include npm's option -s, with which npm prints no lines of its own. */
const withOption = (name: string): string => name.replace('npm run ', 'npm run (?:-s )?')

/** A command that ignores its arguments fails in an empty environment. */
const run = (file: string, ...args: readonly string[]) =>
  runToEnd(file, args, { env: { DATA_DIR: '/nowhere' } })

describe('table of npm commands', { concurrency: 2 }, () => {
  for (const { file, name } of COMMANDS) {
    test(`prints the help text for ${name} --help`, async () => {
      const { code, stdout, stderr } = await run(file, '--help')
      assert.deepEqual([code, stderr], [0, ''])
      for (const part of ['Usage:', 'Options:', 'Examples:', 'Exit codes: 0 ', '--help']) {
        assert.ok(stdout.includes(part), `${part} in ${stdout}`)
      }
      assert.match(stdout, new RegExp(`  ${withOption(name)}`))
    })

    test(`includes the unknown argument in the error of ${name}`, async () => {
      const { code, stdout, stderr } = await run(file, '--bogus')
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, /^--bogus is no option of npm .+; it accepts .*--help\n$/)
      assert.match(stderr, new RegExp(` ${withOption(name)};`))
    })
  }

  test('refuses a dump of one venue in the option for the other venue', async () => {
    const folder = testFolder('exchanged')
    const [a, b, out] = ['a.jsonl', 'b.jsonl', 'out.jsonl'].map((name) => join(folder, name))
    assert.ok(a !== undefined && b !== undefined && out !== undefined)
    writeFileSync(a, '{"question":"Zembla taxes tea in 2031?","slug":"zembla"}\n')
    writeFileSync(b, '{"event_ticker":"KXTEA-31","title":"Will Zembla tax tea in 2031?"}\n')
    const match = (one: string, other: string): Promise<Ended> =>
      run('engine/app/commands/match-corpus.ts', '--venue-a', one, '--venue-b', other, '--out', out)
    assert.equal((await match(a, b)).code, 0)
    for (const [one, other, option] of [
      [b, a, 'venue-a'],
      [a, a, 'venue-b'],
    ] as const) {
      const { code, stderr } = await match(one, other)
      assert.equal(code, 2)
      assert.ok(stderr.includes(`--${option}`) && stderr.includes('of the other venue'), stderr)
    }
  })
})
