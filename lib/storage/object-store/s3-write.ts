/**
 * Writes one object in parts: a few of them are under way at the same time, and no more are in memory. What fits into
 * one part goes in one request. The object appears by the last request, after everything was accepted.
 */
import { createHash } from 'node:crypto';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { asking, type RequestOptions } from './s3-client.ts';
import { s3Code } from './s3-errors.ts';
import { md5Of, objectMetadata, type S3Place } from './s3-place.ts';
import { PieceSource, type WriteTask } from './store-driver.ts';

const MIB = 1024 * 1024;
/** The least that S3 takes; it takes 10 000 parts at most. */
const PART_BYTES = 5 * MIB;
const MOST_PARTS = 9_000;
/** Bytes of all parts that are in memory: being filled, or under way. */
const MEMORY_BYTES = 15 * MIB;
/** The most milliseconds of one try of a part: 5 MiB at 12 KiB/s. */
const PART_MS = 420_000;
const SMALL_MS = 20_000;

/** Bytes of a part of an object of this size. */
function partBytesFor(bytes: number): number {
  return Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS / MIB) * MIB);
}

/**
 * Writes the pieces. `single` stores an object of one part; `appears` is called before the request by which the object
 * appears. Returns the bytes. Throws the reason of the task's signal,
 * and what reading the pieces or accepting them throws.
 */
export async function writeParts(
  place: S3Place,
  name: string,
  { pieces, accept, bytes, sha256, timeMs, signal }: WriteTask,
  { appears, single }: { appears: () => void; single: (bytes: Buffer, sha256: string) => Promise<void> },
): Promise<number> {
  const memory = new PartMemory(partBytesFor(bytes));
  const source = new PieceSource(pieces);
  let upload: MultipartUpload | null = null;
  let sent = 0;
  try {
    for await (const { part, whole, isLast } of inParts(source.pieces(), memory)) {
      signal?.throwIfAborted();
      sent += part.length;
      if (isLast && upload === null) {
        accept();
        appears();
        await single(part, createHash('sha256').update(part).digest('hex'));
        return sent;
      }
      upload ??= await MultipartUpload.begin(place, name, { signal, sha256: sha256 ?? null, timeMs });
      upload.add(part, () => memory.give(whole));
    }
    accept();
    appears();
    await upload?.complete();
    return sent;
  } catch (error) {
    await upload?.abort();
    throw signal?.aborted ? signal.reason : (source.failure ?? error);
  }
}

/** The memory of the parts: each is used again once its part was sent. */
class PartMemory {
  readonly #partBytes: number;
  readonly #free: Buffer[] = [];
  #left: number;
  #wanted = Promise.withResolvers<void>();

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
    this.#left = Math.max(2, Math.floor(MEMORY_BYTES / partBytes));
  }

  /** Waits until a part was sent where all of it is in use. */
  async take(): Promise<Buffer> {
    for (;;) {
      const free = this.#free.pop();
      if (free !== undefined) return free;
      if (this.#left > 0) {
        this.#left -= 1;
        return Buffer.allocUnsafeSlow(this.#partBytes);
      }
      await this.#wanted.promise;
    }
  }

  give(part: Buffer): void {
    this.#free.push(part);
    this.#wanted.resolve();
    this.#wanted = Promise.withResolvers();
  }
}

/**
 * Cuts pieces into parts; the last one may be shorter, and of nothing there is one empty part. Whoever takes a part
 * gives its `memory` back.
 */
async function* inParts(
  pieces: AsyncIterable<Buffer>,
  memory: PartMemory,
): AsyncGenerator<{ part: Buffer; whole: Buffer; isLast: boolean }> {
  let whole = await memory.take();
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      // Only with another byte is a full part known not to be the last one.
      if (filled === whole.length) {
        yield { part: whole, whole, isLast: false };
        whole = await memory.take();
        filled = 0;
      }
      const copied = piece.copy(whole, filled, at);
      at += copied;
      filled += copied;
    }
  }
  yield { part: whole.subarray(0, filled), whole, isLast: true };
}

class MultipartUpload {
  readonly #place: S3Place;
  readonly #name: string;
  readonly #id: string;
  readonly #request: RequestOptions;
  readonly #parts: CompletedPart[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #failure: unknown;

  private constructor(place: S3Place, name: string, id: string, request: RequestOptions) {
    this.#place = place;
    this.#name = name;
    this.#id = id;
    this.#request = request;
  }

  static async begin(
    place: S3Place,
    name: string,
    { signal, sha256, timeMs }: Pick<WriteTask, 'timeMs'> & { signal: AbortSignal | undefined; sha256: string | null },
  ): Promise<MultipartUpload> {
    const { sdk, client, bucket, key, encryption } = place;
    const Metadata = objectMetadata(name, sha256, timeMs);
    const command = new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: key(name), Metadata, ...encryption });
    const begun = await asking(name, { signal, limitMs: SMALL_MS }, async (options) => {
      const { UploadId } = await client.send(command, options);
      if (UploadId === undefined) throw new Error('The answer has no id of an upload.');
      return UploadId;
    });
    return new MultipartUpload(place, name, begun, { signal });
  }

  /** Sends a part beside others, and calls `sent` when it is not needed any more. Throws what an earlier one threw. */
  add(part: Buffer, sent: () => void): void {
    if (this.#failure !== undefined) throw this.#failure;
    const number = this.#parts.push({ PartNumber: this.#parts.length + 1 });
    const sending: Promise<void> = this.#send(part, number)
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#underWay.delete(sending);
        sent();
      });
    this.#underWay.add(sending);
  }

  async #send(part: Buffer, number: number): Promise<void> {
    const { sdk, client, bucket, key } = this.#place;
    const input = {
      ...{ Bucket: bucket, Key: key(this.#name), UploadId: this.#id, PartNumber: number },
      ...{ Body: part, ContentLength: part.length, ContentMD5: md5Of(part) },
    };
    const request = { ...this.#request, limitMs: PART_MS };
    const { ETag } = await asking(this.#name, request, (options) =>
      client.send(new sdk.UploadPartCommand(input), options),
    );
    this.#parts[number - 1] = { PartNumber: number, ...(ETag !== undefined && { ETag }) };
  }

  async complete(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure;
    const { sdk, client, bucket, key } = this.#place;
    const MultipartUpload = { Parts: this.#parts };
    const input = { Bucket: bucket, Key: key(this.#name), UploadId: this.#id, MultipartUpload };
    let isRepeated = false;
    const repeated = () => {
      isRepeated = true;
    };
    await asking(this.#name, { ...this.#request, limitMs: PART_MS, repeated }, async (options) => {
      try {
        await client.send(new sdk.CompleteMultipartUploadCommand(input), options);
      } catch (error) {
        // An earlier try had completed it: whoever looks at the object next finds it, or does not.
        if (!(isRepeated && s3Code(error) === 'NoSuchUpload')) throw error;
      }
    });
  }

  /** Leaves no part behind, as far as the store answers; else `purge` does. */
  async abort(): Promise<void> {
    await Promise.all(this.#underWay);
    const { sdk, client, bucket, key } = this.#place;
    const input = { Bucket: bucket, Key: key(this.#name), UploadId: this.#id };
    const request = { signal: AbortSignal.timeout(SMALL_MS), limitMs: SMALL_MS };
    await asking(this.#name, request, (options) =>
      client.send(new sdk.AbortMultipartUploadCommand(input), options),
    ).catch(() => undefined);
  }
}
