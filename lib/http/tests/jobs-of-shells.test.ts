import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ExecAnswer, SandboxRun } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { WB_RUNS_PER_SANDBOX: '5' } });
  for (const id of ['one', 'two']) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
  await server.call('POST', '/api/instances', { id: 'bare', tenant: 'globex', policy: 'minimal' });
  const build = { command: 'sleep 5.6; echo built > built', timeout_ms: 600_000 };
  await server.call('POST', '/api/instances/bare/runs', build);
});
afterAll(() => server.stop());

const run = async (command: string, id = 'one', timeout_ms = 240_000): Promise<ExecAnswer> =>
  (await server.call<ExecAnswer>('POST', `/api/instances/${id}/exec`, { command, timeout_ms })).json;
const runsOf = async (id = 'one') => (await server.call<SandboxRun[]>('GET', `/api/instances/${id}/runs`)).json;

describe('`&` at the top level of a script', () => {
  test('starts a run, which outlives the call, sees what was written before, and is stopped by another call', async () => {
    const begun = await run(
      'N=7; f() { echo "f$1 $N $X"; }; export X=x; cd /memory; echo in > in; for i in 1; do cat in; f 1; sleep 60; done &\necho "job $!"',
    );
    const job = /^job (\d+)\n$/.exec(begun.stdout)?.[1];
    expect([begun.exit_code, begun.stderr, job]).toEqual([0, '', expect.any(String)]);
    const [started] = await runsOf();
    expect(started).toMatchObject({ state: expect.stringMatching(/queued|running/), cwd: '/memory' });
    await vi.waitFor(async () => expect((await runsOf())[0]?.output_bytes).toBe(10), 240_000);
    expect((await run('jobs')).stdout).toMatch(/^\[1\]\+ {2}Running {17}.*sleep 60.* &\n$/s);
    expect((await run(`kill -0 ${job}; echo $?; jobs -p`)).stdout).toBe(`0\n${job}\n`);
    expect(await run(`kill ${job}; wait ${job}; echo $?; jobs`)).toMatchObject({
      stdout: 'in\nf1 7 x\n143\n',
      exit_code: 0,
    });
    await vi.waitFor(async () => expect((await runsOf())[0]).toMatchObject({ state: 'stopped' }), { timeout: 240_000 });
    expect(await run(`kill ${job}`)).toMatchObject({
      stderr: `bash: kill: (${job}) - No such process\n`,
      exit_code: 1,
    });
  });

  test('shows what goes through `tee` while it runs, and leaves it in the file when it is stopped', async () => {
    const job = (await run('(echo one; sleep 60) 2>&1 | tee log & echo $!')).stdout.trim();
    await vi.waitFor(async () => expect((await runsOf())[0]).toMatchObject({ output_bytes: 4 }), 240_000);
    expect((await run(`kill ${job}; wait ${job}; echo $?; cat log`)).stdout).toBe('one\n143\none\n');
    const quiet = (await run('(echo hidden; touch begun; sleep 60) | tee quiet > /dev/null & echo $!')).stdout.trim();
    await vi.waitFor(async () => expect((await run('ls begun')).exit_code).toBe(0), 240_000);
    expect((await run(`kill ${quiet}; wait ${quiet}; echo $?; cat quiet`)).stdout).toBe('143\nhidden\n');
    const ended = await run('(echo two; exit 3) | tee log & wait $!; echo $?; cat log');
    expect(ended.stdout).toBe('two\n0\ntwo\n');
  });

  test('is a process that ps, pgrep and pkill know by the name and the words of its command', async () => {
    const script = [
      'sleep 61 & pgrep -f "sleep 61" > found; [ "$(cat found)" = $! ] && echo same',
      'pgrep -x sleep | wc -l; pgrep -x sleeper; echo $?; ps -p $! -o comm= -o args=; ps aux | grep -c "[s]leep 61"',
      'pkill -f "sleep 61"; wait $!; echo $?; pgrep sleep; echo $?; killall sleep 2>/dev/null; echo $?; ps -p $! > /dev/null; echo $?',
    ];
    const { stdout } = await run(script.join('\n'));
    expect(stdout).toBe('same\n1\n1\nsleep           sleep 61\n1\n143\n1\n1\n1\n');
  });

  test('appends to a log beside its script, and no line of either is lost', async () => {
    const both =
      '(for i in 1 2 3; do echo job$i >> both; sleep 0.2; done) & for i in 1 2 3; do echo own$i >> both; sleep 0.2; done';
    expect((await run(`${both}; wait; sort both`)).stdout).toBe('job1\njob2\njob3\nown1\nown2\nown3\n');
    const first = '{ echo one; sleep 0.5; echo two; } >> made & echo three >> made; wait; sort made';
    expect((await run(first)).stdout).toBe('one\nthree\ntwo\n');
  });

  test('a log in the background is there while it grows, and a script that is killed runs its action for TERM', async () => {
    const script = "trap 'echo closed >> grown; exit 7' TERM; while :; do echo x; sleep 0.1; done > grown";
    const job = (await run(`bash -c "${script}" & echo $!`)).stdout.trim();
    await vi.waitFor(async () => expect((await run('wc -l < grown')).stdout.trim()).toMatch(/^[1-9]/), 240_000);
    expect((await run(`kill ${job}; wait ${job}; echo $?; tail -n 1 grown`)).stdout).toBe('7\nclosed\n');
    const ended = (await run('trap "echo never" TERM; while :; do sleep 0.1; done & echo $!')).stdout.trim();
    expect((await run(`kill -9 ${ended}; wait ${ended}; echo $?`)).stdout).toBe('137\n');
  });

  test('a script in the background that is sent TERM in its action for HUP runs that for TERM too', async () => {
    const script =
      "trap 'echo term; exit 7' TERM; trap 'echo hup; sleep 600; echo never' HUP; touch ready; while :; do sleep 0.1; done";
    const job = (await run(`bash -c "${script}" & echo $!`)).stdout.trim();
    await vi.waitFor(async () => expect((await run('ls ready')).exit_code).toBe(0), 240_000);
    const ended = await run(`kill -HUP ${job}; kill ${job}; wait ${job}; echo $?`);
    expect(ended.stdout).toBe('hup\nterm\n7\n');
    const stubborn = (
      await run('bash -c \'trap "" TERM; touch deaf; while :; do sleep 0.1; done\' & echo $!')
    ).stdout.trim();
    await vi.waitFor(async () => expect((await run('ls deaf')).exit_code).toBe(0), 240_000);
    expect((await run(`kill ${stubborn}; kill -9 ${stubborn}; wait ${stubborn}; echo $?`)).stdout).toBe('137\n');
  });

  test('`wait` waits for those of the script, prints what they wrote, and knows how each ended', async () => {
    const waited = await run(
      'sleep 0.3 && echo first &\na=$!\n(exit 3) & b=$!\nwait $a; echo "a $?"; wait $b; echo "b $?"; wait; echo "all $?"; wait 99; echo "none $?"',
    );
    expect(waited.stdout).toBe('first\na 0\nb 3\nall 0\nnone 127\n');
    expect(waited.stderr).toBe('bash: wait: pid 99 is not a child of this shell\n');
    expect((await run("printf '\\xff\\xe9' & wait | base64")).stdout.trim()).toBe('/+k=');
    expect((await run('sleep 30 & echo quick & sleep 0.2; wait -n; kill %1; wait %1; echo $?')).stdout).toBe(
      'quick\n143\n',
    );
  });

  test('`%n` is the number that `jobs` shows, which one that was waited for gives back, and arrays are there', async () => {
    const signals = ['-9', '-INT', '-s HUP', ''].map((signal) => `sleep 30 & kill ${signal} $!; wait $!; echo $?`);
    expect((await run(signals.join('\n'))).stdout).toBe('137\n130\n129\n143\n');
    const numbers = await run('true & wait; sleep 30 & jobs | cut -c1-3; kill %1; echo $?; wait %1; echo $?');
    expect(numbers.stdout).toBe('[1]\n0\n143\n');
    const two = await run('(exit 4) & sleep 30 & wait %1; echo $?; jobs | cut -c1-3; kill %2; wait %2; echo $?');
    expect(two.stdout).toBe('4\n[2]\n143\n');
    const arrays = await run(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
      'words=(printf "<%s>" "b  c" d); declare -A m=([x]="1  2"); "${words[@]}" & wait; echo "${m[x]}" & wait; echo "${nope[0]:-none}" & wait',
    );
    expect([arrays.stdout, arrays.stderr]).toEqual(['<b  c><d>1  2\nnone\n', '']);
  });

  test('loops, conditions, groups and subshells begin runs, each with what its variables are then', async () => {
    const looped = await run('for i in 1 2 3; do (sleep 0.$i; echo "job $i") & done; wait; echo end');
    expect([looped.stdout, looped.stderr]).toEqual(['job 1\njob 2\njob 3\nend\n', '']);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
    const pids = await run('for i in 3 4; do (exit $i) & p+=($!); done; for q in "${p[@]}"; do wait $q; echo $?; done');
    expect(pids.stdout).toBe('3\n4\n');
    const nested = await run(
      'f() { echo "f $1 $2"; }; if true; then n=1; f $n a & fi; wait; { f 2 b & }; wait; case x in x) f 3 c & wait ;; esac; i=0; while [ $i -lt 2 ]; do i=$((i+1)); f $i d & wait; done',
    );
    expect(nested.stdout).toBe('f 1 a\nf 2 b\nf 3 c\nf 1 d\nf 2 d\n');
    const apart = await run('(sleep 0.2; echo apart > apart &); wait; echo "$! now"; { sleep 1; true; }; cat apart');
    expect(apart.stdout).toBe(' now\napart\n');
  });

  test('a call that runs out of time while it waits ends, and the run goes on', async () => {
    await run('true', 'two');
    const late = await run('sleep 60 & wait', 'two', 700);
    expect(late).toMatchObject({ timed_out: true, exit_code: 124 });
    expect((await run('kill $(jobs -p); jobs', 'two')).stdout).toBe('');
  });

  test('too many are refused with a sentence, and the others go on', async () => {
    const many = await run(
      'for_all() { :; }; sleep 30 &\nsleep 30 &\nsleep 30 &\nsleep 30 &\nsleep 30 &\nsleep 30 &\necho "$?"; kill %1 %2 %3 %4 %5',
    );
    expect(many.stdout).toBe('1\n');
    expect(many.stderr).toMatch(/^bash: cannot run in the background: .*5 runs/);
    await vi.waitFor(async () => expect((await runsOf()).filter(({ ended }) => ended === null)).toEqual([]), {
      timeout: 240_000,
    });
  });
});

test('`&` anywhere else is refused with a sentence before anything of the script runs', async () => {
  for (const script of [
    'echo ran; for i in 1 2; do sleep 1 & done > log',
    'echo ran; (sleep 1 &) | cat',
    'echo ran; { echo $(sleep 1 & ); }',
    'f() { sleep 1 & }; echo ran; f',
    'echo ran; x=$(sleep 1 & echo 2)',
    'if [ $(sleep 1 & ) ]; then :; fi',
    "echo ran > /dev/null; eval 'sleep 1 &'",
    "bash -c 'echo ran; sleep 1 &'",
  ]) {
    const refused = await run(script, 'two');
    expect([script, refused.stdout, refused.exit_code]).toEqual([script, '', 2]);
    expect(refused.stderr).toContain('"&" begins a run at the top level of a script and in its loops');
  }
  expect(await runsOf('two')).toHaveLength(1);
});

describe('what a script asks of its jobs', () => {
  test('more than a run may take of variables is refused with a sentence, and the sandbox goes on', async () => {
    await run('echo kept > /tmp/kept', 'two');
    const large = await run('X=$(head -c 2000000 /dev/zero | tr "\\0" x); true & echo "$?"', 'two');
    expect(large).toMatchObject({
      stdout: '1\n',
      stderr: expect.stringMatching(/^bash: cannot run in the background: .*1 MiB/),
    });
    expect((await run('cat /tmp/kept', 'two')).stdout).toBe('kept\n');
  });

  test('`wait -n` takes nothing from whoever waits later, however often it is asked', async () => {
    const waits = 'until [ -e go ]; do sleep 0.05; done && echo slow &\nslow=$!\necho quick &\nwait -n';
    const slow = await run(`${waits}; touch go; while kill -0 $slow 2>/dev/null; do sleep 0.05; done; wait`, 'two');
    expect(slow.stdout).toBe('quick\nslow\n');
    const often = 'true & wait -n\n'.repeat(70);
    const many = await run(`sleep 500 & endless=$!\n${often}kill $endless; echo on`, 'two');
    expect([many.stdout, many.stderr]).toEqual(['on\n', '']);
  });

  test('runs that wait for what they have begun with `&` hold up nobody', async () => {
    const begin = async () =>
      (await server.call<SandboxRun>('POST', '/api/instances/two/runs', { command: 'sleep 1; echo job & wait' })).json
        .id;
    const waiting = [await begin(), await begin()];
    await vi.waitFor(async () => {
      const ended = (await runsOf('two')).filter(({ id }) => waiting.includes(id));
      expect(ended.map(({ state, output_bytes: bytes }) => [state, bytes])).toEqual([
        ['done', 4],
        ['done', 4],
      ]);
    }, 240_000);
  });

  test('one that runs is not forgotten for those that came and went after it', async () => {
    const begun = await run('sleep 500 & echo $!', 'two');
    for (let round = 0; round < 2; round += 1) await run('true & wait $!\n'.repeat(55), 'two');
    expect((await run('jobs -p', 'two')).stdout).toBe(begun.stdout);
    expect(await run(`kill ${begun.stdout}`, 'two')).toMatchObject({ stderr: '', exit_code: 0 });
  });
});

test('what only looks like `&` is none, and signals that a run has not are named', async () => {
  const plain = await run(
    `echo a && echo b 2>&1 &>/dev/null; echo "a & b" 'c & d' \\& $((5 & 4)); [[ a && b ]] && echo e >&2; echo "[$!]"`,
  );
  expect(plain).toMatchObject({ stdout: 'a\na & b c & d & 4\n[]\n', stderr: 'e\n', exit_code: 0 });
  expect(await run('kill -USR1 7')).toMatchObject({
    stderr: expect.stringContaining('USR1: not supported'),
    exit_code: 1,
  });
  expect(await run('__winterdock_start 0')).toMatchObject({ exit_code: 127 });
});

test('a build runs longer than a call may, beside calls that are ended at their time', async () => {
  await run('true', 'bare', 30_000);
  const quick = await run('while :; do :; done', 'bare', 700);
  expect(quick).toMatchObject({ timed_out: true, exit_code: 124 });
  await vi.waitFor(
    async () => expect((await runsOf('bare'))[0]).toMatchObject({ state: 'done', exit_code: 0 }),
    60_000,
  );
  expect((await runsOf('bare'))[0]?.took_ms).toBeGreaterThan(5500);
  expect((await run('cat built', 'bare', 30_000)).stdout).toBe('built\n');
});
