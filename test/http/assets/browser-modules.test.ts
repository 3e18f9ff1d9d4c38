import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { linkModules, loadedWith, readWithoutTypes } from '../../../http/assets/browser-modules.ts'

const rules = {
  what: 'the page',
  addressOf: (path: string, hash: string) => `./${path.replace('.ts', '')}-${hash}.js`,
  outside: (path: string) => (path === '../far/one.ts' ? '../far/one.js?v=1' : null),
}
const linked = (files: Readonly<Record<string, string>>) =>
  linkModules(new Map(Object.entries(files)), rules)

test('rewrites every form of import in a browser module relative to the importing file, and no other text', () => {
  const unchanged = 'const text = `made from "./leaf.ts"`, said = "import \'./leaf.ts\'"\n'
  const modules = linked({
    'top.ts': `import { a } from "./leaf.ts"\nimport './leaf.ts'\nexport * from './parts/deep.ts'\n${unchanged}`,
    'parts/deep.ts': `import {\n  b,\n} from "../leaf.ts"\nimport { c } from 'library'\nconst late = () => import("../leaf.ts")\n`,
    'leaf.ts': 'export const a = 1\n',
    library: 'import{d}from"other";var e=1\n',
    other: 'export const d = 1\n',
    'far.ts': "import { one } from '../far/one.ts'\n",
  })
  const address = (path: string) => rules.addressOf(path, modules.get(path)?.hash ?? '')
  const leaf = address('leaf.ts')
  assert.equal(
    modules.get('top.ts')?.text,
    `import { a } from "${leaf}"\nimport '${leaf}'\nexport * from '${address('parts/deep.ts')}'\n${unchanged}`,
  )
  assert.equal(
    modules.get('parts/deep.ts')?.text,
    `import {\n  b,\n} from "${leaf}"\nimport { c } from '${address('library')}'\nconst late = () => import("${leaf}")\n`,
  )
  assert.equal(modules.get('library')?.text, `import{d}from"${address('other')}";var e=1\n`)
  assert.equal(modules.get('far.ts')?.text, "import { one } from '../far/one.js?v=1'\n")
  const deep = modules.get('parts/deep.ts')
  assert.ok(deep !== undefined)
  assert.deepEqual(loadedWith(deep), [leaf, address('library')])
})

test('refuses browser modules with missing imports or import cycles', () => {
  assert.throws(() => linked({ 'top.ts': "import './gone.ts'" }), /the page imports gone\.ts/)
  assert.throws(() => linked({ 'top.ts': "import x from 'lmdb'" }), /the page imports lmdb/)
  assert.throws(
    () => linked({ 'one.ts': "import './two.ts'", 'two.ts': "import './one.ts'" }),
    /import each other around one\.ts/,
  )
})

test('removes type-only imports from browser modules, so that browser modules may import server types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-modules-'))
  try {
    const source =
      "import type { A } from '../server.ts'\nimport { b } from './b.ts'\nb(1 as const)\n"
    mkdirSync(join(folder, 'parts'))
    writeFileSync(join(folder, 'parts', 'c.ts'), source)
    writeFileSync(join(folder, 'b.ts'), 'b<number>(2)\n')
    const root = new URL(`${pathToFileURL(folder).href}/`)
    assert.deepEqual([...readWithoutTypes(root, ['b.ts', 'parts/c.ts'])].sort(), [
      ['b.ts', 'b(2);\n'],
      ['parts/c.ts', 'import { b } from "./b.ts";\nb(1);\n'],
    ])
    writeFileSync(join(folder, 'b.ts'), 'const = 2\n')
    assert.throws(() => readWithoutTypes(root, ['b.ts']), /b\.ts/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
