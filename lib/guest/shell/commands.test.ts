/** Which writes of a command are kept, and when others see them. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { residentBytes } from '../../base/resident-memory.ts';
import { openBeside } from '../../vfs/open.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import { createPool } from '../../workers/pool.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const MIB = 1024 * 1024;
const at = stage();

function put(to: InstanceProcess, path: string, content: string | Uint8Array): Promise<unknown> {
  return to.write({ op: 'put', volume: 'workspace', path: vfsPath(path), content: Buffer.from(content) });
}

/** Reads the file beside the process, as the server does. */
function beside(id: string): { text(path: string): string | null; close(): void } {
  const reader = openBeside(at.file(id));
  return {
    text(path) {
      const content = reader.get(vfsPath(path));
      return content && Buffer.from(content).toString();
    },
    close: () => reader.close(),
  };
}

/** Waits until a call has printed `here`. */
async function begun(instance: InstanceProcess, command: string): Promise<{ call: Promise<unknown> }> {
  const printed = Promise.withResolvers<void>();
  const onOutput = ({ text }: { text: string }) => {
    if (text.includes('here')) printed.resolve();
  };
  const call = instance.exec({ command }, { onOutput });
  call.catch(() => {});
  await printed.promise;
  await pause(100);
  return { call };
}

test('a command that is killed while it runs has written nothing, whatever others wrote meanwhile', async () => {
  const a = at.open('killed');
  await a.exec({ command: 'echo precious > kept' });
  const { call } = await begun(a, 'echo here; sleep 30 > kept');
  await put(a, '/other', 'theirs');
  const reader = beside('killed');
  expect([reader.text('/kept'), reader.text('/other')]).toEqual(['precious\n', 'theirs']);
  reader.close();
  process.kill(a.pid, 'SIGKILL');
  await expect(call).rejects.toMatchObject({ extra: { cause: 'crash' } });
  expect(await at.say(at.open('killed', { mustExist: true }), 'cat kept other')).toBe('precious\ntheirs');
});

test('readers never see half of a command, not even when its output has arrived', async () => {
  const a = at.open('half');
  await a.opened;
  const chunks: string[] = [];
  const reader = beside('half');
  const seen: (string | null)[] = [];
  const call = a.exec(
    { command: '{ echo 1 > one; sleep 0.25; echo early; sleep 0.25; echo 2 > two; }; echo last' },
    {
      onOutput: ({ text }) => {
        chunks.push(text);
        seen.push(`${reader.text('/one')} ${reader.text('/two')}`);
      },
    },
  );
  await put(a, '/between', 'x');
  await call;
  expect(chunks).toEqual(['early\n', 'last\n']);
  expect(seen).toEqual(['null null', '1\n 2\n']);
  reader.close();
});

test('commands that ended before the process is killed are kept, and the running one is not', async () => {
  const a = at.open('between');
  const { call } = await begun(
    a,
    'echo 1 > one; mkdir folder && echo 2 > folder/two; { rm one; echo 3 > three; sleep 0.3; echo here; sleep 30; }',
  );
  process.kill(a.pid, 'SIGKILL');
  await expect(call).rejects.toMatchObject({ code: 'conflict' });
  expect(await at.say(at.open('between', { mustExist: true }), 'cat one folder/two; ls')).toBe('1\n2\nfolder\none\n');
});

test('of two writes of one path the later commit wins, and a running command sees what others wrote elsewhere', async () => {
  const a = at.open('later');
  const { call } = await begun(
    a,
    '{ echo call > same; sleep 0.3; echo here; until [ -e stop ]; do sleep 0.01; done; cat same stop; }',
  );
  await put(a, '/same', 'outside');
  const reader = beside('later');
  expect(reader.text('/same')).toBe('outside');
  await put(a, '/stop', 'stop');
  expect(await call).toMatchObject({ stdout: 'here\ncall\nstop' });
  expect(reader.text('/same')).toBe('call\n');
  reader.close();
});

test('a command whose files conflict with folders written meanwhile is refused whole, and the call ends there', async () => {
  const a = at.open('clash');
  const { call } = await begun(
    a,
    'echo first > first; { echo mine > place; sleep 0.3; echo here; sleep 2; }; echo never > never',
  );
  await put(a, '/place/below', 'theirs');
  await expect(call).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('/place') });
  expect(await at.say(a, 'cat first place/below; ls')).toBe('first\ntheirsfirst\nplace\n');
});

test('an evaluation is one command: it reads what it writes, in queries and listings too, and others see it at its end', async () => {
  const a = at.open('eval');
  await put(a, '/there', 'before');
  const { value } = await a.eval({
    language: 'js',
    code: `vfs.put('/made', 'x'); vfs.put('/there', 'after'); vfs.delete('/gone');
      [vfs.get('/there'), vfs.list(), vfs.query('SELECT path, CAST(content AS TEXT) FROM vfs ORDER BY path').rows]`,
  });
  expect(value).toEqual([
    'after',
    ['/made', '/there'],
    [
      ['/made', 'x'],
      ['/there', 'after'],
    ],
  ]);
  expect(await at.say(a, 'cat there made')).toBe('afterx');
});

test('a command that buffers a hundred megabytes spills them to an unnamed file, which ends with the command', async () => {
  const a = at.open('spill');
  await put(a, '/much', Buffer.alloc(2 * MIB, 'x'));
  await a.exec({ command: 'cp much again' });
  const idle = residentBytes(a.pid);
  const { call } = await begun(
    a,
    'echo here; for ((i = 0; i < 50; i++)); do cp much copy$i; done && sleep 0.5 && echo done',
  );
  await expect.poll(() => spilled(a.pid)).toHaveLength(1);
  expect(spilled(a.pid)[0]).toContain(join(at.folder, 'spill'));
  expect(readdirSync(join(at.folder, 'spill'))).toEqual([]);
  expect(readdirSync(join(at.folder, 'live', 'spill')).sort()).toEqual([
    'vfs.sqlite',
    'vfs.sqlite-shm',
    'vfs.sqlite-wal',
  ]);
  expect(await call).toMatchObject({ exitCode: 0 });
  expect(residentBytes(a.pid) - idle).toBeLessThan(80 * MIB);
  expect(spilled(a.pid)).toEqual([]);
  expect(await at.say(a, 'ls | grep -c copy; tail -c 1 copy49')).toBe('50\nx');
});

test('a spill file whose process was killed before it unlinked the file is removed at the start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-spill-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'spill'));
  writeFileSync(join(folder, 'spill', 'etilqs_1'), '');
  const pool = createPool({ size: 0, maxActive: 1, dataFolder: folder, cacheFolder: process.env.WB_CACHE });
  await pool.start();
  expect(existsSync(join(folder, 'spill', 'etilqs_1'))).toBe(false);
  await pool.stop();
});

/** Descriptors of files that SQLite has unlinked. */
function spilled(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      return path.includes('etilqs') ? [path] : [];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}
