/**
 * just-bash, patched while it is loaded. Import the shell from here only. The original codec reads bytes that are not
 * UTF-8 as Latin-1 and writes them back as UTF-8; with the patches of bash-patches.ts bytes come back unchanged.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { patchedSource } from './patches/bash-patches.ts';

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
  parse,
  serialize,
  stdoutAsBytes,
  unsafeBytesFromLatin1,
} = await import('just-bash');
