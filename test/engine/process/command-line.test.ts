import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpOf, openProgress, readArguments } from '../../../engine/process/command-line.ts'

const COMMAND = {
  name: 'npm run toy',
  about: 'Does nothing.',
  usage: ['PLACE [TIME]'],
  positionals: { PLACE: 'where' },
  positionalCounts: [1, 2],
  options: {
    loud: { takes: null, means: 'says so' },
    count: { takes: 'N', means: 'how often' },
    from: { takes: 'FILE', means: 'what is read', isMany: true },
  },
  examples: ['here --loud'],
  notes: ['Exit codes: 0 done.'],
} as const

function read(line: string) {
  const given = readArguments(COMMAND, line.split(' '))
  assert.ok(given !== 'help')
  return given
}

test('parses positional arguments, switches, values and lists in any order', () => {
  const given = read('--from a b --loud here --count=3 now --from c')
  assert.deepEqual(given.positionals, ['here', 'now'])
  assert.deepEqual(given.texts('from'), ['a', 'b', 'c'])
  assert.deepEqual([given.has('loud'), given.text('count')], [true, '3'])
  assert.equal(given.number('count', { above: 0, max: 3, isInteger: true }), 3)
  const bare = read('here')
  assert.deepEqual([bare.has('loud'), bare.text('count'), bare.texts('from')], [false, null, []])
  assert.equal(bare.number('count', { above: 0, max: 3 }), null)
  for (const line of ['--help', 'here -h', '--bogus --help']) {
    assert.equal(readArguments(COMMAND, line.split(' ')), 'help')
  }
  assert.match(helpOf(COMMAND), /Usage:\n {2}npm run toy -- PLACE \[TIME\]\n/)
})

test('reports invalid command-line arguments in one line', () => {
  const cases = [
    [
      'here --bogus',
      '--bogus is no option of npm run toy; it accepts --loud, --count, --from, --help',
    ],
    ['here -x', '-x is no option of npm run toy; it accepts --loud, --count, --from, --help'],
    ['here --count', '--count needs a value: --count N'],
    ['here --count --loud', '--count needs a value: --count N'],
    ['here --loud=1', '--loud is a switch and takes no value, 1 was given'],
    ['here now then', 'then is one argument too many; npm run toy takes PLACE [TIME]'],
    ['--loud', 'npm run toy takes PLACE [TIME] (npm run toy -- --help says more)'],
  ] as const
  for (const [line, message] of cases) assert.throws(() => read(line), { message }, line)
  const range = { above: 0, max: 3, isInteger: true }
  for (const text of ['0', '4', '1.5', 'many']) {
    assert.throws(() => read(`here --count ${text}`).number('count', range), {
      message: `--count is ${text}; it accepts a whole number above 0 and up to 3`,
    })
  }
})

test('rewrites the progress line at most ten times a second on a terminal, and writes no progress to other outputs', () => {
  const written: string[] = []
  const stream = { write: (text: string) => written.push(text) }
  const forwarded = openProgress(stream, () => 0)
  forwarded.show('one')
  forwarded.end()
  assert.deepEqual(written, [])
  let nowMs = 0
  const progress = openProgress({ ...stream, isTTY: true }, () => nowMs)
  for (nowMs = 0; nowMs <= 150; nowMs += 50) progress.show(`${nowMs}`)
  progress.show('next', true)
  progress.end()
  const clear = '\r\u001b[2K'
  assert.deepEqual(written, [`${clear}0`, `${clear}100`, `${clear}next`, clear])
})
