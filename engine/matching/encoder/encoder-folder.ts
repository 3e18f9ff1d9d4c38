// Opens a sentence encoder in a local folder of the operator: `model.onnx`, `tokenizer.json` (Hugging Face format) and,
// after a training with it, `weights.json`. The optional packages that run the encoder are loaded only if a folder is
// configured. Nothing is downloaded.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../json-record.ts'
import { FEATURES } from '../compare/compare.ts'
import { type Model, WEIGHTS } from '../compare/model.ts'
import { Encoder } from './sentence-encoder.ts'

/** A tested encoder, with the weights for its similarities: those of its own file, or the default weights. */
export interface OpenEncoder {
  readonly kind: 'open'
  readonly encoder: Encoder
  readonly model: Model
  /** Path and content of the weights file for a model that was trained with this encoder. */
  readonly fileOf: (model: Model) => { readonly path: string; readonly text: string }
}

/** One sentence that states what is wrong with the folder and what is required. */
export interface RefusedEncoder {
  readonly kind: 'refused'
  readonly reason: string
}

const [MODEL, TOKENIZER, WEIGHTS_FILE] = ['model.onnx', 'tokenizer.json', 'weights.json'] as const
const TOKENIZER_CONFIG = 'tokenizer_config.json'
/** Inputs of the model, each with its value for a token. */
const INPUTS: ReadonlyMap<string, (token: number) => number> = new Map([
  ['input_ids', (token: number) => token],
  ['attention_mask', () => 1],
  ['token_type_ids', () => 0],
])
const OUTPUT = 'last_hidden_state'
const ACCEPTED = `a folder with ${MODEL} (int64 inputs ${[...INPUTS.keys()].join(', ')} or the first of them, float output ${OUTPUT} of 1 × tokens × width) and ${TOKENIZER} in the form of Hugging Face`
const TEXT_MAX = 600
const TOKENS_MAX = 128
const WIDTH_MAX = 4_096

/** Opens a folder and runs its encoder once. Never throws, whatever the folder contains. */
export async function openEncoder(folder: string): Promise<OpenEncoder | RefusedEncoder> {
  try {
    const [encode, infer] = [await openTokenizer(folder), await openModel(folder)]
    const embed = async (text: string): Promise<Float32Array> => infer(encode(text))
    await embed('Will it rain in New York tomorrow?')
    const encoder = new Encoder((text) => embed(text).catch(() => null))
    const fileOf = ({ weights }: Model) => {
      const rows = Object.fromEntries(FEATURES.map((name, index) => [name, weights[index]]))
      return { path: join(folder, WEIGHTS_FILE), text: `${JSON.stringify(rows, null, 2)}\n` }
    }
    return { kind: 'open', encoder, model: await weightsIn(folder), fileOf }
  } catch (error) {
    const prefix = `is ${JSON.stringify(folder)}`
    return { kind: 'refused', reason: `${prefix}: ${reasonOf(error)}; it accepts ${ACCEPTED}` }
  }
}

async function weightsIn(folder: string): Promise<Model> {
  if (!existsSync(join(folder, WEIGHTS_FILE))) return WEIGHTS
  const read = await jsonIn(folder, WEIGHTS_FILE)
  const weights = FEATURES.map((name) => Number(read[name]))
  if (weights.every(Number.isFinite)) return { weights }
  throw new Error(
    `${WEIGHTS_FILE} is of another version: train the model again, or remove the file`,
  )
}

/** Token ids of a text. The last id is the model's end token. */
async function openTokenizer(folder: string): Promise<(text: string) => readonly number[]> {
  const definition = await jsonIn(folder, TOKENIZER)
  const isConfigured = existsSync(join(folder, TOKENIZER_CONFIG))
  const config = isConfigured ? await jsonIn(folder, TOKENIZER_CONFIG) : {}
  const { Tokenizer } = await withErrorContext(PACKAGES, () => import('@huggingface/tokenizers'))
  const tokenizer = await withErrorContext(TOKENIZER, async () => new Tokenizer(definition, config))
  return (text) => {
    const { ids } = tokenizer.encode(text.slice(0, TEXT_MAX))
    return ids.length <= TOKENS_MAX ? ids : [...ids.slice(0, TOKENS_MAX - 1), ...ids.slice(-1)]
  }
}

/** Mean of the vectors of a text's tokens. */
async function openModel(
  folder: string,
): Promise<(ids: readonly number[]) => Promise<Float32Array>> {
  const path = join(folder, MODEL)
  if (!existsSync(path)) throw new Error(`it has no ${MODEL}`)
  const { InferenceSession, Tensor } = await withErrorContext(
    PACKAGES,
    () => import('onnxruntime-node'),
  )
  // One thread, which is the matcher's own low-priority thread.
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 }
  const session = await withErrorContext(MODEL, () => InferenceSession.create(path, options))
  const { inputNames, outputNames } = session
  if (!outputNames.includes(OUTPUT)) throw new Error(`${MODEL} gives ${outputNames.join(', ')}`)
  const inputs = inputNames.map((name) => {
    const filling = INPUTS.get(name)
    if (filling === undefined) throw new Error(`${MODEL} wants ${name}`)
    return (ids: readonly number[]) => {
      const values = BigInt64Array.from(ids, (id) => BigInt(filling(id)))
      return [name, new Tensor('int64', values, [1, ids.length])] as const
    }
  })
  return async (ids) => {
    const feeds = Object.fromEntries(inputs.map((of) => of(ids)))
    const { [OUTPUT]: output } = await withErrorContext(MODEL, () => session.run(feeds))
    return meanOf(output?.data, output?.dims ?? [], ids.length)
  }
}

function meanOf(data: unknown, dims: readonly number[], count: number): Float32Array {
  const [, , width = 0] = dims
  const isShaped = dims.join() === [1, count, width].join() && width > 0 && width <= WIDTH_MAX
  if (!isShaped || !(data instanceof Float32Array)) {
    throw new Error(`${OUTPUT} of ${MODEL} has the shape ${dims.join(' × ')}`)
  }
  const mean = new Float32Array(width)
  for (const [index, value] of data.entries()) {
    mean[index % width] = (mean[index % width] ?? 0) + value / count
  }
  return mean
}

async function jsonIn(folder: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  return withErrorContext(name, async () => {
    const read: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'))
    if (isRecord(read)) return read
    throw new Error('it is not a JSON object')
  })
}

const PACKAGES =
  'the optional packages onnxruntime-node and @huggingface/tokenizers, which npm ci installs,'

/** Runs a step that may fail because of a file or a package, and adds its name to the error. */
async function withErrorContext<Result>(
  thing: string,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    throw new Error(`${thing} cannot be used (${reasonOf(error)})`)
  }
}

function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.slice(0, 300)
}
