// The part of the WebAssembly JavaScript API that the host binding uses. TypeScript declares this API only in
// its DOM library, and @types/node 20 does not declare it at all.
declare namespace WebAssembly {
  class Module {
    private constructor();
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: boolean });
    readonly buffer: ArrayBufferLike;
  }
  type Imports = Record<string, Record<string, Memory | ((...numbers: number[]) => number | undefined)>>;
  type Exports = Readonly<Record<string, unknown>>;
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Exports;
  }
  class RuntimeError extends Error {}
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
}
