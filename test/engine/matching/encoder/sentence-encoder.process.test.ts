import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FEATURES } from '../../../../engine/matching/compare/compare.ts'
import { WEIGHTS } from '../../../../engine/matching/compare/model.ts'
import { DEFAULT_SCORER, type PairScore } from '../../../../engine/matching/compare/pair-scorer.ts'
import { encodedScorer, textsOf } from '../../../../engine/matching/encoder/encoded-scorer.ts'
import {
  type OpenEncoder,
  openEncoder,
} from '../../../../engine/matching/encoder/encoder-folder.ts'
import { Encoder } from '../../../../engine/matching/encoder/sentence-encoder.ts'
import type { MatchTask } from '../../../../engine/matching/match-task.ts'
import { openEncodingThread } from '../../../../engine/matching/match-thread.ts'
import {
  comparePairs,
  textsOfPairs,
  trainOn,
} from '../../../../engine/matching/offline/evaluation.ts'
import { labelledPairOf } from '../../../../engine/matching/offline/labelled-pair.ts'
import { PairFinder } from '../../../../engine/matching/search/pair-finder.ts'
import { MATCH_SCORE } from '../../../../engine/matching/veto/vetoes.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import type { MatchMarket } from '../../../../engine/subject.ts'
import { KALSHI } from '../../../../engine/venues/kalshi/facts.ts'
import { POLYMARKET } from '../../../../engine/venues/polymarket/facts.ts'
import { startProcess } from '../../../support/rigs/processes.ts'
import {
  type TinyVocabulary,
  tinyModel,
  tinyTokenizer,
  withTinyEncoder,
} from '../../../support/worlds/tiny-encoder.ts'
import { marketA, marketB } from '../subjects.ts'

const WORDS: TinyVocabulary = {
  ...{ will: [1, 0, 0], the: [1, 0, 0], krakatoa: [1, 0, 0], ferry: [1, 0, 0], in: [1, 0, 0] },
  ...{ not: [1, 0, 0], '2031': [1, 0, 0], '?': [1, 0, 0] },
  ...{ capsize: [0, 9, 0], overturn: [0, 9, 0], sail: [0, 0, 9] },
}

const sideA = (title: string) => marketA(title, 'ferry', '2031-12-31T00:00:00Z')
const sideB = (title: string) =>
  marketB('KXFERRY-31-X', title, '', { close_time: '2031-12-31T00:00:00Z' })
const CAPSIZE = 'Will the Krakatoa ferry capsize in 2031?'

async function opened(folder: string): Promise<OpenEncoder> {
  const answer = await openEncoder(folder)
  assert.ok(answer.kind === 'open', JSON.stringify(answer))
  return answer
}

async function scored(open: OpenEncoder, a: MatchMarket, b: MatchMarket): Promise<PairScore> {
  await open.encoder.read([a, b].flatMap(textsOf))
  const existing = encodedScorer(open)
  return existing.scoreMarkets(existing.readMarket(a), existing.readMarket(b))
}

function naiveSimilarity(terms: TinyVocabulary, one: string, other: string): number {
  const meanOf = (text: string) => {
    const existing = text.split(' ').map((term) => terms[term] ?? terms['[UNK]'] ?? [])
    const all = [terms['[CLS]'] ?? [], ...existing, terms['[SEP]'] ?? []]
    return all[0]?.map((_, at) => all.reduce((sum, each) => sum + (each[at] ?? 0), 0) / all.length)
  }
  const [a = [], b = []] = [meanOf(one), meanOf(other)]
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, each, at) => sum + each * (y[at] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

test('computes the similarity of two texts as the cosine of their mean token vectors', async () => {
  const random = seededRandom(18)
  const names = Array.from({ length: 30 }, (_, at) => `w${at}`)
  const vectors = names.map((name) => {
    return [name, Array.from({ length: 24 }, () => random.next() * 2 - 1)] as const
  })
  await withTinyEncoder(Object.fromEntries(vectors), async (folder, terms) => {
    const { encoder } = await opened(folder)
    const texts = Array.from({ length: 40 }, () => {
      return Array.from({ length: 1 + Math.floor(random.next() * 9) }, () => {
        return names[Math.floor(random.next() * names.length)]
      }).join(' ')
    })
    await encoder.read(texts)
    for (const one of texts) {
      for (const other of texts) {
        const found = encoder.similarity(one, other) ?? Number.NaN
        assert.ok(Math.abs(found - naiveSimilarity(terms, one, other)) < 0.01, `${one} | ${other}`)
      }
    }
  })
})

test('limits the encoder’s cache by count and bytes, and evicts the oldest entry', async () => {
  let requested = 0
  const embed = async (text: string) => {
    requested += 1
    return Float32Array.from([text.length, 1, 1, 1])
  }
  const few = new Encoder(embed, { texts: 3, bytes: 1e9 })
  await few.read(['a', 'b', 'c'])
  await few.read(['a', 'd'])
  assert.equal(requested, 4, 'a cached text is not read again')
  assert.equal(few.size.texts, 3)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((text) => few.similarity('a', text) !== null),
    [true, false, true, true],
  )
  assert.deepEqual(few.takeCounts(), { read: 4, failed: 0, dropped: 1 })
  assert.deepEqual(few.takeCounts(), { read: 0, failed: 0, dropped: 0 })

  const small = new Encoder(embed, { texts: 1_000, bytes: 10_000 })
  for (let index = 0; index < 500; index += 1) {
    await small.read([`${index} ${'x'.repeat(index % 90)}`])
    assert.ok(small.size.bytes <= 10_000)
  }
  assert.ok(small.size.texts > 10)
  const tooLong = 'y'.repeat(20_000)
  await small.read([tooLong])
  assert.equal(small.similarity(tooLong, tooLong), null, 'a text above the bound is not cached')
})

test('refuses an unusable encoder folder, and states the requirement in one sentence', async () => {
  await withTinyEncoder(WORDS, async (good) => {
    const refusal = async (spoil: (folder: string) => void) => {
      const folder = `${good}-spoilt`
      try {
        cpSync(good, folder, { recursive: true })
        spoil(folder)
        const answer = await openEncoder(folder)
        assert.ok(answer.kind === 'refused')
        assert.match(answer.reason, /^is ".*-spoilt": .*; it accepts a folder with model\.onnx /)
        return answer.reason
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
    const model =
      (...given: Parameters<typeof tinyModel>) =>
      (folder: string) =>
        writeFileSync(join(folder, 'model.onnx'), tinyModel(...given))
    const text = (name: string, content: string) => (folder: string) =>
      writeFileSync(join(folder, name), content)
    const table = Array.from({ length: 30 }, () => [1, 2])
    for (const [spoil, states] of [
      [(folder) => rmSync(folder, { recursive: true }), /tokenizer\.json .*no such file/],
      [(folder) => rmSync(join(folder, 'model.onnx')), /it has no model\.onnx/],
      [(folder) => rmSync(join(folder, 'tokenizer.json')), /tokenizer\.json .*no such file/],
      [text('model.onnx', 'no model'), /model\.onnx cannot be used/],
      [text('tokenizer.json', '{'), /tokenizer\.json cannot be used/],
      [text('tokenizer.json', '[]'), /tokenizer\.json .*not a JSON object/],
      [text('tokenizer.json', '{"model":{"type":"Odd"}}'), /tokenizer\.json cannot be used/],
      [text('weights.json', '{"one":1}'), /weights\.json is of another version/],
      [model(table, { inputs: [['position_ids', 7]] }), /model\.onnx wants position_ids/],
      [model(table, { output: 'logits' }), /model\.onnx gives logits/],
      [model(table, { inputs: [['input_ids', 6]] }), /model\.onnx cannot be used .*int/],
      [model([[1]]), /model\.onnx cannot be used .*out of data bounds/],
    ] satisfies readonly (readonly [(folder: string) => void, RegExp])[]) {
      assert.match(await refusal(spoil), states)
    }
  })
})

const WITHOUT_PACKAGES = `
  import { register } from 'node:module'
  register('data:text/javascript,' + encodeURIComponent(\`
    export async function resolve(name, context, next) {
      if (!/^(onnxruntime-node|@huggingface)/.test(name)) return next(name, context)
      throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
    }\`))`

test('imports the optional encoder packages in one file, and names the packages to install when packages are missing', async () => {
  const names = ['onnxruntime-node', '@huggingface/tokenizers']
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const importing: string[] = []
  for (const capacity of ['engine', 'storage', 'actors', 'http']) {
    for (const path of readdirSync(capacity, { recursive: true, encoding: 'utf8' })) {
      if (!/(?<!\.d)\.ts$/.test(path)) continue
      const source = readFileSync(join(capacity, path), 'utf8')
      const found = names.filter((name) => source.includes(`'${name}'`))
      importing.push(...found.map((name) => `${join(capacity, path)}: ${name}`))
      for (const name of found) assert.ok(source.includes(`=> import('${name}')`), path)
    }
  }
  const only = 'engine/matching/encoder/encoder-folder.ts'
  assert.deepEqual(importing.sort(), names.map((name) => `${only}: ${name}`).sort())
  for (const name of names) {
    assert.match(optionalDependencies[name], /^\d+\.\d+\.\d+$/, name)
    assert.equal(dependencies[name], undefined)
  }
  await withTinyEncoder(WORDS, async (folder) => {
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(WITHOUT_PACKAGES)}`]
    const env = { MATCH_ENCODER_DIR: folder }
    const command = startProcess('engine/app/commands/eval-matching.ts', env, [], flags)
    await assert.rejects(command.line(/./), /ended with 2/)
    assert.match(
      command.stderr(),
      /^MATCH_ENCODER_DIR is .*: the optional packages .*, which npm ci installs, cannot /m,
    )
  })
})

test('matches synonyms by the similarity of meaning alone, and rejects different meanings', async () => {
  const other = 'Will the Krakatoa ferry overturn in 2031?'
  const [a, b] = [sideA(CAPSIZE), sideB(other)]
  const plain = DEFAULT_SCORER.scoreMarkets(
    DEFAULT_SCORER.readMarket(a),
    DEFAULT_SCORER.readMarket(b),
  )
  assert.ok(plain.score < MATCH_SCORE, String(plain.score))
  await withTinyEncoder(WORDS, async (folder) => {
    const open = await opened(folder)
    const alike = await scored(open, a, b)
    assert.ok(alike.score >= MATCH_SCORE, String(alike.score))
    assert.match(alike.explanation, / Alike in meaning: 1\.00\.$/)
    const unlike = await scored(open, a, sideB('Will the Krakatoa ferry sail in 2031?'))
    assert.ok(unlike.score < plain.score, String(unlike.score))
    assert.match(unlike.explanation, / Alike in meaning: 0\.\d\d\.$/)
  })
})

test('applies a veto whatever the similarity of the texts', async () => {
  const [a, b] = [sideA('Will the Krakatoa ferry not capsize in 2031?'), sideB(CAPSIZE)]
  await withTinyEncoder(WORDS, async (folder) => {
    const open = await opened(folder)
    const { score, vetoes, explanation } = await scored(open, a, b)
    assert.match(explanation, / Alike in meaning: (?:1\.00|0\.9\d)\.$/)
    assert.deepEqual(vetoes, ['opposite_side'])
    assert.ok(score < MATCH_SCORE, String(score))
  })
})

test('scores a text by words alone when the encoder cannot process the text, and reports and counts the failure', async () => {
  const beyond = 'Will the Krakatoa ferry founder in 2031?'
  await withTinyEncoder(WORDS, async (folder) => {
    const existing = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...Object.keys(WORDS), 'founder']
    writeFileSync(join(folder, 'tokenizer.json'), tinyTokenizer(existing))
    const own = Object.fromEntries(FEATURES.map((name, at) => [name, WEIGHTS.weights[at]]))
    writeFileSync(join(folder, 'weights.json'), JSON.stringify({ ...own, one: 9, encoded: -9 }))
    const open = await opened(folder)
    const [a, b] = [sideA(beyond), sideB('Will the Krakatoa ferry overturn in 2031?')]
    const plain = DEFAULT_SCORER.scoreMarkets(
      DEFAULT_SCORER.readMarket(a),
      DEFAULT_SCORER.readMarket(b),
    )
    const explanation = `${plain.explanation} Their meaning was not read.`
    assert.deepEqual(await scored(open, a, b), { ...plain, explanation })
    assert.deepEqual(open.encoder.takeCounts(), { read: 1, failed: 1, dropped: 0 })

    const put = [sideA(CAPSIZE), b, a].map((market, index) => ({ number: index + 1, market }))
    const tasks: readonly MatchTask[] = [
      { seq: 1, kind: 'change', put, removed: [], overrides: [] },
      { seq: 2, kind: 'find', numbers: [1, 2, 3] },
    ]
    const position = new PairFinder(encodedScorer(open))
    await open.encoder.read(put.flatMap(({ market }) => textsOf(market)))
    const metrics = new Metrics()
    const thread = await openEncodingThread(folder, metrics)
    assert.ok(thread.kind === 'open')
    try {
      for (const task of tasks) assert.deepEqual(await thread.port.run(task), position.run(task))
    } finally {
      await thread.port.close()
    }
    const counted = [...metrics.counts('match_encoder_texts_total')].map(([label, { value }]) => {
      return [JSON.parse(label).outcome, value]
    })
    assert.deepEqual(Object.fromEntries(counted), { read: 2, failed: 1, dropped: 0 })
    rmSync(join(folder, 'model.onnx'))
    const refused = await openEncodingThread(folder, metrics)
    assert.ok(refused.kind === 'refused')
    assert.match(refused.reason, /it has no model\.onnx; it accepts/)
  })
})

test('learns the weight of similarity from labelled pairs, and stores the weight in the encoder’s folder', async () => {
  const rowOf = (one: string, other: string, label: string) => ({
    ...{ grain: 'market', label, relation: '' },
    polymarket: { question: one, endDate: '2031-12-31T00:00:00Z' },
    kalshi: { title: other, ticker: 'KXFERRY-31-X', close_time: '2031-12-31T00:00:00Z' },
  })
  const verbs = ['capsize', 'overturn', 'sail']
  const pairs = verbs.flatMap((one) =>
    verbs.flatMap((other) => {
      const isSame = (one === 'sail') === (other === 'sail')
      const [a, b] = [one, other].map((verb) => `Will the Krakatoa ferry ${verb} in 2031?`)
      const row = rowOf(a ?? '', b ?? '', isSame ? 'same' : 'different')
      const pair = labelledPairOf(row, [POLYMARKET, KALSHI])
      return pair === null || one === other ? [] : Array.from({ length: 20 }, () => pair)
    }),
  )
  const at = FEATURES.indexOf('similarity')
  await withTinyEncoder(WORDS, async (folder) => {
    const open = await opened(folder)
    assert.equal(open.model, WEIGHTS)
    await open.encoder.read(textsOfPairs(pairs))
    const plain = trainOn(comparePairs(pairs))
    const model = trainOn(comparePairs(pairs, open.encoder))
    assert.equal(plain.weights[at], 5, 'a weight without training pairs stays at its default')
    assert.ok((model.weights[at] ?? 0) > 5, String(model.weights[at]))
    const { path, text } = open.fileOf(model)
    writeFileSync(path, text)
    assert.ok(existsSync(join(folder, 'weights.json')))
    assert.deepEqual((await opened(folder)).model, model)
  })
})
