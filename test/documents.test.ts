// The documents that a clone has, held against the files that it has: links and paths lead somewhere, headings that are
// linked to exist, the README stays short. What the documents say of the code is judged beside that code
// (tidy.test.ts: variables; engine/operating.process.test.ts: metrics; simulation/readme.long.test.ts: commands).

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const README_LINES_MAX = 200
const PLACES = ['engine', 'storage', 'actors', 'http', 'bench', 'test', '.github'] as const
/** Made by a run of the benches or written for SDKs of others: what they name is not ours. */
const NOT_OURS = new Set(['bench/report/results.md'])

function documentsIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name === 'node_modules') return []
    if (statSync(path).isDirectory()) return documentsIn(path)
    return path.endsWith('.md') && !NOT_OURS.has(path) ? [path] : []
  })
}

const documents = ['README.md', 'CHANGELOG.md', ...PLACES.flatMap(documentsIn)]
const texts = new Map(documents.map((path) => [path, readFileSync(path, 'utf8')]))

/** A heading as a link names it. */
function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
}

function anchorsOf(path: string): ReadonlySet<string> {
  const headings = (texts.get(path) ?? '').matchAll(/^#{1,6} (.+)$/gm)
  return new Set([...headings].map((match) => anchorOf(match[1] ?? '')))
}

/** Text without fenced blocks, in which brackets are code. */
const prose = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '')

test('[DOC1] every link of a document leads to a file of this project, and to a heading that is there', () => {
  const offenders: string[] = []
  for (const [path, text] of texts) {
    for (const [, target = ''] of prose(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const goal = file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/, '')
      const isThere = existsSync(goal)
      if (!isThere || (anchor !== undefined && !anchorsOf(goal).has(anchor))) {
        offenders.push(`${path}: ${target}`)
      }
    }
  }
  assert.deepEqual(offenders, [])
})

test('[DOC2] every path that a document names in its text is one of this project', () => {
  const offenders: string[] = []
  for (const [path, text] of texts) {
    for (const [, named = ''] of prose(text).matchAll(/`([\w./-]+)`/g)) {
      const isPath = PLACES.some((place) => named.startsWith(`${place}/`))
      if (isPath && !existsSync(named)) offenders.push(`${path}: ${named}`)
    }
  }
  assert.deepEqual(offenders, [])
})

test('[DOC3] the README has at most 200 lines, and every room that it names has one of its own', () => {
  const readme = texts.get('README.md') ?? ''
  assert.ok(readme.split('\n').length - 1 <= README_LINES_MAX)
  for (const room of ['engine', 'storage', 'actors', 'http', 'bench']) {
    assert.ok(readme.includes(`| \`${room}/\` |`) && texts.has(`${room}/README.md`), room)
  }
})

test('[DOC4] every name in the README’s map, whose remarks stand in brackets, is one of a file or folder of its room', () => {
  const map = /^```\n(engine\/[\s\S]*?)^```$/m.exec(texts.get('README.md') ?? '')?.[1] ?? ''
  const rooms = map.replace(/\([^)]*\)|…/g, ' ').split(/\n(?=\w)/)
  assert.ok(rooms.length === 6, map)
  const offenders = rooms.flatMap((text) => {
    const [room = '', ...named] = text.split(/[\s/]+/).filter((word) => word !== '')
    const paths = readdirSync(room, { recursive: true, encoding: 'utf8' })
    const names = new Set(
      paths.flatMap((path) => path.split('/')).map((name) => name.replace(/\..*$/, '')),
    )
    return named.filter((name) => !names.has(name)).map((name) => `${room}: ${name}`)
  })
  assert.deepEqual(offenders, [])
})
