/** The folder of packages in a sandbox: which are there, and how one comes and goes. */
import type { CommandCall } from '../own-command.ts';
import { normalName } from './requirements.ts';
import type { Package } from './resolve.ts';
import { metadataOf } from './wheel.ts';

export interface Installed extends Package {
  /** As the package writes it. */
  title: string;
  summary: string;
  /** The name of its folder of metadata. */
  folder: string;
}

/** The packages in a folder, by their normal name. */
export async function installedIn(call: CommandCall, folder: string): Promise<Map<string, Installed>> {
  const found = new Map<string, Installed>();
  if (call.files.look(folder)?.kind !== 'dir') return found;
  for (const name of (await call.changes.readdir(folder)).toSorted()) {
    const metadata = `${folder}/${name}/METADATA`;
    if (!name.endsWith('.dist-info') || call.files.look(metadata)?.kind !== 'file') continue;
    const facts = metadataOf((await call.input(metadata)).toString());
    const normal = normalName(facts.name);
    if (normal !== '') found.set(normal, { ...facts, name: normal, title: facts.name, folder: name });
  }
  return found;
}

/** The files that a package wrote, by its RECORD; nothing outside the folder. */
async function filesOf(call: CommandCall, folder: string, { folder: info }: Installed): Promise<string[]> {
  const record = `${folder}/${info}/RECORD`;
  if (call.files.look(record)?.kind !== 'file') return [];
  const lines = (await call.input(record)).toString().split('\n');
  const paths = lines.map((line) =>
    line.startsWith('"') ? (/^"([^"]*)"/.exec(line)?.[1] ?? '') : (line.split(',')[0] ?? ''),
  );
  return paths.filter((path) => path !== '' && !path.startsWith('/') && !path.split('/').includes('..'));
}

/** Removes a package with its files, and folders that are empty then. It has no pause in which its call could end. */
export async function uninstall(call: CommandCall, folder: string, installed: Installed): Promise<void> {
  const files = await filesOf(call, folder, installed);
  for (const path of files) {
    if (call.files.look(`${folder}/${path}`, false)?.kind === 'file') await call.changes.rm(`${folder}/${path}`);
  }
  if (call.files.look(`${folder}/${installed.folder}`) !== null) {
    await call.changes.rm(`${folder}/${installed.folder}`, { recursive: true });
  }
  await removeEmpty(call, folder, files);
}

async function removeEmpty(call: CommandCall, folder: string, files: readonly string[]): Promise<void> {
  const parents = new Set<string>();
  for (const path of files) {
    const parts = path.split('/').slice(0, -1);
    for (let depth = parts.length; depth > 0; depth -= 1) parents.add(parts.slice(0, depth).join('/'));
  }
  for (const parent of [...parents].toSorted((a, b) => b.length - a.length)) {
    const path = `${folder}/${parent}`;
    if (call.files.look(path)?.kind === 'dir' && (await call.changes.readdir(path)).length === 0) {
      await call.changes.rm(path, { recursive: true });
    }
  }
}
