/** What the S3 server of the tests keeps: versions of objects, unfinished uploads, locks. Knows no HTTP. */
import { createHash, randomUUID } from 'node:crypto';

export interface Version {
  id: string;
  /** Null: a marker that the object is removed. */
  body: Buffer | null;
  etag: string;
  at: Date;
  metadata: Record<string, string>;
  lockedUntil: Date | null;
}

export interface Upload {
  key: string;
  metadata: Record<string, string>;
  parts: Map<number, { body: Buffer; etag: string }>;
}

/** A refusal by its code of S3. */
export class S3Refusal extends Error {
  readonly status: number;

  constructor(code: string, status: number) {
    super(code);
    this.status = status;
  }
}

export interface BucketOptions {
  versioning?: 'Enabled' | 'Suspended';
  /** Days that each new object cannot be removed. */
  lockDays?: number;
}

const md5 = (body: Buffer) => createHash('md5').update(body).digest('hex');
const DAY_MS = 86_400_000;

export class Bucket {
  /** The newest version first. */
  readonly #objects = new Map<string, Version[]>();
  readonly uploads = new Map<string, Upload>();
  readonly options: BucketOptions;

  constructor(options: BucketOptions) {
    this.options = options;
  }

  current(key: string): (Version & { body: Buffer }) | null {
    const version = this.#objects.get(key)?.[0];
    return version?.body ? (version as Version & { body: Buffer }) : null;
  }

  require(key: string): Version & { body: Buffer } {
    const version = this.current(key);
    if (version === null) throw new S3Refusal('NoSuchKey', 404);
    return version;
  }

  version(key: string, id: string): Version {
    const version = this.#objects.get(key)?.find((one) => one.id === id);
    if (version === undefined) throw new S3Refusal('NoSuchVersion', 404);
    return version;
  }

  /** Keys of current objects in order. */
  keys(prefix: string): string[] {
    return [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && this.current(key) !== null).toSorted();
  }

  versions(prefix: string): { key: string; version: Version; isLatest: boolean }[] {
    return [...this.#objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .toSorted()
      .flatMap((key) => (this.#objects.get(key) ?? []).map((version, at) => ({ key, version, isLatest: at === 0 })));
  }

  /** Throws `PreconditionFailed` unless the conditions hold now. */
  requireConditions(key: string, ifNoneMatch: string | undefined, ifMatch: string | undefined): void {
    const now = this.current(key);
    const isWrong =
      (ifNoneMatch === '*' && now !== null) || (ifMatch !== undefined && now?.etag !== ifMatch.replaceAll('"', ''));
    if (ifMatch !== undefined && now === null) throw new S3Refusal('NoSuchKey', 404);
    if (isWrong) throw new S3Refusal('PreconditionFailed', 412);
  }

  put(key: string, body: Buffer, metadata: Record<string, string>, etag = md5(body)): Version {
    const { lockDays } = this.options;
    const lockedUntil = lockDays === undefined ? null : new Date(Date.now() + lockDays * DAY_MS);
    return this.#add(key, { body, metadata, etag, lockedUntil });
  }

  #add(key: string, version: Omit<Version, 'id' | 'at'>): Version {
    const isKept = this.options.versioning === 'Enabled';
    const added: Version = { ...version, id: isKept ? randomUUID() : 'null', at: new Date() };
    const older = (this.#objects.get(key) ?? []).filter(({ id }) => id !== added.id);
    this.#objects.set(key, [added, ...older]);
    return added;
  }

  remove(key: string): void {
    if (this.options.versioning === undefined) this.#objects.delete(key);
    else this.#add(key, { body: null, metadata: {}, etag: '', lockedUntil: null });
  }

  removeVersion(key: string, id: string): void {
    const versions = this.#objects.get(key) ?? [];
    const lockedUntil = versions.find((one) => one.id === id)?.lockedUntil ?? null;
    if (lockedUntil !== null && lockedUntil.getTime() > Date.now()) throw new S3Refusal('AccessDenied', 403);
    const left = versions.filter((one) => one.id !== id);
    if (left.length > 0) this.#objects.set(key, left);
    else this.#objects.delete(key);
  }

  begin(key: string, metadata: Record<string, string>): string {
    const id = randomUUID();
    this.uploads.set(id, { key, metadata, parts: new Map() });
    return id;
  }

  upload(id: string, key: string): Upload {
    const upload = this.uploads.get(id);
    if (upload?.key !== key) throw new S3Refusal('NoSuchUpload', 404);
    return upload;
  }

  part(id: string, key: string, number: number, body: Buffer): string {
    const etag = md5(body);
    this.upload(id, key).parts.set(number, { body, etag });
    return etag;
  }

  /** `parts`: numbers and etags as they are listed by who completes it. */
  complete(id: string, key: string, parts: readonly (readonly [number, string])[]): Version {
    const upload = this.upload(id, key);
    const bodies = parts.map(([number, etag], at) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new S3Refusal('InvalidPart', 400);
      if (number !== at + 1) throw new S3Refusal('InvalidPartOrder', 400);
      if (at < parts.length - 1 && part.body.length < 5 * 1024 * 1024) throw new S3Refusal('EntityTooSmall', 400);
      return part;
    });
    this.uploads.delete(id);
    const etag = md5(Buffer.concat(bodies.map((one) => Buffer.from(one.etag, 'hex'))));
    return this.put(key, Buffer.concat(bodies.map(({ body }) => body)), upload.metadata, `${etag}-${bodies.length}`);
  }
}
