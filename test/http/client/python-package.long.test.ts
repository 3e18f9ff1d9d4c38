// Checks the types of the Python client and builds its package.

import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { PACKAGE, PYTHON, run, skipWithout } from './python/run-python.ts'

const folder = testFolder('python-package')
mkdirSync(folder, { recursive: true })

test('mypy accepts the Python client and a program that uses it in strict mode', {
  skip: skipWithout('mypy'),
}, async () => {
  const ended = await run(
    PYTHON,
    [
      ...['-m', 'mypy', '--strict', '--cache-dir', join(folder, 'mypy')],
      ...['--config-file', join(PACKAGE, 'pyproject.toml'), join(PACKAGE, 'twinbook')],
      'test/http/client/python/typed_program.py',
    ],
    { env: { MYPYPATH: PACKAGE } },
  )
  assert.equal(ended.code, 0, ended.output)
})

test('the wheel and the source archive of the Python client build and install without a network', {
  skip: skipWithout('build', 'hatchling', 'httpx', 'pip'),
}, async () => {
  const source = join(folder, 'source')
  cpSync(PACKAGE, source, { recursive: true })
  const built = await run(PYTHON, [
    '-m',
    'build',
    '--no-isolation',
    '--skip-dependency-check',
    source,
  ])
  assert.equal(built.code, 0, built.output)
  const dist = readdirSync(join(source, 'dist')).sort()
  assert.deepEqual(dist, ['twinbook-0.1.0-py3-none-any.whl', 'twinbook-0.1.0.tar.gz'])
  // The environment uses Debian's httpx. pip fails if a dependency is missing, because it may not fetch one.
  const venv = join(folder, 'venv')
  const made = await run(PYTHON, ['-m', 'venv', '--system-site-packages', venv])
  assert.equal(made.code, 0, made.output)
  const python = join(venv, 'bin', 'python')
  const wheel = join(source, 'dist', dist[0] ?? '')
  const installed = await run(python, ['-m', 'pip', 'install', '--no-index', wheel])
  assert.equal(installed.code, 0, installed.output)
  const script =
    'import twinbook, importlib.resources as r; print(twinbook.__file__, (r.files(twinbook) / "py.typed").is_file())'
  const used = await run(python, ['-c', script], { cwd: folder })
  assert.equal(used.code, 0, used.output)
  assert.match(used.output, /python-package[^\n]*site-packages\/twinbook\/__init__\.py True/)
})
