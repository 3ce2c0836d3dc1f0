/** The inside of an npm package: its files by their paths. The bytes are untrusted. */
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { PackageError } from '../package-source.ts';
import { isJsonObject } from './registry.ts';

const MOST_FILES = 10_000;
const MOST_BYTES = 96 * 1024 * 1024;

/**
 * Unpacks a package. Throws `PackageError` for names that lead elsewhere, for more than it may unpack to, and when it
 * says that it is another package. Links are left out, as npm does.
 */
export async function unpackPackage(bytes: Buffer, name: string, version: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  try {
    const tar = bytes[0] === 0x1f ? gunzipSync(bytes, { maxOutputLength: MOST_BYTES }) : bytes;
    const entries = extract();
    Readable.from([tar]).pipe(entries);
    for await (const entry of entries) {
      const { name: path, type } = entry.header;
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      if (type !== 'file' && type !== 'contiguous-file') continue;
      const target = placeOf(path);
      if (files.size >= MOST_FILES) throw new PackageError(`it has more than ${MOST_FILES} files`);
      files.set(target, Buffer.concat(parts));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PackageError(`${name}@${version} is no package that can be installed: ${why}`);
  }
  const manifest = packageJson(files.get('package.json')?.toString() ?? '');
  if (manifest?.name !== name || manifest.version !== version) {
    throw new PackageError(`${name}@${version} says that it is ${String(manifest?.name)}@${String(manifest?.version)}`);
  }
  return files;
}

/** The path below the one folder that everything in a package is in. */
function placeOf(path: string): string {
  const parts = path.split('/').slice(1);
  const isOdd = parts.length === 0 || parts.some((part) => part === '' || part === '.' || part === '..');
  if (isOdd || path.startsWith('/') || path.includes('\0'))
    throw new PackageError(`"${path}" is no place in a package`);
  return parts.join('/');
}

/** A package.json as an object; null for what is none. */
export function packageJson(text: string): Record<string, unknown> | null {
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isJsonObject(manifest) ? manifest : null;
  } catch {
    return null;
  }
}
