/**
 * `npm run roots -- list`: the root file systems of this machine (WB_ROOTS, by default WB_DATA/roots), each with its
 * version, size and users. `build NAME` builds base or dev from Debian's packages, `verify NAME` reads one whole and
 * names what is not as it was built, `remove ID` removes one that nobody uses. Exits with 0, with 1 when it was not
 * done, and after `verify` with 2 when something was changed.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '../lib/base/config.ts';
import { isWinterdockError, messageOf } from '../lib/base/errors.ts';
import { buildDebian, cannotBuild } from '../lib/native/roots/debian.ts';
import { ROOT_RECIPES } from '../lib/native/roots/recipes.ts';
import { type RootInfo, Roots } from '../lib/native/roots/roots.ts';
import { refuse, say, size, time } from './backup/terminal.ts';

const NAMES = Object.keys(ROOT_RECIPES).join(', ');
const USAGE = `Usage: npm run roots -- list, build NAME, verify NAME|ID, or remove ID. NAME is one of ${NAMES}.`;
const IS_CHANGED = 2;

const line = ({ id, bytes, entries, builtAt, leases }: RootInfo) =>
  `${id}  ${size(bytes)} in ${entries} files and folders, built ${time(builtAt)}${leases > 0 ? `, used by ${leases}` : ''}`;

async function build(roots: Roots, name: string): Promise<number> {
  const packages = ROOT_RECIPES[name];
  if (packages === undefined) return refuse(`There is no root ${name} to build: ${NAMES}.`);
  const problem = cannotBuild();
  if (problem !== null) return refuse(`No root can be built here: ${problem}.`);
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => abort.abort(new Error('The build was stopped, and nothing of it is left.')));
  const began = Date.now();
  const seconds = () => `${String(Math.round((Date.now() - began) / 1000)).padStart(4)} s`;
  const onProgress = (text: string) => say(`${seconds()}  ${text}`);
  const fill = (folder: string) => buildDebian({ folder, packages, onProgress, signal: abort.signal });
  say(line(await roots.build(name, fill, began)));
  return 0;
}

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} });
  const [verb = '', name, ...more] = positionals;
  const roots = new Roots(readConfig(process.env).rootsFolder);
  if (verb === 'list' && name === undefined) {
    for (const root of roots.list()) say(line(root));
    return 0;
  }
  if (name === undefined || more.length > 0) return refuse(USAGE);
  if (verb === 'build') return build(roots, name);
  if (verb === 'remove') {
    const removed = await roots.remove(name);
    say(`Removed ${removed.id}, ${size(removed.bytes)}.`);
    return 0;
  }
  if (verb !== 'verify') return refuse(USAGE);
  const { id, entries } = roots.get(name);
  const changed = await roots.verify(id);
  if (changed.length === 0) {
    say(`${id}: all ${entries} files and folders are as they were built.`);
    return 0;
  }
  process.stderr.write(`${id} is not as it was built: ${changed.join(', ')}\n`);
  return IS_CHANGED;
}

try {
  process.exitCode = await main();
} catch (error) {
  const hint = isWinterdockError(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  process.exitCode = refuse(`${messageOf(error)}${hint}`);
}
