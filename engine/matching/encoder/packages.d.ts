// Declares the parts of the two optional packages that are used, so that the code compiles without the packages.

declare module 'onnxruntime-node' {
  interface Tensor {
    readonly type: string
    readonly dims: readonly number[]
    readonly data: unknown
  }
  interface InferenceSession {
    readonly inputNames: readonly string[]
    readonly outputNames: readonly string[]
    run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>
  }
  export const InferenceSession: {
    create(path: string, options: object): Promise<InferenceSession>
  }
  export const Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor
}

declare module '@huggingface/tokenizers' {
  export class Tokenizer {
    constructor(definition: object, config: object)
    encode(text: string): { readonly ids: readonly number[] }
  }
}
