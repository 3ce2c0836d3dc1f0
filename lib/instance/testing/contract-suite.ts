/**
 * The suite that every isolation backend passes: a case for each promise of instance.ts that callers depend on. It sees
 * a pool, its processes and the files that they leave, and nothing of how a process is made.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAtRest } from '../../vfs/open.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { ExecRequest, InstancePool, InstanceProcess, OpenSpec } from '../instance.ts';

const MIB = 1024 * 1024;

export interface BackendOptions {
  /** Absolute path; used by this pool alone. */
  dataFolder: string;
  maxActive: number;
  memoryBytes?: number;
  /** Milliseconds between two checks of an idle process. */
  checkEveryMs?: number;
}

/** Runs the suite on the pools that `make` returns. */
export function backendContract(make: (options: BackendOptions) => InstancePool): void {
  let folder: string;
  let pool: InstancePool;
  const fileOf = (id: string) => join(folder, 'live', id, 'vfs.sqlite');
  const specOf = (id: string, spec: Partial<OpenSpec> = {}): OpenSpec => ({
    id,
    file: fileOf(id),
    policy: 'minimal',
    maxBytes: 256 * MIB,
    maxFileBytes: 64 * MIB,
    mustExist: false,
    ...spec,
  });
  const open = (id: string, spec: Partial<OpenSpec> = {}): InstanceProcess => {
    mkdirSync(join(folder, 'live', id), { recursive: true });
    return pool.open(specOf(id, spec));
  };
  const exec = (command: string, timeoutMs = 30_000): ExecRequest => ({ command, timeoutMs });
  const say = async (process: InstanceProcess, command: string) => (await process.exec({ command })).stdout;
  /** The text of a file in the workspace of a sandbox at rest. */
  const atRest = (id: string, path: string) => {
    const resting = openAtRest(fileOf(id));
    try {
      return Buffer.from(resting.get(vfsPath(path)) ?? []).toString();
    } finally {
      resting.close();
    }
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-backend-'));
    pool = make({ dataFolder: folder, maxActive: 40, checkEveryMs: 100 });
    await pool.start();
  }, 60_000);
  afterAll(async () => {
    await pool.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('opening', () => {
    test('a process serves its own file, which is made when it never was there', async () => {
      const [a, b] = [open('own-a'), open('own-b')];
      expect(await say(a, 'echo a > f; cat f')).toBe('a\n');
      expect(await say(b, 'ls; echo b > f; cat f')).toBe('b\n');
      expect(await say(a, 'cat f')).toBe('a\n');
      expect(a.id).toBe('own-a');
    }, 60_000);

    test('a missing file is an error and is not created', async () => {
      const a = open('absent', { mustExist: true });
      await expect(a.opened).rejects.toMatchObject({ code: 'missing_file' });
      await expect(a.exec(exec('true'))).rejects.toMatchObject({});
      expect(existsSync(fileOf('absent'))).toBe(false);
    }, 60_000);

    test('tmp is empty once a process has its file open, and the other volumes are as they were', async () => {
      const a = open('tmp');
      await a.exec(exec('echo w > w; echo m > /memory/m; echo t > /tmp/t'));
      expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
      const again = open('tmp', { mustExist: true });
      await again.opened;
      expect(await say(again, 'ls /tmp; cat w /memory/m')).toBe('w\nm\n');
    }, 60_000);

    test('calls sent before the file is open are served', async () => {
      const a = open('early');
      const answers = await Promise.all([a.exec(exec('echo 1')), a.exec(exec('echo 2')), a.opened]);
      expect(answers.slice(0, 2)).toMatchObject([{ stdout: '1\n' }, { stdout: '2\n' }]);
    }, 60_000);

    test('a sandbox in memory has no file, and is read through its process', async () => {
      const a = pool.open(specOf('memory', { file: ':memory:' }));
      await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('kept') });
      const { content } = (await a.read({ op: 'get', volume: 'workspace', path: vfsPath('/f') })) as {
        content: Uint8Array;
      };
      expect(Buffer.from(content).toString()).toBe('kept');
      expect(existsSync(fileOf('memory'))).toBe(false);
    }, 60_000);
  });

  describe('calls', () => {
    test('a capability that a policy lacks is refused, and an unknown policy has the fewest', async () => {
      const compute = { code: 'capability', extra: { needs: 'shell', policy: 'compute' } };
      await expect(open('compute', { policy: 'compute' }).exec(exec('true'))).rejects.toMatchObject(compute);
      await expect(open('unknown', { policy: 'root' }).exec(exec('true'))).rejects.toMatchObject(compute);
    }, 60_000);

    test('calls run one at a time in the order they came, and 64 may wait', async () => {
      const a = open('queue');
      await a.opened;
      const first = a.exec(exec('sleep 0.5; echo 0 >> order'));
      const answered: number[] = [];
      const calls = Array.from({ length: 64 }, (_, index) =>
        a.exec(exec(`echo ${index + 1} >> order`)).then(() => answered.push(index)),
      );
      expect(a.busy).toBe(true);
      await expect(a.exec(exec('true'))).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
      await Promise.all([first, ...calls]);
      expect(answered).toEqual(Array.from({ length: 64 }, (_, index) => index));
      expect((await say(a, 'cat order')).trim().split('\n')).toEqual(Array.from({ length: 65 }, (_, at) => String(at)));
      expect(a.busy).toBe(false);
    }, 60_000);

    test('output arrives while a call runs, and all of it together is the outcome’s', async () => {
      const chunks: string[] = [];
      const outcome = await open('output').exec(exec('echo one; echo two; echo three'), {
        onOutput: ({ text }) => chunks.push(text),
      });
      expect(chunks.join('')).toBe(outcome.stdout);
      expect(outcome).toMatchObject({ exitCode: 0, timedOut: false, truncated: false });
    }, 60_000);

    test('a signal stops a running call, and a waiting one never begins', async () => {
      const a = open('signal');
      const [running, waiting] = [new AbortController(), new AbortController()];
      const printed = Promise.withResolvers<unknown>();
      const first = a.exec(exec('echo on; while :; do :; done'), {
        signal: running.signal,
        onOutput: (chunk) => printed.resolve(chunk),
      });
      const second = a.exec(exec('echo never > never'), { signal: waiting.signal });
      waiting.abort();
      await expect(second).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'aborted' } });
      await printed.promise;
      running.abort();
      expect(await first).toMatchObject({ exitCode: 130, stdout: 'on\n', timedOut: false });
      expect(await say(a, 'ls')).toBe('');
    }, 60_000);

    test('a call that takes longer than it may is ended, and its answer says so', async () => {
      const outcome = await open('time').exec(exec('echo begun; while :; do :; done', 300));
      expect(outcome).toMatchObject({ timedOut: true, exitCode: 124, stdout: 'begun\n' });
    }, 60_000);

    test('an evaluation gives its value, and what it throws is its error', async () => {
      const a = open('evaluation');
      expect(await a.eval({ language: 'js', code: '6 * 7' })).toMatchObject({ ok: true, value: 42 });
      expect(await a.eval({ language: 'js', code: 'throw new Error("no")' })).toMatchObject({
        ok: false,
        error: expect.stringContaining('no'),
      });
    }, 60_000);

    test('a write waits for no call that runs, and is on disk when it is answered', async () => {
      const a = open('write');
      await a.opened;
      const running = a.exec(exec('sleep 5')).catch(() => undefined);
      await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('answered') });
      expect(a.busy).toBe(true);
      await a.kill('killed');
      await running;
      expect(await say(open('write', { mustExist: true }), 'cat f')).toBe('answered');
    }, 60_000);
  });

  describe('ending', () => {
    test('a process that was closed leaves one clean file and reports its identity', async () => {
      const a = open('close');
      await a.exec(exec('echo w > w'));
      expect(a.identity).toBeNull();
      expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
      expect(await a.ended).toMatchObject({ cause: 'closed' });
      expect(a.identity).toEqual(expect.any(String));
      expect(['-wal', '-shm', '-journal'].filter((suffix) => existsSync(fileOf('close') + suffix))).toEqual([]);
      expect(atRest('close', '/w')).toBe('w\n');
    }, 60_000);

    test('a close while calls run is not done, and the process goes on; by force they are aborted', async () => {
      const a = open('drain');
      await a.exec(exec('echo w > w'));
      const running = a.exec(exec('while :; do sleep 0.01; done'));
      expect(await a.close({ drainMs: 50, force: false })).toBe(false);
      expect(a.busy).toBe(true);
      const waiting = a.exec(exec('true')).catch(() => undefined);
      expect(await a.close({ drainMs: 0, force: true })).toBe(true);
      expect(await running).toMatchObject({ exitCode: 124, timedOut: true });
      await waiting;
      expect(atRest('drain', '/w')).toBe('w\n');
    }, 60_000);

    test('a close without a running call refuses later calls', async () => {
      const a = open('late');
      await a.exec(exec('true'));
      const closed = a.close({ drainMs: 1000, force: false });
      await expect(a.exec(exec('true'))).rejects.toMatchObject({});
      expect(await closed).toBe(true);
    }, 60_000);

    test('a kill may be repeated, the first cause stays, and answered writes are kept', async () => {
      const a = open('kill');
      await a.exec(exec('echo w > w'));
      const running = a.exec(exec('sleep 30'));
      const death = await a.kill('killed');
      expect(death).toMatchObject({ cause: 'killed' });
      expect(await a.kill('memory')).toEqual(death);
      expect(await a.ended).toEqual(death);
      await expect(running).rejects.toMatchObject({ code: 'conflict' });
      await expect(a.exec(exec('true'))).rejects.toMatchObject({});
      expect(await say(open('kill', { mustExist: true }), 'cat w')).toBe('w\n');
    }, 60_000);

    test('a process that ends by itself is a crash, and its call is told whether it had begun', async () => {
      const a = open('crash');
      await a.exec(exec('echo w > w'));
      const running = a.exec(exec('sleep 30'));
      process.kill(a.pid, 'SIGKILL');
      await expect(running).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'crash', started: true } });
      expect(await a.ended).toMatchObject({ cause: 'crash', detail: expect.stringContaining('SIGKILL') });
    }, 60_000);

    test('a process that hangs is reported as silent, and no other is', async () => {
      const [still, other] = [open('still'), open('other')];
      await Promise.all([still.opened, other.opened]);
      const silent: string[] = [];
      const told = new Promise<void>((resolve) => {
        for (const one of [still, other]) {
          one.watch({
            onSilent: () => {
              silent.push(one.id);
              resolve();
            },
            onThawed: () => {},
          });
        }
      });
      process.kill(still.pid, 'SIGSTOP');
      await told;
      expect(silent).toEqual(['still']);
      expect(await still.kill('silent')).toMatchObject({ cause: 'silent' });
    }, 60_000);
  });

  describe('pausing', () => {
    /** A process that has answered a call and has nothing to do. */
    const idle = async (id: string) => {
      const opened = open(id);
      expect(await say(opened, 'echo w > w; echo t > /tmp/t; cat w')).toBe('w\n');
      return opened;
    };
    const paused = async (id: string) => {
      const opened = await idle(id);
      await pause(opened);
      return opened;
    };
    /** Again where a health check was under way. */
    const pause = async (opened: InstanceProcess) => {
      const report = { beforeBytes: expect.any(Number), afterBytes: expect.any(Number) };
      await expect.poll(() => opened.pause()).toMatchObject(report);
      expect(opened.thermal).toBe('warm');
    };

    test('an idle process is paused, and the next call continues it with its tmp', async () => {
      const a = await paused('warm');
      const thawed: number[] = [];
      a.watch({ onSilent: () => {}, onThawed: (tookMs) => thawed.push(tookMs) });
      expect(await say(a, 'cat w /tmp/t')).toBe('w\nt\n');
      expect([a.thermal, thawed.length]).toEqual(['hot', 1]);
    }, 60_000);

    test('a write and a read continue it too, and so does a thaw, which says how long it took', async () => {
      const a = await paused('warm-write');
      const put = { op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('written') } as const;
      await a.write(put);
      expect(a.thermal).toBe('hot');
      await pause(a);
      await a.read({ op: 'get', volume: 'workspace', path: vfsPath('/f') });
      expect(a.thermal).toBe('hot');
      await pause(a);
      expect(await a.thaw()).toBeGreaterThan(0);
      expect(await a.thaw()).toBe(0);
      expect(await say(a, 'cat f')).toBe('written');
    }, 60_000);

    test('a process with a call or a write is not paused, and neither is one that has not opened its file', async () => {
      const a = open('warm-busy');
      expect(await a.pause()).toBeNull();
      await a.opened;
      const call = a.exec(exec('sleep 0.3; echo done'));
      expect(await a.pause()).toBeNull();
      expect(await call).toMatchObject({ stdout: 'done\n' });
      const put = { op: 'put', volume: 'workspace', path: vfsPath('/f'), content: Buffer.from('x') } as const;
      const write = a.write(put);
      expect(await a.pause()).toBeNull();
      await write;
      expect(a.thermal).toBe('hot');
    }, 60_000);

    test('a call in the moment of pausing is answered, whichever comes first', async () => {
      const a = await idle('warm-race');
      for (let delay = 0; delay < 24; delay += 1) {
        const pausing = a.pause();
        if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay * 4));
        expect(await say(a, `echo ${delay}`)).toBe(`${delay}\n`);
        await pausing;
        // Paused or not, the call was answered and the next one is.
        expect(await say(a, 'cat w')).toBe('w\n');
      }
    }, 60_000);

    test('calls that reach a paused process together keep their order', async () => {
      const a = await paused('warm-order');
      await Promise.all([1, 2, 3].map((each) => a.exec(exec(`echo ${each} >> order`))));
      expect(await say(a, 'cat order')).toBe('1\n2\n3\n');
    }, 60_000);

    test('a paused process is not checked, and is not taken for silent', async () => {
      const a = await paused('warm-checks');
      const silent: string[] = [];
      a.watch({ onSilent: () => silent.push(a.id), onThawed: () => {} });
      // Twenty checks.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      expect([a.thermal, silent]).toEqual(['warm', []]);
      expect(await say(a, 'cat w')).toBe('w\n');
    }, 60_000);

    test.each([false, true])(
      'a paused process is closed (force: %s) and leaves one clean file',
      async (force) => {
        const a = await paused(`warm-close-${force}`);
        expect(await a.close({ drainMs: 1000, force })).toBe(true);
        expect(await a.ended).toMatchObject({ cause: 'closed' });
        const suffixes = ['-wal', '-shm', '-journal'];
        expect(suffixes.filter((suffix) => existsSync(fileOf(a.id) + suffix))).toEqual([]);
        expect(atRest(a.id, '/w')).toBe('w\n');
      },
      60_000,
    );

    test('a close in the moment of pausing closes it', async () => {
      const a = await idle('warm-close-race');
      const pausing = a.pause();
      expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
      expect(await pausing).toBeNull();
      expect(atRest('warm-close-race', '/w')).toBe('w\n');
    }, 60_000);

    test('a paused process is killed, from here or from outside, and answered writes are kept', async () => {
      const [a, b] = [await paused('warm-kill'), await paused('warm-killed')];
      expect(await a.kill('killed')).toMatchObject({ cause: 'killed' });
      process.kill(b.pid, 'SIGKILL');
      expect(await b.ended).toMatchObject({ cause: 'crash' });
      await expect(b.exec(exec('true'))).rejects.toMatchObject({ code: 'conflict', extra: { started: false } });
      for (const id of ['warm-kill', 'warm-killed'])
        expect(await say(open(id, { mustExist: true }), 'cat w')).toBe('w\n');
    }, 60_000);
  });

  describe('places', () => {
    const withPool = async (
      options: Omit<BackendOptions, 'dataFolder'>,
      work: (pool: InstancePool) => Promise<void>,
    ) => {
      const dataFolder = mkdtempSync(join(tmpdir(), 'winterdock-backend-'));
      const made = make({ dataFolder, ...options });
      try {
        await work(made);
      } finally {
        await made.stop();
        rmSync(dataFolder, { recursive: true, force: true });
      }
    };
    const inMemory = (id: string) => specOf(id, { file: ':memory:' });

    test('no more processes are opened than there are places, and an ended one frees its place', async () => {
      await withPool({ maxActive: 1 }, async (one) => {
        const a = one.open(inMemory('a'));
        expect([one.active, one.shortage]).toEqual([1, 'places']);
        expect(() => one.open(inMemory('b'))).toThrow(expect.objectContaining({ code: 'capacity' }));
        expect(() => one.claim()).toThrow(expect.objectContaining({ code: 'capacity' }));
        await a.kill('killed');
        expect([one.active, one.shortage]).toEqual([0, null]);
      });
    }, 60_000);

    test('a claim counts until it is released, and can be released twice', async () => {
      await withPool({ maxActive: 2 }, async (two) => {
        const [first, second] = [two.claim(), two.claim()];
        expect(two.shortage).toBe('places');
        first.release();
        first.release();
        expect(two.shortage).toBeNull();
        two.claim();
        expect(two.shortage).toBe('places');
        second.release();
        expect(two.shortage).toBeNull();
      });
    });

    test('when the memory budget has no room for one more process, none is opened', async () => {
      await withPool({ maxActive: 100, memoryBytes: 64 * MIB }, async (small) => {
        let claims = 0;
        for (; small.shortage === null; claims += 1) small.claim();
        expect(claims).toBeGreaterThan(0);
        expect(claims).toBeLessThan(100);
        expect(small.shortage).toBe('memory');
        expect(small.memory.servingBytes).toBeLessThanOrEqual(64 * MIB);
        expect(() => small.open(inMemory('a'))).toThrow(expect.objectContaining({ code: 'capacity' }));
      });
    });

    test('a stop ends every process, may be repeated, and nothing is opened after it', async () => {
      await withPool({ maxActive: 5 }, async (several) => {
        const opened = ['a', 'b'].map((id) => several.open(inMemory(id)));
        await Promise.all(opened.map((process) => process.opened));
        await Promise.all([several.stop(), several.stop()]);
        for (const process of opened) expect(await process.ended).toMatchObject({ cause: expect.any(String) });
        expect([several.active, several.ready]).toEqual([0, 0]);
        expect(() => several.open(inMemory('c'))).toThrow(expect.objectContaining({ code: 'capacity' }));
      });
    }, 60_000);
  });
}
