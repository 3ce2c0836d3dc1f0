import {
  appendFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeEffects } from '../base/effects.ts';
import { type InstanceId, instanceIdOfFile } from '../base/ids.ts';
import { LogFiles } from './log-files.ts';
import { encodedLine, type LogLine, seqOfLine } from './log-line.ts';
import { readLogs } from './log-reading.ts';

const KIB = 1024;
const one = instanceIdOfFile('one');
let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'winterdock-logs-'));
  folder = join(base, 'logs');
});
afterEach(() => {
  observeEffects(null);
  rmSync(base, { recursive: true, force: true });
});

const filesOf = (bytesPerSandbox = 64 * KIB, bytesTotal = 1024 * KIB) =>
  new LogFiles(folder, { bytesPerSandbox, bytesTotal }, seqOfLine);
const lineOf = (seq: number, text: string, instance: InstanceId = one): LogLine => ({
  instance,
  seq,
  timeMs: seq,
  source: 'exec',
  stream: 'stdout',
  level: 'info',
  text,
  requestId: null,
});
const append = (files: LogFiles, seq: number, text = `line ${seq}`, id = one) =>
  files.append(id, Buffer.from(encodedLine(lineOf(seq, text, id))), seq, seq);
const textsOf = async (files: LogFiles, ids = [one]) =>
  (await readLogs(files, ids, { limit: 10_000 })).lines.map(({ text }) => text).reverse();
const partsIn = () => readdirSync(folder).sort();
const newest = () => join(folder, partsIn().at(-1) ?? '');
const bytesIn = () => partsIn().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

test('the oldest lines go when a log is full, and those that stay are whole', async () => {
  const files = filesOf();
  for (let seq = 1; seq <= 600; seq += 1) await append(files, seq, `${seq} ${'x'.repeat(400)}`);
  expect(bytesIn()).toBeLessThanOrEqual(64 * KIB);
  expect(bytesIn()).toBeGreaterThan(40 * KIB);
  const numbers = (await textsOf(files)).map((text) => Number(text.split(' ')[0]));
  expect(numbers.at(-1)).toBe(600);
  expect(numbers).toEqual(numbers.map((_, at) => 600 - numbers.length + 1 + at));
});

test('all logs together have a bound, and what was written longest ago goes first', async () => {
  const files = filesOf(64 * KIB, 256 * KIB);
  const ids = Array.from({ length: 20 }, (_, n) => instanceIdOfFile(`sb-${n}`));
  for (const [n, id] of ids.entries())
    for (let at = 0; at < 40; at += 1) await append(files, n * 100 + at + 1, 'y'.repeat(800), id);
  expect(bytesIn()).toBeLessThanOrEqual(256 * KIB);
  expect(files.ids).not.toContain(ids[0]);
  expect(files.ids).toContain(ids.at(-1));
  const known = files.ids.flatMap((id) => files.partsOf(id).map(({ name }) => name));
  expect(known.sort()).toEqual(partsIn());
});

test('a restart finds its logs and the highest number, and the oldest still go', async () => {
  const files = filesOf();
  for (let seq = 1; seq <= 100; seq += 1) await append(files, seq, 'z'.repeat(400));
  writeFileSync(join(folder, 'notes.txt'), 'not of a log');
  mkdirSync(join(folder, 'two.5.log'));
  const again = filesOf();
  expect(await again.find()).toBe(100);
  expect(again.ids).toEqual([one]);
  expect(await textsOf(again)).toHaveLength((await textsOf(files)).length);
  for (let seq = 101; seq <= 300; seq += 1) await append(again, seq, 'z'.repeat(400));
  expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('not of a log');
  rmSync(join(folder, 'two.5.log'), { recursive: true });
  rmSync(join(folder, 'notes.txt'));
  expect(bytesIn()).toBeLessThanOrEqual(64 * KIB);
});

test('a half written line is left out, and the next one begins on a line of its own', async () => {
  const files = filesOf();
  await append(files, 1);
  const whole = readFileSync(newest());
  for (let cut = 1; cut < whole.length; cut += 1) {
    writeFileSync(newest(), whole.subarray(0, cut));
    const again = filesOf();
    await again.find();
    await append(again, 5);
    expect(await textsOf(again)).toEqual(cut === whole.length - 1 ? ['line 1', 'line 5'] : ['line 5']);
  }
});

test('a file that is cut or removed under the server is gone on with, and nothing waits or breaks', async () => {
  const files = filesOf();
  await append(files, 1);
  await append(files, 2);
  truncateSync(newest(), 10);
  await append(files, 3);
  expect(await textsOf(files)).toEqual(['line 3']);
  rmSync(newest());
  expect(await textsOf(files)).toEqual([]);
  await append(files, 4);
  expect(await textsOf(files)).toEqual(['line 4']);
  rmSync(folder, { recursive: true });
  await append(files, 5);
  expect(await textsOf(files)).toEqual(['line 5']);
});

test('what somebody puts in the place of a file is neither followed nor written', async () => {
  const target = join(base, 'target');
  writeFileSync(target, 'theirs');
  const files = filesOf();
  await append(files, 1);
  rmSync(newest());
  symlinkSync(target, join(folder, 'one.1.log'));
  await append(files, 2);
  expect(readFileSync(target, 'utf8')).toBe('theirs');
  expect(await textsOf(files)).toEqual(['line 2']);
  rmSync(join(folder, 'one.2.log'));
  linkSync(target, join(folder, 'one.2.log'));
  await append(files, 3);
  expect(readFileSync(target, 'utf8')).toBe('theirs');
  // A link in the place of the folder.
  const elsewhere = join(base, 'elsewhere');
  mkdirSync(elsewhere);
  renameSync(folder, join(base, 'moved'));
  symlinkSync(elsewhere, folder);
  await expect(append(files, 4)).rejects.toThrow();
  expect(readdirSync(elsewhere)).toEqual([]);
  rmSync(folder);
  renameSync(join(base, 'moved'), folder);
  await append(files, 5);
  expect((await textsOf(files)).at(-1)).toBe('line 5');
  await files.forget(one);
  expect(partsIn()).toEqual([]);
  expect([readFileSync(target, 'utf8'), lstatSync(target).isFile()]).toEqual(['theirs', true]);
});

test('lines of any bytes in a file are no error, and a file that grew is read from its end', async () => {
  const files = filesOf();
  await append(files, 1);
  for (const broken of [
    '[',
    '{}',
    '[1]',
    '["a",1]',
    '[9e99,1,"exec","stdout","info","x",null]',
    '\0\xff\n\n\n',
    'null',
  ])
    appendFileSync(newest(), `${broken}\n`, 'latin1');
  await append(files, 2);
  expect(await textsOf(files)).toEqual(['line 1', 'line 2']);
  appendFileSync(newest(), Buffer.alloc(8 * KIB * KIB, 'n'));
  appendFileSync(newest(), '\n');
  appendFileSync(newest(), encodedLine(lineOf(3, 'line 3')));
  expect(await textsOf(files)).toEqual(['line 3']);
});

test('a full disk refuses a line, and the next one goes on', async () => {
  const files = filesOf();
  await append(files, 1);
  observeEffects({
    before({ kind }) {
      if (kind === 'write') throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    },
  });
  await expect(append(files, 2)).rejects.toThrow('full');
  observeEffects(null);
  await append(files, 3);
  expect(await textsOf(files)).toEqual(['line 1', 'line 3']);
  expect(existsSync(folder)).toBe(true);
});

test('pages of several logs have every line once, the newest first, with any filter', async () => {
  const files = filesOf();
  const two = instanceIdOfFile('two');
  for (let seq = 1; seq <= 400; seq += 1)
    await append(files, seq, `n${seq} ${'w'.repeat(80)}`, seq % 3 === 0 ? two : one);
  const all: number[] = [];
  for (let before: number | undefined; ; ) {
    const { lines, next } = await readLogs(files, [one, two], { limit: 7, before });
    all.push(...lines.map(({ seq }) => seq));
    if (next === null) break;
    before = next;
  }
  expect(all).toEqual(Array.from({ length: 400 }, (_, at) => 400 - at));
  const found = await readLogs(files, [one, two], { limit: 50, text: 'N39', after: 100 });
  expect(found.lines.map(({ seq }) => seq)).toEqual([399, 398, 397, 396, 395, 394, 393, 392, 391, 390]);
});
