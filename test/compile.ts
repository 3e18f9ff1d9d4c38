// Compiles the sources and tests to JavaScript, so that test processes start without a TypeScript loader.

import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin, stop } from 'esbuild'
import { builtFolder } from '../engine/process/build.mjs'

const FOLDERS = ['engine', 'storage', 'actors', 'http', 'bench', 'test']
/**
 * Compiles every TypeScript file under `root` to the same path in `folder`, with the extension `.mjs`. `import.meta.url`
 * remains the URL of the source. Threads and processes start from the build of `npm start`.
 */
export async function compile(root: string, folder: string): Promise<void> {
  const paths = FOLDERS.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${name}/${path}`,
    ),
  ).filter((path) => /\.ts$/.test(path) && !/node_modules/.test(path))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const built = await builtFolder(root)
  try {
    await build({
      absWorkingDir: root,
      entryPoints: paths,
      outbase: root,
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      treeShaking: false,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      sourcemap: 'inline',
      sourcesContent: false,
      logLevel: 'silent',
      define: {
        'import.meta.url': 'SOURCE_URL',
        'import.meta.dirname': 'SOURCE_DIRNAME',
        ...(built !== null && {
          BUILT_FOLDER: JSON.stringify(built),
          SOURCE_FOLDER: JSON.stringify(root),
        }),
      },
      plugins: [oneFileEach],
    })
  } finally {
    // Otherwise the process of esbuild would continue to run.
    await stop()
  }
}

/** Compiles every file by itself, and declares the constants that replace `import.meta`. */
const oneFileEach: Plugin = {
  name: 'one file each',
  setup(plugin) {
    plugin.onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
      if (kind === 'entry-point') return undefined
      if (!path.startsWith('.')) return { path, external: true }
      const isCompiled = path.endsWith('.ts')
      return {
        path: isCompiled
          ? path.replace(/\.ts$/, '.mjs')
          : pathToFileURL(join(resolveDir, path)).href,
        external: true,
      }
    })
    plugin.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta')) return { contents: text, loader: 'ts' }
      const [url, folder] = [pathToFileURL(path).href, dirname(path)].map((value) =>
        JSON.stringify(value),
      )
      // On the first line, so that line numbers stay those of the source.
      const constants = `const SOURCE_URL = ${url}, SOURCE_DIRNAME = ${folder};`
      return { contents: constants + text, loader: 'ts' }
    })
  },
}
