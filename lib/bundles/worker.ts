/**
 * Entry of a bundle process: does the jobs that the server gives it, one after the other, on files in one folder. What is in bundles is hostile until
 * it was looked at, and large: it never reaches the server's memory. Ends when the server is gone.
 */

import { flushCompileCache } from 'node:module';
import { stdout } from 'node:process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeStream } from '../storage/effects.ts';
import { openAtRest } from '../vfs/open.ts';
import { inspectVfs } from './contents.ts';
import { gzipped } from './gzip.ts';
import { hashOf } from './hashing.ts';
import { type FromProcess, failureOf, type Job, type JobAnswer, parseJob } from './jobs.ts';
import { DISK, MANIFEST, type Member, PAGE } from './manifest.ts';
import { pageOf } from './page.ts';
import { treeOf } from './tree.ts';
import { unpack } from './unpack.ts';
import { writeZip } from './zip.ts';

process.on('message', (message) => void take(message));
// An exit waits for V8's threads and was seen to hang; nothing here has to be put away first.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
say({ ready: true });
flushCompileCache();

async function take(message: unknown): Promise<void> {
  try {
    say({ answer: await run(parseJob(message)) });
  } catch (error) {
    say(failureOf(error));
  }
}

async function run(job: Job): Promise<JobAnswer> {
  switch (job.kind) {
    case 'page':
      return page(job);
    case 'zip': {
      const { page, disk, manifest, target, createdSeconds } = job;
      const members: { name: Member; file: string }[] = [
        { name: MANIFEST, file: manifest },
        { name: PAGE, file: page },
        { name: DISK, file: disk },
      ];
      return { kind: 'zip', whole: await writeZip(target, members, createdSeconds), manifest: await hashOf(manifest) };
    }
    case 'unpack':
      return { kind: 'unpack', unpacked: await unpack(job.file, job.folder, job.target, job.limits) };
    case 'hash':
      return { kind: 'hash', hashed: await hashOf(job.file) };
    case 'tree':
      return tree(job);
  }
}

async function page({
  disk,
  hashed,
  page,
  manifest,
  maxFileBytes,
}: Extract<Job, { kind: 'page' }>): Promise<JobAnswer> {
  inspectVfs(disk, maxFileBytes);
  const vfs = openAtRest(disk);
  try {
    const pieces = Readable.from(pageOf(vfs.db, { manifest, disk: hashed }));
    await pipeline(pieces, writeStream(page, { flags: 'wx' }));
  } finally {
    vfs.close();
  }
  return { kind: 'page', page: await hashOf(page) };
}

async function tree({ disk, maxFileBytes }: Extract<Job, { kind: 'tree' }>): Promise<JobAnswer> {
  inspectVfs(disk, maxFileBytes);
  const vfs = openAtRest(disk);
  try {
    say({ begun: true });
    await pipeline(Readable.from(gzipped(Readable.from(treeOf(vfs.db)))), stdout);
  } finally {
    vfs.close();
  }
  return { kind: 'tree' };
}

function say(message: FromProcess): void {
  process.send?.(message);
}
