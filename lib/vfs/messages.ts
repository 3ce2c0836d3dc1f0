/**
 * Messages between the server and a reader process, validated at both ends. Uses no schema library, which would take
 * 9 MB in every reader process.
 */
import { WinterdockError } from '../base/errors.ts';
import { isSerializedError, type SerializedError } from '../base/serialized-error.ts';
import type { FileUser } from '../base/walls.ts';
import { parseVfsPath } from './paths.ts';
import type { MarkLimits, ReadAnswer, ReadRequest, ReadTarget, VfsCopy } from './types.ts';
import { parseVolume, type Volume } from './volumes.ts';

export type ReaderJob =
  | { kind: 'read'; target: ReadTarget; request: ReadRequest }
  | { kind: 'check'; path: string; packed: boolean }
  | { kind: 'hash'; path: string }
  | { kind: 'settle'; path: string; keepsFrames: boolean }
  | { kind: 'whole'; from: string | null; path: string }
  | ({ kind: 'mark'; path: string } & MarkLimits)
  | {
      kind: 'copy';
      target: ReadTarget;
      path: string;
      volumes: Volume[];
      strict: boolean;
      durable: boolean;
      sha256: string | null;
      /** The new file is there already, empty. */
      made?: boolean;
    };

export interface FileCheck {
  sha256: string;
  quickCheck: string;
  /** The identity in the file. Null for a compressed file, and when there is none or it cannot be read. */
  identity: string | null;
}

interface Settled {
  settled: true;
  identity: string | null;
}

/** What SQLite says of a copy; null: nothing. */
interface WholeCopy {
  whole: true;
  complaint: string | null;
}

interface FileHash {
  hashed: string;
}

export type ReaderJobResult = ReadAnswer | FileHash | FileCheck | Settled | WholeCopy | VfsCopy;

/** Reads that run SQL of guests, which may take any time and memory. */
export const GUEST_SQL: ReadonlySet<ReadRequest['op']> = new Set(['query', 'tables', 'rows']);

/** `user`: whom it becomes before it opens anything; null: nobody else. */
type ToReader = { id: number; job: ReaderJob; user: FileUser | null };

export type FromReader =
  | { ready: true }
  | { id: number; answer: ReaderJobResult }
  | { id: number; failure: SerializedError };

type Fields = Record<string, unknown>;

/** Parses a message of the server, including its volumes and paths. Throws `validation` when it is invalid. */
export function parseToReader(message: unknown): ToReader {
  const { id, job, user } = fields(message, 'message');
  return { id: whole(id, 'id'), job: parseJob(job), user: user === null ? null : parseUser(user) };
}

function parseUser(value: unknown): FileUser {
  const { uid, gid } = fields(value, 'user');
  return { uid: whole(uid, 'uid'), gid: whole(gid, 'gid') };
}

function parseJob(job: unknown): ReaderJob {
  const { kind, target, request, path, packed, volumes, strict, durable, sha256, made, from, ...rest } = fields(
    job,
    'job',
  );
  if (kind === 'check') return { kind, path: text(path, 'path'), packed: packed === true };
  if (kind === 'hash') return { kind, path: text(path, 'path') };
  if (kind === 'settle') return { kind, path: text(path, 'path'), keepsFrames: rest.keepsFrames === true };
  if (kind === 'whole') return { kind, from: from === null ? null : text(from, 'from'), path: text(path, 'path') };
  if (kind === 'mark') {
    const { maxBytes, maxFileBytes, mustExist } = rest;
    const limits = { maxBytes: whole(maxBytes, 'maxBytes'), maxFileBytes: whole(maxFileBytes, 'maxFileBytes') };
    return { kind, path: text(path, 'path'), ...limits, mustExist: mustExist === true };
  }
  if (kind === 'copy') {
    if (!Array.isArray(volumes) || typeof strict !== 'boolean' || typeof durable !== 'boolean' || !orNull(sha256))
      throw unfit('job', 'must say what to copy');
    const copied = volumes.map((volume) => parseVolume(text(volume, 'volume')));
    return {
      kind,
      target: parseTarget(target),
      path: text(path, 'path'),
      volumes: copied,
      strict,
      durable,
      sha256: sha256 as string | null,
      made: made === true,
    };
  }
  if (kind !== 'read') throw unfit('job', 'must be a read, a check, a hash, a copy, or to settle or mark a file');
  return { kind, target: parseTarget(target), request: parseRequest(request) };
}

/** Parses a message of a reader process, as far as the server relies on it. Throws `validation` when it is invalid. */
export function parseFromReader(message: unknown): FromReader {
  const { ready, id, answer, failure } = fields(message, 'reply');
  if (ready === true) return { ready };
  if (failure === undefined) return { id: whole(id, 'id'), answer: parseAnswer(fields(answer, 'answer')) };
  if (!isSerializedError(failure)) throw unfit('failure', 'must be an error');
  return { id: whole(id, 'id'), failure };
}

function parseTarget(value: unknown): ReadTarget {
  const { path, mode } = fields(value, 'target');
  if (mode !== 'rest' && mode !== 'live') throw unfit('mode', 'must be rest or live');
  return { path: text(path, 'path'), mode };
}

/** A read request, parsed. Throws `validation`, `unknown_volume`. */
function parseRequest(value: unknown): ReadRequest {
  const request = requireRequest(value);
  const { volume, path } = request;
  return {
    ...request,
    ...(typeof volume === 'string' && { volume: parseVolume(volume) }),
    ...(typeof path === 'string' && { path: parseVfsPath(path) }),
  } as ReadRequest;
}

/**
 * Checks the form of a read request. Also used before sending: a reader that receives a malformed one ends. Throws
 * `validation`.
 */
export function requireRequest(value: unknown): Fields {
  const request = fields(value, 'request');
  const { op } = request;
  const sound =
    op === 'volumes' ||
    (op === 'list' &&
      all(request, 'string', 'volume') &&
      all(request, 'number', 'limit') &&
      maybe(request, 'string', 'prefix', 'after')) ||
    (op === 'digests' &&
      all(request, 'string', 'volume') &&
      all(request, 'number', 'limit', 'bytes') &&
      maybe(request, 'string', 'after')) ||
    (op === 'folder' &&
      all(request, 'string', 'volume', 'path') &&
      all(request, 'number', 'limit') &&
      maybe(request, 'string', 'after')) ||
    (op === 'directories' &&
      all(request, 'string', 'volume') &&
      all(request, 'number', 'limit') &&
      maybe(request, 'string', 'after')) ||
    (op === 'stat' && all(request, 'string', 'volume', 'path')) ||
    (op === 'pieces' && all(request, 'string', 'volume', 'path') && all(request, 'number', 'bytes')) ||
    (op === 'get' && all(request, 'string', 'volume', 'path') && soundRange(request.range)) ||
    (op === 'tables' &&
      all(request, 'string', 'volume', 'path') &&
      all(request, 'number', 'limit') &&
      maybe(request, 'string', 'after')) ||
    (op === 'rows' &&
      all(request, 'string', 'volume', 'path', 'table') &&
      all(request, 'number', 'limit') &&
      maybe(request, 'string', 'after')) ||
    (op === 'search' &&
      (request.in === 'name' || request.in === 'content') &&
      all(request, 'string', 'text') &&
      all(request, 'number', 'limit') &&
      maybe(request, 'string', 'volume')) ||
    (op === 'query' && all(request, 'string', 'sql') && soundParams(request.params));
  if (!sound) throw unfit('request', 'is none that a reader knows');
  return request;
}

function parseAnswer(answer: Fields): ReaderJobResult {
  const sound =
    (answer.op === 'volumes' && Array.isArray(answer.volumes)) ||
    (answer.op === 'list' && Array.isArray(answer.files)) ||
    (answer.op === 'digests' && Array.isArray(answer.files)) ||
    (answer.op === 'folder' && Array.isArray(answer.items)) ||
    (answer.op === 'directories' && Array.isArray(answer.paths)) ||
    (answer.op === 'stat' && typeof answer.stat === 'object') ||
    (answer.op === 'get' && (answer.content === null || answer.content instanceof Uint8Array)) ||
    (answer.op === 'pieces' &&
      (answer.pieces === null || Array.isArray(answer.pieces)) &&
      (answer.content === null || answer.content instanceof Uint8Array)) ||
    (answer.op === 'tables' && typeof answer.tables === 'object') ||
    (answer.op === 'rows' && typeof answer.rows === 'object') ||
    (answer.op === 'search' && Array.isArray(answer.hits)) ||
    (answer.op === 'query' && Array.isArray(answer.rows) && Array.isArray(answer.columns)) ||
    /^[0-9a-f]{64}$/.test(String(answer.hashed)) ||
    (answer.settled === true && orNull(answer.identity)) ||
    (answer.whole === true && orNull(answer.complaint)) ||
    (all(answer, 'string', 'sha256') && all(answer, 'number', 'bytes') && Array.isArray(answer.volumes)) ||
    (all(answer, 'string', 'sha256', 'quickCheck') && orNull(answer.identity));
  if (!sound) throw unfit('answer', 'is none that a reader gives');
  return answer as unknown as ReaderJobResult;
}

function soundRange(range: unknown): boolean {
  if (range === undefined) return true;
  const { start, end } = fields(range, 'range');
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && Number(start) >= 0 && Number(end) >= Number(start);
}

function soundParams(params: unknown): boolean {
  if (params === undefined) return true;
  return Object.values(fields(params, 'params')).every(
    (value) => value === null || typeof value === 'string' || typeof value === 'number',
  );
}

function all(record: Fields, type: 'string' | 'number', ...names: string[]): boolean {
  return names.every((name) => typeof record[name] === type);
}

function orNull(text: unknown): boolean {
  return text === null || typeof text === 'string';
}

function maybe(record: Fields, type: 'string' | 'number', ...names: string[]): boolean {
  return names.every((name) => record[name] === undefined || typeof record[name] === type);
}

function fields(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null) throw unfit(name, 'must be an object');
  return value as Fields;
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw unfit(name, 'must be text');
  return value;
}

function whole(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value)) throw unfit(name, 'must be a whole number');
  return Number(value);
}

function unfit(name: string, why: string): WinterdockError {
  return new WinterdockError('validation', `In a message between the server and a reader, ${name} ${why}.`, {
    extra: { errors: [{ path: name, message: why }] },
  });
}
