/** `box.files`: files by the paths that the sandbox's shell has. Safe for the browser. */
import type { CallOptions, Upload, Written } from '../call.ts';
import type { WinterdockClient } from '../client.ts';
import { ApiError } from '../error.ts';
import type { FolderItem } from '../types.ts';
import { HOME, shellPathOf, volumePathOf } from './paths.ts';
import { type WatchedChange, type WatchOptions, watchFolder } from './watch.ts';

/** A file, folder or link. */
export interface FileEntry extends FolderItem {
  /** Its whole path, as the shell has it. */
  path: string;
}

/** A page of a folder, as large as the server gives it. */
const PAGE = 500;

const isRefusal = (error: unknown, ...codes: string[]): boolean =>
  error instanceof ApiError && codes.includes(error.code);

/**
 * Paths are those of the shell: `/workspace/a`, `/memory/a`, `/tmp/a`, or relative to `/workspace`. Reading wakes
 * nothing; writing wakes a sleeping sandbox, and is on disk when it is answered.
 */
export class SandboxFiles {
  readonly #client: WinterdockClient;
  readonly #sandbox: string;

  constructor(client: WinterdockClient, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** A file's text, or with `format` its bytes, or them as a stream. Rejects with `not_found`. */
  read(path: string, options?: CallOptions & { format?: 'text' }): Promise<string>;
  read(path: string, options: CallOptions & { format: 'bytes' }): Promise<Uint8Array<ArrayBuffer>>;
  read(path: string, options: CallOptions & { format: 'stream' }): Promise<ReadableStream<Uint8Array>>;
  async read(
    path: string,
    { format = 'text', ...options }: CallOptions & { format?: 'text' | 'bytes' | 'stream' } = {},
  ): Promise<string | Uint8Array | ReadableStream<Uint8Array>> {
    const { volume, path: inVolume } = volumePathOf(path);
    const file = await this.#client.getFile(this.#sandbox, volume, inVolume, {}, options);
    if (format === 'stream') return file.stream;
    return format === 'bytes' ? file.bytes() : file.text();
  }

  /** Writes a file, and makes the folders above it. `ifMatch` and `ifNoneMatch` make it conditional. */
  async write(path: string, content: Upload, options?: CallOptions): Promise<Written> {
    const { volume, path: inVolume } = volumePathOf(path);
    return this.#client.putFile(this.#sandbox, volume, inVolume, content, options);
  }

  /** What lies directly in a folder, folders first. Rejects with `not_found`. */
  async list(path = HOME, options?: CallOptions): Promise<FileEntry[]> {
    const { volume, path: folder } = volumePathOf(path);
    const entries: FileEntry[] = [];
    const items = this.#client.listFolder(this.#sandbox, volume, { path: folder, limit: PAGE }, options);
    for await (const item of items) {
      const inVolume = folder === '/' ? `/${item.name}` : `${folder}/${item.name}`;
      entries.push({ ...item, path: shellPathOf({ volume, path: inVolume }) });
    }
    return entries;
  }

  /** Whether a file, folder or link is there. */
  async exists(path: string, options?: CallOptions): Promise<boolean> {
    const { volume, path: inVolume } = volumePathOf(path);
    try {
      await this.#client.listFolder(this.#sandbox, volume, { path: inVolume, limit: 1 }, options);
      return true;
    } catch (error) {
      // It is there, and is no folder.
      if (isRefusal(error, 'conflict')) return true;
      if (!isRefusal(error, 'not_found')) throw error;
    }
    // A sandbox that is not there is `not_found` too.
    await this.#client.getInstance(this.#sandbox, options);
    return false;
  }

  /** Makes a folder and those above it. Rejects with `conflict` when something is there. */
  async makeDir(path: string, options?: CallOptions): Promise<void> {
    const { volume, path: inVolume } = volumePathOf(path);
    await this.#client.makeFolder(this.#sandbox, volume, { path: inVolume }, options);
  }

  /** Moves a file or folder within its volume. Rejects with `conflict` when something is at `to`. */
  async rename(from: string, to: string, options?: CallOptions): Promise<void> {
    const source = volumePathOf(from);
    const target = volumePathOf(to);
    if (source.volume !== target.volume) {
      throw new ApiError('validation', `"${from}" and "${to}" are in two volumes.`, {
        hint: "The shell's mv moves between them.",
      });
    }
    await this.#client.moveFile(this.#sandbox, source.volume, { from: source.path, to: target.path }, options);
  }

  /** Removes a file, an empty folder, or with `recursive` a folder with all in it. Rejects with `not_found`. */
  async remove(path: string, { recursive, ...options }: CallOptions & { recursive?: boolean } = {}): Promise<void> {
    const { volume, path: inVolume } = volumePathOf(path);
    try {
      if (inVolume !== '/') return await this.#client.deleteFile(this.#sandbox, volume, inVolume, options);
    } catch (error) {
      if (!isRefusal(error, 'not_found', 'conflict')) throw error;
    }
    const query = { path: inVolume, recursive: recursive === true ? ('true' as const) : undefined };
    await this.#client.deleteFolder(this.#sandbox, volume, query, options);
  }

  /**
   * Tells of each file at and below `path` that is created, changed or removed. Resolves when it watches: every later
   * change is told, those of a moment together. It looks every `intervalMs` (1 s); what comes and goes between two
   * looks is not seen. Ends by leaving the loop, by the signal, or by a refusal. `/memory` is refused.
   */
  async watch(path = HOME, options: WatchOptions = {}): Promise<AsyncGenerator<WatchedChange, void, void>> {
    return watchFolder(this.#client, this.#sandbox, volumePathOf(path), options);
  }
}
