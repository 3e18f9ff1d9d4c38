// Import rules of the source tree; `npm run check` applies them. Each rule has a comment that says why.

/** Files that may import every package: the composition root and the commands (`engine/app/`). */
const WIRING = '^engine/app/'
const PRODUCT = '^(engine|storage|actors|http)/'
/** What every package uses: the loose files of `engine/` and three folders. */
const SHARED = '^engine/[^/]+[.](ts|mjs)$|^engine/(market|process|admin)/'

const packageMayImport = (name, allowed) => ({
  name: `${name}-imports`,
  comment: `${name}/ may import only ${allowed.join('/, ')}/ and npm packages.`,
  severity: 'error',
  from: { path: `^${name}/`, pathNot: WIRING },
  to: { path: '^(engine|storage|actors|http|bench|test)/', pathNot: `^(${allowed.join('|')})/` },
})

const venueIsAlone = (name, others) => ({
  name: `${name}-is-independent`,
  comment: 'The venue connectors and the simulator do not import each other.',
  severity: 'error',
  from: { path: `^engine/venues/${name}/` },
  to: { path: `^engine/venues/(${others.join('|')})/` },
})

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    packageMayImport('engine', ['engine']),
    packageMayImport('storage', ['storage', 'engine']),
    packageMayImport('actors', ['actors', 'storage', 'engine']),
    packageMayImport('http', ['http', 'actors', 'engine']),
    {
      name: 'product-imports-no-tests',
      comment: 'Product code does not import tests or benchmarks.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { path: '^(bench|test)/' },
    },
    {
      name: 'shared-engine-imports',
      comment: 'What every package uses does not depend on one part of the engine.',
      severity: 'error',
      from: { path: SHARED, pathNot: WIRING },
      to: { path: '^engine/', pathNot: SHARED },
    },
    venueIsAlone('polymarket', ['kalshi', 'simulator']),
    venueIsAlone('kalshi', ['polymarket', 'simulator']),
    venueIsAlone('simulator', ['polymarket', 'kalshi']),
    {
      name: 'workers-are-pure',
      comment: 'Code in a worker thread reads no clock, configuration or log and holds no state.',
      severity: 'error',
      from: { path: '/worker[.]ts$', pathNot: WIRING },
      to: {
        path: '^(storage|actors|http)/|^engine/(process/log|config|clock|app/main)[.]ts$|/uWebSockets[.]js/',
        reachable: true,
      },
    },
    {
      name: 'offline-matching-is-offline',
      comment: 'Evaluation and training code is for commands only.',
      severity: 'error',
      from: { path: PRODUCT, pathNot: '^engine/(matching/offline|app/commands)/' },
      to: { path: '^engine/matching/offline/' },
    },
    {
      name: 'no-cycles',
      comment: 'Imports, type imports included, form no cycle.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'Each import leads to a file or an installed package.',
      severity: 'error',
      from: { path: PRODUCT },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^test/(generated-client|live/sdk)/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    skipAnalysisNotInRules: true,
  },
}
