/** Compilers of WebAssembly, as the packages of this folder have them: tests run modules that others made. */
import asc from 'assemblyscript/asc';
import wabt from 'wabt';

/** A module of WebAssembly's own text format. */
export async function wasmOfWat(source: string): Promise<Uint8Array> {
  const module = (await wabt()).parseWat('test.wat', source);
  const { buffer } = module.toBinary({});
  module.destroy();
  return buffer;
}

/** A module of AssemblyScript. `flags`: of its compiler. */
export async function wasmOfAssemblyScript(source: string, flags: string[] = []): Promise<Uint8Array> {
  const { error, binary, stderr } = await asc.compileString(source, {
    optimizeLevel: 2,
    runtime: 'stub',
    ...flagsOf(flags),
  });
  if (error !== null || binary === null) throw new Error(`AssemblyScript: ${error?.message} ${stderr.toString()}`);
  return binary;
}

function flagsOf(flags: string[]): Record<string, unknown> {
  return Object.fromEntries(flags.map((flag) => [flag, true]));
}
