/** The inside of a wheel: its files by where they go, and what it says of itself. The bytes are untrusted. */
import { fromBufferPromise } from 'yauzl';
import { normalName } from './requirements.ts';

const MOST_FILES = 10_000;
/** What one wheel may unpack to: one of sixteen megabytes holds about so much text. */
const MOST_BYTES = 96 * 1024 * 1024;
const KIND_MASK = 0o170000;
const LINK = 0o120000;

export class WheelError extends Error {}

export interface Wheel {
  name: string;
  version: string;
  /** Of `Requires-Dist`. */
  requires: string[];
  summary: string;
  /** Bytes by path in the folder of packages. */
  files: Map<string, Buffer>;
  /** Names of its commands, which are not installed. */
  commands: string[];
}

/** Reads a wheel. Throws `WheelError`, also for names that lead elsewhere, links, and more than it may unpack to. */
export async function readWheel(bytes: Buffer, file: string): Promise<Wheel> {
  const files = new Map<string, Buffer>();
  let total = 0;
  try {
    const zip = await fromBufferPromise(bytes, { validateEntrySizes: true });
    for await (const entry of zip.eachEntry()) {
      const { fileName: path, uncompressedSize: size } = entry;
      if (path.endsWith('/')) continue;
      if (((entry.externalFileAttributes >>> 16) & KIND_MASK) === LINK) throw new WheelError(`${path} is a link`);
      total += size;
      if (files.size >= MOST_FILES) throw new WheelError(`it has more than ${MOST_FILES} files`);
      if (total > MOST_BYTES) throw new WheelError(`it unpacks to more than ${MOST_BYTES} bytes`);
      const target = targetOf(path);
      if (target === null) continue;
      if (files.has(target)) throw new WheelError(`${path} is in it twice`);
      const parts: Buffer[] = [];
      for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
      files.set(target, Buffer.concat(parts));
    }
  } catch (error) {
    throw new WheelError(
      `${file} is no wheel that can be installed: ${error instanceof Error ? error.message : error}`,
    );
  }
  return described(files, file);
}

/** Where a file of a wheel goes; null for what is not installed. */
function targetOf(path: string): string | null {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    throw new WheelError(`"${path}" is no place in a folder of packages`);
  }
  const [, kind, rest] = /^[^/]+\.data\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (kind === undefined || rest === undefined) return path;
  return kind === 'purelib' || kind === 'platlib' ? rest : null;
}

function described(files: Map<string, Buffer>, file: string): Wheel {
  const [name, version] = file.split('-');
  const own = [...files.keys()].find((path) => /^[^/]+\.dist-info\/METADATA$/.test(path));
  const metadata = own === undefined ? undefined : files.get(own);
  if (own === undefined || metadata === undefined) throw new WheelError(`${file} has no METADATA`);
  const facts = metadataOf(metadata.toString());
  if (normalName(facts.name) !== normalName(name ?? '') || facts.version === '') {
    throw new WheelError(`${file} says that it is "${facts.name}" ${facts.version}`);
  }
  const entries = files.get(own.replace(/METADATA$/, 'entry_points.txt'))?.toString() ?? '';
  const scripts = /\[console_scripts\]([^[]*)/.exec(entries)?.[1] ?? '';
  const commands = [...scripts.matchAll(/^\s*([\w.-]+)\s*=/gm)].map(([, command = '']) => command);
  return { ...facts, version: facts.version || (version ?? ''), files, commands };
}

/** The headers of a METADATA file, which ends with the first empty line. */
export function metadataOf(text: string): Pick<Wheel, 'name' | 'version' | 'requires' | 'summary'> {
  const head = text.replaceAll('\r\n', '\n').split('\n\n')[0] ?? '';
  const all = (field: string) =>
    [...head.matchAll(new RegExp(`^${field}:[ \\t]*(.*)$`, 'gim'))].map(([, value = '']) => value.trim());
  const one = (field: string) => all(field)[0] ?? '';
  return { name: one('Name'), version: one('Version'), summary: one('Summary'), requires: all('Requires-Dist') };
}
