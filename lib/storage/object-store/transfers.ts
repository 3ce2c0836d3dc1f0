/**
 * Files into a store and out of it, hashed while they stream, whatever the driver. What breaks off goes on where it
 * stopped; the repeats are bounded.
 */
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { createZstdDecompress } from 'node:zlib';
import { syncFile, unlinkFile, writeStream } from '../../base/effects.ts';
import { isWinterdockError, type WinterdockError } from '../../base/errors.ts';
import { openRegular } from '../../base/strangers-file.ts';
import type { DownloadOptions, ObjectRange, TransferOptions, Transferred } from './object-store.ts';
import type { OpenedObject, StoreDriver } from './store-driver.ts';
import { storeAway, wrongBytes } from './store-errors.ts';

/** Larger pieces are hardly quicker, and wait in memory until the collector comes. */
const READ_BYTES = 64 * 1024;
/** Times that a stream may break off in a row without a new byte. */
const BREAKS = 4;
const FIRST_PAUSE_MS = 200;
/** Wrong bytes twice are the object's and not the way's. */
const WRONG_TIMES = 2;

/** Hashes an object and, where it is packed, what it expands to. */
class Hashes {
  readonly #stored: Hash = createHash('sha256');
  readonly #expanded: Hash | null;
  readonly #expanding: ReturnType<typeof createZstdDecompress> | null;
  readonly #whole: Promise<void> | null = null;
  bytes = 0;

  constructor(packed: boolean) {
    this.#expanded = packed ? createHash('sha256') : null;
    this.#expanding = packed ? createZstdDecompress() : null;
    if (this.#expanding !== null) {
      this.#whole = this.#hashExpanded(this.#expanding);
      // Whoever asks for the result gets the error.
      this.#whole.catch(() => undefined);
    }
  }

  async #hashExpanded(expanding: Readable): Promise<void> {
    for await (const piece of expanding) this.#expanded?.update(piece);
  }

  async add(piece: Buffer): Promise<void> {
    this.bytes += piece.length;
    this.#stored.update(piece);
    const expanding = this.#expanding;
    if (expanding === null || expanding.destroyed || expanding.write(piece)) return;
    await Promise.race([once(expanding, 'drain'), this.#whole]).catch(() => undefined);
  }

  /** Null as the expanded one of what does not expand. */
  async result(): Promise<{ sha256: string; expandedSha256: string | null }> {
    const sha256 = this.#stored.digest('hex');
    if (this.#expanded === null) return { sha256, expandedSha256: null };
    this.#expanding?.end();
    const isWhole = await this.#whole?.then(
      () => true,
      () => false,
    );
    return { sha256, expandedSha256: isWhole ? this.#expanded.digest('hex') : null };
  }

  close(): void {
    this.#expanding?.destroy();
  }
}

/** Stores a local file. Throws as `ObjectStore.upload` does. */
export async function uploadFile(
  driver: StoreDriver,
  name: string,
  path: string,
  { packed = false, sha256, timeMs, signal, progress }: TransferOptions,
): Promise<Transferred> {
  signal?.throwIfAborted();
  const handle = await openRegular(path);
  const hashes = new Hashes(packed);
  let sent: Transferred | null = null;
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of handle.createReadStream({ highWaterMark: READ_BYTES, autoClose: false })) {
      await hashes.add(piece);
      yield piece;
      progress?.(hashes.bytes);
    }
    const { expandedSha256, ...stored } = await hashes.result();
    const right = packed ? expandedSha256 : stored.sha256;
    if (right === null || (sha256 !== undefined && right !== sha256)) {
      throw wrongBytes(name, 'the file is another one than was filed');
    }
    sent = { bytes: hashes.bytes, ...stored, ...(expandedSha256 !== null && { expandedSha256 }) };
  }
  const accept = () => {
    if (sent === null) throw wrongBytes(name, 'the file was not read to its end');
  };
  try {
    const { size } = await handle.stat();
    const known = { ...(packed || sha256 === undefined ? {} : { sha256 }), ...(timeMs !== undefined && { timeMs }) };
    await driver.write(name, { pieces: pieces(), accept, bytes: size, ...known, ...(signal && { signal }) });
  } finally {
    hashes.close();
    await handle.close();
  }
  if (sent === null) throw wrongBytes(name, 'the file was not read to its end');
  return sent;
}

/** Writes an object to a new local file. Throws as `ObjectStore.download` does. */
export async function downloadFile(
  driver: StoreDriver,
  name: string,
  path: string,
  options: DownloadOptions,
): Promise<Transferred> {
  for (let times = 1; ; times += 1) {
    try {
      return await receiveOnce(driver, name, path, options);
    } catch (error) {
      if (times === WRONG_TIMES || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
    }
  }
}

async function receiveOnce(
  driver: StoreDriver,
  name: string,
  path: string,
  { packed = false, expand = false, sha256, bytes, signal, progress }: DownloadOptions,
): Promise<Transferred> {
  const hashes = new Hashes(packed && !expand);
  const expanded = createHash('sha256');
  let isMade = false;
  async function* stored(): AsyncGenerator<Buffer> {
    for await (const piece of objectPieces(driver, name, { signal, first, isHashed: true })) {
      await hashes.add(piece);
      if (bytes !== undefined && hashes.bytes > bytes) throw wrongBytes(name, `it has more than ${bytes} bytes`);
      yield piece;
      progress?.(hashes.bytes);
    }
  }
  const hashExpanded = new Transform({
    transform(piece, _encoding, done) {
      expanded.update(piece);
      done(null, piece);
    },
  });
  const limits = signal ? { signal } : {};
  const first = await driver.open(name, undefined, signal);
  const target = writeStream(path, { flags: 'wx' });
  try {
    await once(target, 'open');
    isMade = true;
    if (expand) await pipeline(stored(), createZstdDecompress(), hashExpanded, target, limits);
    else await pipeline(stored(), target, limits);
    const { expandedSha256, ...whole } = await hashes.result();
    const inside = expand ? expanded.digest('hex') : expandedSha256;
    if (bytes !== undefined && hashes.bytes !== bytes) throw wrongBytes(name, `it has ${hashes.bytes} bytes`);
    const right = packed || expand ? inside : whole.sha256;
    if (right === null) throw wrongBytes(name, 'it does not expand');
    if ((first.sha256 ?? whole.sha256) !== whole.sha256) throw wrongBytes(name, 'its hash is another one');
    if (sha256 !== undefined && right !== sha256) throw wrongBytes(name, 'its hash is another one');
    await syncFile(path);
    return { bytes: hashes.bytes, ...whole, ...(inside !== null && { expandedSha256: inside }) };
  } catch (error) {
    if (isMade) await unlinkFile(path);
    if (signal?.aborted) throw signal.reason;
    const isZstd = error instanceof Error && 'code' in error && /^Z(STD)?_/.test(String(error.code));
    throw isZstd ? wrongBytes(name, 'it does not expand', error) : error;
  } finally {
    first.stream.destroy();
    hashes.close();
  }
}

interface PiecesOptions {
  range?: ObjectRange | undefined;
  signal?: AbortSignal | undefined;
  /** Opened already, at the beginning of the range. */
  first?: OpenedObject;
  /** Whoever reads hashes the pieces, and compares. */
  isHashed?: boolean;
}

/**
 * The bytes of an object, or of a range of it. What breaks off goes on where it stopped, as long as the object is the
 * same. Throws `corrupt` when it has other bytes than the store says, and `storage_unavailable` when it breaks off
 * again and again.
 */
export async function* objectPieces(
  driver: StoreDriver,
  name: string,
  { range, signal, first, isHashed = false }: PiecesOptions,
): AsyncGenerator<Buffer> {
  let opened = first ?? (await driver.open(name, range, signal));
  const { stat, sha256 } = opened;
  const begin = range?.first ?? 0;
  const end = Math.min(range?.last ?? stat.bytes - 1, stat.bytes - 1) + 1;
  const hash = range === undefined && sha256 !== null && !isHashed ? createHash('sha256') : null;
  let at = begin;
  for (let breaks = 0; at < end || breaks === 0; breaks += 1) {
    const before = at;
    try {
      for await (const piece of opened.stream as AsyncIterable<Buffer>) {
        hash?.update(piece);
        at += piece.length;
        if (at > end) throw wrongBytes(name, 'more bytes came than it has');
        yield piece;
      }
      if (at === end) break;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (isWinterdockError(error) && error.code !== 'storage_unavailable') throw error;
      if (at === before && breaks >= BREAKS) throw asAway(error);
    } finally {
      opened.stream.destroy();
    }
    if (at === end) break;
    if (at > before) breaks = 0;
    else if (breaks >= BREAKS) throw storeAway('failing');
    await setTimeout(FIRST_PAUSE_MS * 2 ** breaks, undefined, signal ? { signal } : {});
    opened = await driver.open(name, { first: at, last: end - 1 }, signal).catch((error) => {
      const isShorter = isWinterdockError(error) && error.code === 'range_not_satisfiable';
      throw isShorter ? wrongBytes(name, 'it has fewer bytes than the store said', error) : error;
    });
    if (opened.stat.etag !== stat.etag) {
      opened.stream.destroy();
      throw wrongBytes(name, 'it became another one while it was read');
    }
  }
  if (hash !== null && hash.digest('hex') !== sha256) throw wrongBytes(name, 'its hash is another one');
}

function asAway(error: unknown): WinterdockError {
  return isWinterdockError(error) ? (error as WinterdockError) : storeAway('failing', error);
}
