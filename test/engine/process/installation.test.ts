import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { installationProblem } from '../../../engine/process/installation.mjs'
import { testFolder } from '../../support/rigs/data-folder.ts'

const root = process.cwd()

test('accepts Node 20.15 to 22, and includes the version in the error for any other version', () => {
  for (const version of ['20.15.0', '20.20.2', '21.0.0', '22.23.3']) {
    assert.equal(installationProblem(root, version), null, version)
  }
  for (const version of ['18.20.8', '20.14.0', '23.0.0', '24.1.0']) {
    assert.equal(
      installationProblem(root, version),
      `Twinbook needs Node 20.15 or a later version below 23, but this is Node ${version}: install Node 22 from https://nodejs.org.`,
    )
  }
})

test('lists missing packages and the command that installs the packages', () => {
  const folder = testFolder('installation')
  copyFileSync('package.json', join(folder, 'package.json'))
  assert.match(
    installationProblem(folder, '22.23.3') ?? '',
    /^Packages are missing in \S+node_modules \(\S+, \S+, \S+ and \d+ more\): run `npm ci` in \S+\.$/,
  )
  mkdirSync(join(folder, 'node_modules'))
  assert.match(installationProblem(folder, '22.23.3') ?? '', /^Packages are missing/)
})
