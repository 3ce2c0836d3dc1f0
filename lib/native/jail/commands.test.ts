import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { ENV, jailStage, NO_JAIL, saysWhyNot } from './testing/jail-stage.ts';

saysWhyNot('lib/native/jail/commands.test.ts');
const stage = jailStage();
const WAIT = { timeout: 120_000 };
/** The first process of a jail, and the one that waits for it outside. */
const OWN = 2;

describe.runIf(NO_JAIL === null)('commands in a jail', () => {
  test('a command has its folder, its variables, its arguments and its input, and its streams and its end are its own', async () => {
    const { jail, bash, outside } = await stage.open();
    expect(
      await bash('cat; pwd; echo "$A" >&2; exit 7', {
        cwd: '/memory',
        env: { ...ENV, A: 'ä b' },
        stdin: Buffer.from('in\n'),
      }),
    ).toEqual({ exitCode: 7, signal: null, ended: 'by_itself', stdout: 'in\n/memory\n', stderr: 'ä b\n' });
    expect(await bash('env -0 | sort -z | tr "\\0" "\\n"', { env: { B: 'x\ny', PATH: '/usr/bin' } })).toMatchObject({
      stdout: expect.stringMatching(/^B=x\ny\nPATH=\/usr\/bin\nPWD=\/workspace\nSHLVL=\d\n_=\S+\n$/),
    });
    const words: string[] = [];
    const argv = ['printf', '<%s>', '', 'a b', '$HOME', "'"];
    await jail.run({ argv, cwd: '/', env: ENV, onOutput: (_, bytes) => void words.push(bytes.toString()) });
    expect(words.join('')).toBe(`<><a b><$HOME><'>`);
    await bash('echo kept >file; echo m >/memory/m; echo t >/tmp/t');
    expect(['workspace/file', 'memory/m', 'tmp/t'].map((name) => readFileSync(join(outside, name), 'utf8'))).toEqual([
      'kept\n',
      'm\n',
      't\n',
    ]);
    expect(await bash('cat; echo ended')).toMatchObject({ stdout: 'ended\n' });
  });

  test('files that a command makes have the usual rights, whatever those of the server’s own are', async () => {
    const before = process.umask(0o077);
    try {
      const { bash, outside } = await stage.open();
      expect((await bash('umask; echo >file; mkdir folder')).stdout).toBe('0022\n');
      const modes = ['file', 'folder'].map((name) => statSync(join(outside, 'workspace', name)).mode & 0o777);
      expect(modes).toEqual([0o644, 0o755]);
    } finally {
      process.umask(before);
    }
  });

  test('programs find their streams by name, too', async () => {
    const { bash } = await stage.open();
    expect(
      await bash('echo o >/dev/stdout; echo e >/dev/stderr; echo x | tee /dev/fd/2; cat /dev/stdin', {
        stdin: Buffer.from('i'),
      }),
    ).toMatchObject({ stdout: 'o\nx\ni', stderr: 'e\nx\n' });
  });

  test('what a command prints arrives while it runs, and what it is given reaches it', async () => {
    const { jail } = await stage.open();
    const asked = Promise.withResolvers<void>();
    async function* answers() {
      await asked.promise;
      yield Buffer.from('Ada\n');
    }
    let printed = '';
    const onOutput = (_: string, bytes: Buffer) => {
      printed += bytes;
      if (printed === 'name? ') asked.resolve();
    };
    const argv = ['/bin/bash', '-c', 'printf "name? "; read name; echo "hello $name"'];
    await jail.run({ argv, cwd: '/', env: ENV, stdin: answers(), onOutput });
    expect(printed).toBe('name? hello Ada\n');
  });

  test('sixteen megabytes go in and come out as they are, and input that nobody reads holds nobody up', async () => {
    const { jail, bash } = await stage.open();
    const bytes = randomBytes(16 * 1024 * 1024);
    const back: Buffer[] = [];
    await jail.run({
      argv: ['cat'],
      cwd: '/',
      env: ENV,
      stdin: bytes,
      onOutput: (_, piece) => void back.push(Buffer.from(piece)),
    });
    expect(Buffer.concat(back).equals(bytes)).toBe(true);
    expect(await bash('head -c 3 | wc -c', { stdin: bytes })).toMatchObject({ exitCode: 0, stdout: '3\n' });
    expect(await bash('exec <&-; echo done', { stdin: bytes })).toMatchObject({ exitCode: 0, stdout: 'done\n' });
  });

  test('a signal that ends a command is named', async () => {
    const { jail, bash } = await stage.open();
    expect(await bash('kill -TERM $$')).toMatchObject({ exitCode: null, signal: 'SIGTERM', ended: 'by_itself' });
    const running = bash('trap "echo caught; exit 3" INT; echo >begun; while :; do sleep 0.05; done');
    await vi.waitFor(async () => expect((await bash('test -e begun')).exitCode).toBe(0), WAIT);
    jail.signalAll('SIGINT');
    expect(await running).toMatchObject({ exitCode: 3, signal: null, stdout: 'caught\n' });
  });

  test.each(['at its time', 'when it is cancelled'])(
    '%s a command ends with all that it has begun, in whatever session, and what others have begun goes on',
    async (how) => {
      const { jail, bash, outside } = await stage.open();
      await bash('sleep 1000 & echo $! >kept');
      const abort = new AbortController();
      const script =
        'setsid bash -c "sleep 1001 & sleep 1002" & sleep 1003 & trap "" TERM INT HUP; echo >begun; while :; do :; done';
      const ends = how === 'at its time' ? { timeoutMs: 5000 } : { signal: abort.signal };
      const running = bash(script, ends);
      await vi.waitFor(async () => expect((await bash('pgrep -xc sleep')).stdout).toBe('4\n'), WAIT);
      abort.abort();
      expect(await running).toMatchObject({
        exitCode: null,
        signal: 'SIGKILL',
        ended: how === 'at its time' ? 'timed_out' : 'cancelled',
      });
      const kept = readFileSync(join(outside, 'workspace', 'kept'), 'utf8').trim();
      expect(await bash(`pgrep -x sleep; kill -0 ${kept} && echo goes on`)).toMatchObject({
        stdout: `${kept}\ngoes on\n`,
      });
      expect(jail.running).toBe(0);
    },
  );

  test('what a command leaves in the background goes on between calls, serves on localhost, and holds nobody up', async () => {
    const { jail, bash } = await stage.open();
    const server = `use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1:8080', Listen => 5, ReuseAddr => 1) or die;
      open my $f, '>', '/workspace/up'; close $f; $| = 1;
      while (my $c = $s->accept) { print "served\\n"; print $c "hello\\n"; close $c }`;
    expect(await bash(`perl -e '${server.replaceAll("'", `'"'"'`)}' & echo begun`)).toMatchObject({
      stdout: 'begun\n',
      exitCode: 0,
    });
    await vi.waitFor(async () => expect((await bash('test -e up')).exitCode).toBe(0), WAIT);
    for (const _ of [1, 2, 3])
      expect(await bash('exec 3<>/dev/tcp/127.0.0.1/8080; cat <&3')).toMatchObject({ stdout: 'hello\n' });
    expect(jail.processes.length).toBe(OWN + 1);
    // One that prints without end is read into nothing.
    expect(await bash('yes & echo left')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/left\n/) });
    expect(await bash('echo next')).toMatchObject({ stdout: 'next\n' });
    expect(jail.processes.length).toBe(OWN + 2);
  });

  test('a reader that takes its time holds its command back, and no other', async () => {
    const { jail, bash, outside } = await stage.open();
    const taken = Promise.withResolvers<void>();
    let bytes = 0;
    const slow = jail.run({
      argv: ['/bin/bash', '-c', 'head -c 8388608 /dev/zero; echo >/workspace/ended'],
      cwd: '/',
      env: ENV,
      onOutput: (_, piece) => {
        bytes += piece.length;
        return taken.promise;
      },
    });
    expect(await bash('seq 100000 | tail -1')).toMatchObject({ stdout: '100000\n' });
    expect(bytes).toBeLessThan(1024 * 1024);
    expect(() => readFileSync(join(outside, 'workspace', 'ended'))).toThrow('ENOENT');
    taken.resolve();
    expect(await slow).toMatchObject({ exitCode: 0 });
    expect(bytes).toBe(8_388_608);
  });

  test('what cannot be begun is an error that says why, and the next command runs', async () => {
    const { jail, bash } = await stage.open();
    const run = (change: object) => jail.run({ argv: ['true'], cwd: '/', env: ENV, ...change });
    await expect(run({ argv: ['no-such-program'] })).rejects.toMatchObject({
      code: 'not_found',
      message: 'The program no-such-program is not in this sandbox.',
    });
    await expect(run({ argv: ['/etc/passwd'] })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('EACCES'),
    });
    await expect(run({ cwd: '/workspace/none' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('ENOENT'),
    });
    await expect(run({ argv: ['true', 'x'.repeat(200_000)] })).rejects.toMatchObject({ code: 'too_large' });
    await expect(run({ argv: ['true', 'x'.repeat(3_000_000)] })).rejects.toMatchObject({ code: 'too_large' });
    for (const change of [
      { argv: ['a\0b'] },
      { argv: [] },
      { cwd: 'relative' },
      { env: { 'A=B': 'c' } },
      { env: { A: '\0' } },
    ])
      await expect(run(change)).rejects.toMatchObject({ code: 'validation' });
    expect(await bash('echo fine')).toMatchObject({ stdout: 'fine\n' });
  });

  test('sixty-four commands run at once, each with its own streams, and one more is refused', async () => {
    const { bash } = await stage.open();
    const hold = Promise.withResolvers<void>();
    async function* input() {
      await hold.promise;
      yield Buffer.from('x');
    }
    const all = Array.from({ length: 64 }, (_, at) =>
      bash(`cat >/dev/null; echo ${at}; echo ${at} >&2`, { stdin: input() }),
    );
    await expect(bash('true')).rejects.toMatchObject({ code: 'capacity' });
    hold.resolve();
    expect((await Promise.all(all)).map(({ stdout, stderr }) => [stdout, stderr])).toEqual(
      all.map((_, at) => [`${at}\n`, `${at}\n`]),
    );
  });

  test('frozen, nothing in it runs; thawed, everything goes on where it was', async () => {
    const { jail, bash, outside } = await stage.open();
    await bash('echo >/tmp/count; (while :; do echo >>/tmp/count; done) & true');
    const size = () => readFileSync(join(outside, 'tmp', 'count')).length;
    await vi.waitFor(() => expect(size()).toBeGreaterThan(0), WAIT);
    await jail.freeze();
    const before = size();
    const waiting = bash('echo thawed');
    await pause(300);
    expect(size()).toBe(before);
    await jail.thaw();
    expect(await waiting).toMatchObject({ stdout: 'thawed\n' });
    await vi.waitFor(() => expect(size()).toBeGreaterThan(before), WAIT);
    // Frozen, it can be ended.
    await jail.freeze();
    await jail.close();
    expect(await jail.ended).toEqual({ cause: 'closed', detail: '' });
  });
});
