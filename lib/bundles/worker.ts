/**
 * Entry point of a bundle process: runs the server's tasks one after the other, on files in one folder. Bundles are
 * large, and hostile until they are inspected: their bytes never reach the server's memory. Ends with the server.
 */
import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { stdout } from 'node:process';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { WorkerChannel } from '../base/channel.ts';
import { writeStream } from '../base/effects.ts';
import { hashFile } from '../base/hash-file.ts';
import { endHelper } from '../base/helper-end.ts';
import { becomeUser } from '../base/helper-user.ts';
import { leaveSignalsToServer } from '../base/process-signals.ts';
import { serializeError } from '../base/serialized-error.ts';
import { openAtRest } from '../vfs/open.ts';
import { salvageVfs } from '../vfs/salvage.ts';
import { surveyWorkspace } from './checkout-survey.ts';
import { checkoutTar } from './checkout-tar.ts';
import { gzipped } from './gzip.ts';
import { summaryOf } from './left-out.ts';
import { DISK, MANIFEST, type Member, PAGE, SOURCE } from './manifest.ts';
import { type BundleMessage, type BundleTask, type BundleTaskAnswer, parseToBundleProcess } from './messages.ts';
import { bundlePage } from './page.ts';
import { unpack } from './unpack.ts';
import { inspectVfs } from './vfs-inspection.ts';
import { writeZip } from './zip-writer.ts';

/** The checksum at the end of a zstd frame. */
const CHECKSUM_BYTES = 4;
/** Chunk size of expanding: up to this much is lost where a damaged file breaks off. */
const EXPANDED_BYTES = 4096;

const channel = new WorkerChannel((message) => void handle(message), endHelper);
leaveSignalsToServer();
send({ ready: true });
flushCompileCache();

async function handle(message: unknown): Promise<void> {
  try {
    const { task, user } = parseToBundleProcess(message);
    becomeUser(user);
    send({ answer: await run(task) });
  } catch (error) {
    send({ failure: serializeError(error, 'A bundle process failed unexpectedly.') });
  }
}

async function run(task: BundleTask): Promise<BundleTaskAnswer> {
  switch (task.kind) {
    case 'page':
      return page(task);
    case 'zip': {
      const { page, disk, manifest, source, target, createdSeconds } = task;
      const members: { name: Member; file: string }[] = [
        { name: MANIFEST, file: manifest },
        { name: PAGE, file: page },
        ...(source === null ? [] : [{ name: SOURCE, file: source } as const]),
        { name: DISK, file: disk },
      ];
      return {
        kind: 'zip',
        whole: await writeZip(target, members, createdSeconds),
        manifest: await hashFile(manifest),
      };
    }
    case 'unpack':
      return { kind: 'unpack', unpacked: await unpack(task.file, task.folder, task.target, task.limits) };
    case 'salvage':
      return salvage(task);
    case 'hash':
      return { kind: 'hash', hashed: await hashFile(task.file) };
    case 'checkout':
      return checkout(task);
  }
}

async function page({
  disk,
  hashed,
  page,
  source,
  manifest,
  maxFileBytes,
}: Extract<BundleTask, { kind: 'page' }>): Promise<BundleTaskAnswer> {
  inspectVfs(disk, maxFileBytes);
  const vfs = openAtRest(disk, { mapped: true });
  try {
    const pieces = Readable.from(bundlePage(vfs.db, { manifest, disk: hashed, ...(await shownSource(source)) }));
    await pipeline(pieces, writeStream(page, { flags: 'wx' }));
  } finally {
    vfs.close();
  }
  return { kind: 'page', page: await hashFile(page) };
}

/** The org parser is loaded for those that have a workbook only. */
async function shownSource(source: string | null): Promise<{ workbook?: Iterable<string> }> {
  if (source === null) return {};
  const { orgHtml } = await import('./org-html.ts');
  return { workbook: orgHtml(await readFile(source, 'utf8')) };
}

async function salvage({
  file,
  packed,
  folder,
  target,
  withLog,
  identity,
  limits,
}: Extract<BundleTask, { kind: 'salvage' }>): Promise<BundleTaskAnswer> {
  const source = packed ? join(folder, 'expanded.sqlite') : file;
  const cutOff = packed && !(await expandUndamagedPart(file, source));
  const salvaged = await salvageVfs(source, target, { ...limits, identity, withLog });
  if (!cutOff) return { kind: 'salvage', salvaged };
  const lost = {
    volume: null,
    path: null,
    why: 'the archived file does not expand to its end, or not to what was packed',
  };
  return {
    kind: 'salvage',
    salvaged: { ...salvaged, lost: [...salvaged.lost, lost], lostCount: salvaged.lostCount + 1 },
  };
}

/** Expands a compressed file. False when it is damaged: the bytes before the damage are written. */
async function expandUndamagedPart(file: string, target: string): Promise<boolean> {
  if (await expand(file, target)) return true;
  // zstd withholds the last bytes when the checksum at the end is wrong, so expand again without it.
  await expand(file, target, Math.max(0, statSync(file).size - CHECKSUM_BYTES - 1));
  return false;
}

/** Expands a file up to its byte `end`. False when it is damaged or cut off. */
async function expand(file: string, target: string, end?: number): Promise<boolean> {
  const source = createReadStream(file, end === undefined ? {} : { end });
  const expanding = source.pipe(createZstdDecompress({ chunkSize: EXPANDED_BYTES }));
  const sink = writeStream(target);
  let whole = true;
  try {
    for await (const piece of expanding) {
      if (!sink.write(piece)) await once(sink, 'drain');
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && /^Z(STD)?_/.test(String(error.code)))) throw error;
    whole = false;
  } finally {
    source.destroy();
    sink.end();
    await finished(sink);
  }
  return whole;
}

async function checkout({
  disk,
  maxFileBytes,
  plain,
}: Extract<BundleTask, { kind: 'checkout' }>): Promise<BundleTaskAnswer> {
  inspectVfs(disk, maxFileBytes);
  const vfs = openAtRest(disk, { mapped: true });
  try {
    const survey = surveyWorkspace(vfs.db);
    send({ begun: { leftOut: summaryOf(survey.leftOut) } });
    await pipeline(Readable.from(gzipped(checkoutTar(vfs.db, { survey, plain }))), stdout);
  } finally {
    vfs.close();
  }
  return { kind: 'checkout' };
}

function send(message: BundleMessage): void {
  channel.send(message);
}
