/** The files that guest code reaches as `vfs`. Knows nothing of languages. */
import { isUtf8 } from 'node:buffer';
import type { Overlay } from '../vfs/overlay.ts';
import { parseVfsPath } from '../vfs/paths.ts';
import { DEFAULT_VOLUME, parseVolume } from '../vfs/volumes.ts';
import { type GuestMemory, requireTransferable } from '../workers/protocol/transfer-limit.ts';
import { type HostFunction, Utf8Bytes } from './javascript/javascript-bridge.ts';

/** Maximum number of files in one `vfs.list`; a longer list is an error. */
const LIST_LIMIT = 100_000;

/**
 * The host functions behind the guest's `vfs` object, on the files of the current call; the volume is optional. Volumes
 * and paths from the guest are parsed here.
 */
export function vfsFunctions(current: () => Overlay, memory: GuestMemory): Record<string, HostFunction> {
  const volumeOf = (name: unknown) => parseVolume(name === undefined ? DEFAULT_VOLUME : String(name));
  /** The content of a file. A file that is too large to transfer is not read. */
  const read = (text: string, name: unknown) => {
    const files = current();
    const [path, volume] = [parseVfsPath(text), volumeOf(name)];
    requireTransferable(files.entry(path, volume)?.size ?? 0, memory);
    return files.get(path, volume) ?? undefined;
  };
  const bytesOf = (content: unknown) => (content instanceof Uint8Array ? content : Buffer.from(String(content)));
  return {
    get: (path, name) => {
      const content = read(String(path), name);
      return content && textOf(content, String(path));
    },
    getBytes: (path, name) => read(String(path), name),
    put: (path, content, name) => void current().put(parseVfsPath(String(path)), bytesOf(content), volumeOf(name)),
    list: (prefix, name) =>
      listed(current().paths(volumeOf(name), prefix === undefined ? '' : String(prefix), LIST_LIMIT + 1)),
    delete: (path, name) => current().delete(parseVfsPath(String(path)), volumeOf(name)),
    query: (sql, params) => current().query(String(sql), params === undefined ? [] : JSON.parse(String(params))),
  };
}

/** A file as text. Throws for a file that is not UTF-8, because decoding it would lose bytes. */
function textOf(content: Uint8Array, path: string): Utf8Bytes {
  if (isUtf8(content)) return new Utf8Bytes(content);
  throw new TypeError(`${JSON.stringify(path)} is not UTF-8 text. Read its bytes with vfs.getBytes.`);
}

function listed(paths: string[]): string[] {
  if (paths.length <= LIST_LIMIT) return paths;
  throw new RangeError(`There are more than ${LIST_LIMIT} files: list them by prefix, or page with vfs.query.`);
}
