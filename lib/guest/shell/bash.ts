/**
 * just-bash, patched while it is loaded. Import the shell from here only. The original codec reads bytes that are not
 * UTF-8 as Latin-1 and writes them back as UTF-8; with the patches of bash-patches.ts bytes come back unchanged.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { patchedSource } from './patches/bash-patches.ts';

/** What its tar compresses with; the patches export it. */
interface Bzip2Codec {
  /** `level`: hundreds of thousands of bytes in a block, 1 to 9. Throws above `maxInput` bytes. */
  compressBzip2(content: Uint8Array, level: number, maxInput: number): Promise<Uint8Array> | Uint8Array;
  /** Throws when the content is damaged. */
  seekBzip: { decode(content: Buffer, output: { writeByte(byte: number): void }, isMany: boolean): void };
}

declare module 'just-bash' {
  export function loadBzip2(): Promise<Bzip2Codec>;
}

registerHooks({
  load(url, context, nextLoad) {
    const name = /\/just-bash\/dist\/bundle\/(.+\.js)$/.exec(url)?.[1];
    const source = name === undefined ? null : patchedSource(name, () => readFileSync(fileURLToPath(url), 'utf8'));
    return source === null ? nextLoad(url, context) : { format: 'module', shortCircuit: true, source };
  },
});

export const {
  Bash,
  decodeBytesToUtf8,
  defineCommand,
  DefenseInDepthBox,
  getCommandNames,
  latin1FromBytes,
  loadBzip2,
  parse,
  serialize,
  stdoutAsBytes,
  unsafeBytesFromLatin1,
} = await import('just-bash');
