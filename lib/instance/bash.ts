/**
 * just-bash, mended as it is loaded: every line of ours that runs its shell imports it from here. Its own text codec
 * takes bytes that are not UTF-8 for Latin-1 and gives them back as UTF-8; with the changes of bash-changes.ts it gives
 * back what it was given.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { patchedSource } from './bash-patches.ts';

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
  stdoutAsBytes,
  unsafeBytesFromLatin1,
} = await import('just-bash');
