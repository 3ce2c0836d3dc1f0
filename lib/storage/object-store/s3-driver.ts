/**
 * The driver of `s3://`: anything that speaks S3. What is read carries the name and, where it was known when it was
 * written, the hash that it was stored with: another object's bytes are not taken for it.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { isWinterdockError } from '../../base/errors.ts';
import type { StoreAddress, StoreConnection } from '../../base/store-url.ts';
import { isObjectName } from './object-names.ts';
import type { ListedObject, ObjectRange, ObjectStat, PutOptions } from './object-store.ts';
import { asking, loadS3, type RequestOptions, type Sdk } from './s3-client.ts';
import { copyInParts } from './s3-copy.ts';
import { isUnknownToServer, s3Code, s3Status } from './s3-errors.ts';
import { copySource, hashIn, md5Of, objectMetadata, type S3Place } from './s3-place.ts';
import { purgeVersions } from './s3-purge.ts';
import { bucketRules } from './s3-rules.ts';
import { writeParts } from './s3-write.ts';
import type { OpenedObject, StoreDriver, WriteTask } from './store-driver.ts';
import { noSuchObject, objectTaken, objectTooLarge, storeAway, wrongBytes } from './store-errors.ts';

/** The most milliseconds of one try of a small request. */
const SMALL_MS = 20_000;
/** The most milliseconds for removing what a failed write may have left. */
const CLEAR_MS = 3000;
/** What one request may copy: 5 GiB by S3's own limit. */
const MOST_COPIED_BYTES = 5 * 1024 ** 3;
/** Wrong bytes twice are the object's and not the way's. */
const WRONG_TIMES = 2;
/** Conditions compare etags without their quotation marks, and so do we. */
const bare = (etag: string | undefined) => (etag ?? '').replaceAll('"', '');

export async function openS3Driver(
  { bucket, prefix }: Extract<StoreAddress, { driver: 's3' }>,
  connection: StoreConnection,
): Promise<StoreDriver> {
  const { encryption } = connection;
  return new S3Driver({
    ...(await loadS3(connection)),
    bucket,
    key: (name) => `${prefix}${name}`,
    encryption:
      encryption === null
        ? {}
        : { ServerSideEncryption: encryption.algorithm, ...(encryption.key && { SSEKMSKeyId: encryption.key }) },
  });
}

class S3Driver implements StoreDriver {
  readonly #place: S3Place;
  readonly #sdk: Sdk;
  readonly #client: S3Client;

  constructor(place: S3Place) {
    this.#place = place;
    this.#sdk = place.sdk;
    this.#client = place.client;
  }

  async put(name: string, bytes: Uint8Array, { ifAbsent = false, signal }: PutOptions): Promise<ObjectStat> {
    if (!ifAbsent) await this.#put(name, bytes, {}, { signal });
    else {
      // Some servers do not keep the condition; nothing else is known of them then than what is there now.
      if ((await this.head(name, signal)) !== null) throw objectTaken(name);
      const made = await this.putIfAbsent(name, bytes, signal);
      if (made === false) throw objectTaken(name);
      if (made === null) await this.#put(name, bytes, {}, { signal });
    }
    return this.#seen(name, bytes.length, signal);
  }

  async get(name: string, most: number, signal?: AbortSignal): Promise<Uint8Array> {
    for (let times = 1; ; times += 1) {
      try {
        return await asking(name, { signal, limitMs: SMALL_MS }, (options) => this.#getOnce(name, most, options));
      } catch (error) {
        if (times === WRONG_TIMES || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
      }
    }
  }

  async #getOnce(name: string, most: number, options: { abortSignal?: AbortSignal }): Promise<Uint8Array> {
    const { stream, stat, sha256 } = await this.#openOnce(name, undefined, options);
    try {
      if (stat.bytes > most) throw objectTooLarge(name, most);
      const pieces: Buffer[] = [];
      options.abortSignal?.addEventListener('abort', () => stream.destroy(options.abortSignal?.reason), { once: true });
      for await (const piece of stream) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      if (bytes.length !== stat.bytes) throw storeAway('failing');
      if (sha256 !== null && createHash('sha256').update(bytes).digest('hex') !== sha256) {
        throw wrongBytes(name, 'its hash is another one');
      }
      return bytes;
    } finally {
      stream.destroy();
    }
  }

  open(name: string, range: ObjectRange | undefined, signal?: AbortSignal): Promise<OpenedObject> {
    return asking(name, { signal }, (options) => this.#openOnce(name, range, options));
  }

  async #openOnce(
    name: string,
    range: ObjectRange | undefined,
    options: { abortSignal?: AbortSignal },
  ): Promise<OpenedObject> {
    const { bucket, key } = this.#place;
    const command = new this.#sdk.GetObjectCommand({
      ...{ Bucket: bucket, Key: key(name) },
      ...(range && { Range: `bytes=${range.first}-${range.last ?? ''}` }),
    });
    const answer = await this.#client.send(command, options);
    const stream = answer.Body as Readable | undefined;
    try {
      if (stream === undefined) throw storeAway('failing');
      const [, first, bytes = answer.ContentLength] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.ContentRange ?? '') ?? [];
      if (bytes === undefined || Number(first ?? 0) !== (range?.first ?? 0)) throw storeAway('failing');
      const stat = statOf(Number(bytes), answer);
      return { stream, stat, sha256: hashIn(name, answer.Metadata) };
    } catch (error) {
      stream?.destroy();
      throw error;
    }
  }

  async write(name: string, task: WriteTask): Promise<void> {
    let mayExist = false;
    const appears = () => {
      mayExist = true;
    };
    try {
      const sent = await writeParts(this.#place, name, task, {
        appears,
        single: (bytes, sha256) => this.#put(name, bytes, {}, { signal: task.signal, sha256, timeMs: task.timeMs }),
      });
      await this.#seen(name, sent, task.signal);
    } catch (error) {
      // It may have been stored although its answer was lost. Nobody else has this name; `purge` removes it too.
      if (mayExist) await this.remove(name, AbortSignal.timeout(CLEAR_MS)).catch(() => undefined);
      throw error;
    }
  }

  async head(name: string, signal?: AbortSignal): Promise<ObjectStat | null> {
    const { bucket, key } = this.#place;
    const command = new this.#sdk.HeadObjectCommand({ Bucket: bucket, Key: key(name) });
    const answer = await asking(name, { signal, limitMs: SMALL_MS }, async (options) => {
      try {
        return await this.#client.send(command, options);
      } catch (error) {
        if (s3Status(error) === 404) return null;
        throw error;
      }
    });
    if (answer === null) return this.#confirmedMissing(name, signal);
    if (answer.ContentLength === undefined) throw storeAway('failing');
    hashIn(name, answer.Metadata);
    return statOf(answer.ContentLength, answer);
  }

  /** A `HEAD` does not say whether the object or the bucket is missing; a `GET` does. */
  async #confirmedMissing(name: string, signal?: AbortSignal): Promise<ObjectStat | null> {
    try {
      const { stream, stat } = await this.open(name, undefined, signal);
      stream.destroy();
      return stat;
    } catch (error) {
      if (isWinterdockError(error) && error.code === 'missing_file') return null;
      throw error;
    }
  }

  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const { bucket, key } = this.#place;
    const from = key('').length;
    let token: string | undefined;
    const tokens = new Set<string>();
    do {
      const command = new this.#sdk.ListObjectsV2Command({
        ...{ Bucket: bucket, Prefix: key(prefix) },
        ...(token !== undefined && { ContinuationToken: token }),
      });
      const page = await asking(prefix, { signal, limitMs: SMALL_MS }, (options) =>
        this.#client.send(command, options),
      );
      const found = (page.Contents ?? []).flatMap(({ Key = '', Size = 0, ETag, LastModified }) => {
        const name = Key.slice(from);
        const isOurs = Key.startsWith(key(prefix)) && isObjectName(name);
        return isOurs ? [{ name, ...statOf(Size, { ETag, LastModified }) }] : [];
      });
      if (found.length > 0) yield found;
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
      // A server that gives the same page again would never come to an end.
      if (token !== undefined && tokens.has(token)) throw storeAway('failing');
      if (token !== undefined) tokens.add(token);
    } while (token !== undefined);
  }

  async remove(name: string, signal?: AbortSignal): Promise<void> {
    const { bucket, key } = this.#place;
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: bucket, Key: key(name) });
    await asking(name, { signal, limitMs: SMALL_MS }, async (options) => {
      try {
        await this.#client.send(command, options);
      } catch (error) {
        if (s3Code(error) !== 'NoSuchKey') throw error;
      }
    });
  }

  async purge(name: string, signal?: AbortSignal): Promise<{ remainsUntil: number | null }> {
    await this.remove(name, signal);
    return purgeVersions(this.#place, name, { signal, limitMs: SMALL_MS });
  }

  async copy(from: string, to: string, signal?: AbortSignal): Promise<ObjectStat> {
    const { bucket, key, encryption } = this.#place;
    const { stream, stat, sha256 } = await this.open(from, undefined, signal);
    stream.destroy();
    const metadata = objectMetadata(to, sha256);
    if (stat.bytes > MOST_COPIED_BYTES) {
      await copyInParts(this.#place, { from, to, bytes: stat.bytes, metadata }, { signal });
      return this.#seen(to, stat.bytes, signal);
    }
    const command = new this.#sdk.CopyObjectCommand({
      ...{ Bucket: bucket, Key: key(to), CopySource: copySource(this.#place, from) },
      ...{ MetadataDirective: 'REPLACE', Metadata: metadata, ...encryption },
    });
    await asking(from, { signal }, (options) => this.#client.send(command, options));
    return this.#seen(to, stat.bytes, signal);
  }

  rules(signal?: AbortSignal) {
    return bucketRules(this.#place, { signal, limitMs: SMALL_MS });
  }

  async putIfMatch(name: string, bytes: Uint8Array, etag: string, signal?: AbortSignal): Promise<boolean | null> {
    // Amazon's own takes both forms, others one of them.
    for (const form of [`"${etag}"`, etag]) {
      const made = await this.#conditional(name, bytes, { IfMatch: form }, signal);
      if (made !== false) return made;
    }
    return false;
  }

  putIfAbsent(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean | null> {
    return this.#conditional(name, bytes, { IfNoneMatch: '*' }, signal);
  }

  close(): void {
    this.#client.destroy();
  }

  async #conditional(
    name: string,
    bytes: Uint8Array,
    condition: Partial<PutObjectCommandInput>,
    signal?: AbortSignal,
  ): Promise<boolean | null> {
    let isRepeated = false;
    const repeated = () => {
      isRepeated = true;
    };
    try {
      await this.#put(name, bytes, condition, { signal, repeated });
      return true;
    } catch (error) {
      if (isUnknownToServer(error)) return null;
      if (!isWinterdockError(error) || error.code !== 'conflict') throw error;
    }
    // The answer of an earlier try was lost: what is there may be its.
    return isRepeated && Buffer.from(bytes).equals(await this.get(name, bytes.length, signal).catch(() => Buffer.of()));
  }

  async #put(
    name: string,
    bytes: Uint8Array,
    condition: Partial<PutObjectCommandInput>,
    { sha256, timeMs, ...request }: RequestOptions & Pick<WriteTask, 'sha256' | 'timeMs'>,
  ): Promise<void> {
    const { bucket, key, encryption } = this.#place;
    const hash = sha256 ?? createHash('sha256').update(bytes).digest('hex');
    const input: PutObjectCommandInput = {
      ...{ Bucket: bucket, Key: key(name), Body: bytes, ContentLength: bytes.length, ContentMD5: md5Of(bytes) },
      ...{ Metadata: objectMetadata(name, hash, timeMs), ...encryption, ...condition },
    };
    await asking(name, request, (options) => this.#client.send(new this.#sdk.PutObjectCommand(input), options));
  }

  /** What was acknowledged is looked at before anybody is told. */
  async #seen(name: string, bytes: number, signal?: AbortSignal): Promise<ObjectStat> {
    const stat = await this.head(name, signal);
    if (stat === null) throw storeAway('failing', noSuchObject(name));
    if (stat.bytes !== bytes) throw wrongBytes(name, `it has ${stat.bytes} bytes and not ${bytes}`);
    return stat;
  }
}

function statOf(bytes: number, { ETag, LastModified }: { ETag?: string | undefined; LastModified?: Date | undefined }) {
  return { bytes, etag: bare(ETag), at: LastModified?.getTime() ?? 0 };
}
