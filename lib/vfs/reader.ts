/**
 * Entry point of a reader process: takes one job at a time from the server, opens the file, answers and closes the
 * file. Nothing is open between jobs, so filing never has to wait for it. Ends with the server.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createZstdDecompress } from 'node:zlib';
import { WorkerChannel } from '../base/channel.ts';
import { isMachineFailure, isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { hashFile } from '../base/hash-file.ts';
import { ENDED_WITH_SERVER, endHelper } from '../base/helper-end.ts';
import { becomeUser } from '../base/helper-user.ts';
import { leaveSignalsToServer } from '../base/process-signals.ts';
import { serializeError } from '../base/serialized-error.ts';
import { markFile, restKilledFile } from '../native/file/rest-file.ts';
import { answerRead, answerScoped } from './answer.ts';
import { copyComplete } from './complete-copy.ts';
import { copyVfs } from './copy.ts';
import {
  type FileCheck,
  type FromReader,
  GUEST_SQL,
  parseToReader,
  type ReaderJob,
  type ReaderJobResult,
} from './messages.ts';
import { identityAtRest, openAtRest, openBeside, type ReadScope } from './open.ts';
import { isOfDisk, translateSqliteError, unreadableBytes } from './sqlite-errors.ts';
import type { ReadAnswer, ReadRequest, ReadTarget } from './types.ts';

const HASH_CHUNK_BYTES = 1024 * 1024;

const server = process.ppid;
let watch: Worker | undefined;

const channel = new WorkerChannel((message) => void take(message), endHelper);
leaveSignalsToServer();
say({ ready: true });
flushCompileCache();

async function take(message: unknown): Promise<void> {
  const { id, job, user } = parseToReader(message);
  becomeUser(user);
  try {
    say({ id, answer: await run(job) });
  } catch (error) {
    say({ id, failure: serializeError(error, 'A reader failed unexpectedly.') });
  }
}

async function run(job: ReaderJob): Promise<ReaderJobResult> {
  if (job.kind === 'check') return job.packed ? checkPacked(job.path) : check(job.path);
  if (job.kind === 'hash') return { hashed: await hashOf(job.path) };
  if (job.kind === 'settle') {
    return { settled: true, identity: restKilledFile(job.path, job) };
  }
  if (job.kind === 'mark') return { settled: true, identity: markFile(job.path, job) };
  if (job.kind === 'whole') {
    await startWatch();
    return { whole: true, complaint: await copyComplete(job.from, job.path) };
  }
  if (job.kind === 'copy') {
    await startWatch();
    const { strict, sha256, durable, made } = job;
    return copyVfs(job.target, job.path, job.volumes, { strict, sha256, durable, made });
  }
  if (GUEST_SQL.has(job.request.op)) await startWatch();
  return read(job.target, job.request);
}

/** Answers one read from one snapshot: later commits of other processes are not seen. */
function read(target: ReadTarget, request: ReadRequest): ReadAnswer {
  const open = (scope: ReadScope) => {
    const vfs = target.mode === 'rest' ? openAtRest(target.path, { scope }) : openBeside(target.path, { scope });
    if (!vfs.db.isTransaction) vfs.db.exec('BEGIN');
    return vfs;
  };
  const scoped = answerScoped(open, request);
  if (scoped !== null) return scoped;
  const vfs = open(null);
  try {
    return answerRead(vfs, request);
  } finally {
    vfs.close();
  }
}

/**
 * The hash of the bytes, and `ok` or what SQLite and the schema check find wrong. A damaged file is an answer, not an
 * error.
 */
async function check(path: string): Promise<FileCheck> {
  return { sha256: await hashOf(path), ...structure(path) };
}

async function hashOf(path: string): Promise<string> {
  try {
    return (await hashFile(path)).sha256;
  } catch (error) {
    throw notRead(error);
  }
}

/**
 * Hashes the expanded content of a compressed file, and discards the content. The compression's checksum is verified on
 * the way. The SQLite structure is not checked: that would need a file.
 */
async function checkPacked(path: string): Promise<FileCheck> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path, { highWaterMark: HASH_CHUNK_BYTES }), createZstdDecompress(), hash);
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z(STD)?_/.test(String(error.code))) {
      return { sha256: '', quickCheck: 'it does not expand', identity: null };
    }
    throw notRead(error);
  }
  return { sha256: hash.digest('hex'), quickCheck: 'ok', identity: null };
}

/** Of what is not there, `missing_file`; any other error as it is: nothing is known of the file then. */
function notRead(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) return error;
  return new WinterdockError('missing_file', 'The file of the sandbox cannot be read where it should be.', {
    cause: error,
  });
}

function structure(path: string): Pick<FileCheck, 'quickCheck' | 'identity'> {
  try {
    const vfs = openAtRest(path);
    try {
      const rows = vfs.db.prepare('PRAGMA quick_check(20)').all();
      const says = rows.map((row) => String(row.quick_check)).join('\n');
      if (isOfDisk(says)) throw unreadableBytes();
      return { quickCheck: says, identity: identityAtRest(vfs) };
    } finally {
      vfs.close();
    }
  } catch (thrown) {
    const error = translateSqliteError(thrown);
    if (isMachineFailure(error) || (isWinterdockError(error) && error.code !== 'corrupt')) throw error;
    return { quickCheck: messageOf(thrown), identity: null };
  }
}

/**
 * SQL of guests or a copy can block this thread for any time, and then it would not notice the server's end. Where
 * nobody else ends this process then, a second thread does. It is started with the first such job only, because it
 * takes 10 MB.
 */
async function startWatch(): Promise<void> {
  if (watch || process.env[ENDED_WITH_SERVER] !== undefined) return;
  watch = new Worker(new URL('./reader-watch.ts', import.meta.url), {
    workerData: { server },
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  await new Promise((resolve, reject) => {
    watch?.once('online', resolve);
    watch?.once('error', reject);
  });
}

function say(message: FromReader): void {
  channel.send(message);
}
