/** A script in the background that is sent a signal runs its action for it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { ExecOutcome, InstanceProcess } from './protocol/instance.ts';
import { StopRequest, type StopSignal } from './protocol/stop-signals.ts';
import { stage } from './testing/stage.ts';

const at = stage({ size: 2 });
const MINUTE = 60_000;

async function opened(id: string): Promise<InstanceProcess> {
  const process = at.open(id);
  await process.opened;
  return process;
}

/** Runs a script until it has written `up`, sends it a signal, and returns its outcome and what it wrote. */
async function signalled(a: InstanceProcess, command: string, signal: StopSignal | null) {
  const stop = new AbortController();
  const request = { command, timeoutMs: MINUTE, longestMs: MINUTE, background: 'run', endless: true } as const;
  let text = '';
  const onOutput = (chunk: { text: string }) => {
    text += chunk.text;
  };
  const outcome: Promise<ExecOutcome> = a.exec(
    { ...request, commitsMeanwhile: true },
    { signal: stop.signal, onOutput },
  );
  await vi.waitFor(() => expect(text).toContain('up'), MINUTE);
  stop.abort(signal === null ? undefined : new StopRequest(signal));
  const { exitCode, cutOff } = await outcome;
  return { exitCode, cutOff, said: text.split('\n').filter((line) => line !== '' && line !== 'up') };
}

const LOOP = 'echo up; while :; do sleep 0.2; done';

/** A script, its signal, its exit code and what it says then. */
const SCRIPTS: [name: string, command: string, signal: StopSignal, exitCode: number, said: string[]][] = [
  ['that exits in its action', `trap 'echo bye; exit 7' TERM; ${LOOP}`, 'TERM', 7, ['bye']],
  [
    'that has an action for its end too',
    `trap 'echo term; exit 3' TERM; trap 'echo end' EXIT; ${LOOP}`,
    'TERM',
    3,
    ['term', 'end'],
  ],
  ['that has an action for its end alone', `trap 'echo end' EXIT; ${LOOP}`, 'TERM', 143, ['end']],
  [
    'that goes on behind it',
    "on=1; trap 'on=0' TERM; echo up; while [ $on = 1 ]; do sleep 0.2; done; echo closed",
    'TERM',
    0,
    ['closed'],
  ],
  ['in the middle of a long sleep', "trap 'echo woken; exit 0' INT; echo up; sleep 1000", 'INT', 0, ['woken']],
  ['of another shell', `bash -c 'trap "echo inner; exit 5" TERM; ${LOOP}'`, 'TERM', 5, ['inner']],
  ['in a subshell', `(trap 'echo sub; exit 6' TERM; ${LOOP})`, 'TERM', 6, ['sub']],
  ['around another one', `trap 'echo outer; exit 4' TERM; bash -c '${LOOP}'; echo never`, 'TERM', 4, ['outer']],
  [
    'that runs Python',
    `trap 'echo after; exit 2' TERM; echo up; python3 -c 'import time; time.sleep(1000)'`,
    'TERM',
    2,
    ['after'],
  ],
  [
    'that is a function in a loop',
    `f() { while :; do :; done; }; trap 'echo f; exit 9' HUP; echo up; f`,
    'HUP',
    9,
    ['f'],
  ],
];

test.each(SCRIPTS)('a script %s', async (name, command, signal, exitCode, said) => {
  const a = await opened(`trap-${name.replaceAll(/[^a-z]/g, '')}`);
  expect(await signalled(a, command, signal)).toEqual({ exitCode, cutOff: undefined, said });
});

/** A script, the signals that it is sent, each when it has said the line beside it, its exit code and what it says. */
const FURTHER: [name: string, command: string, sent: [StopSignal, string][], exitCode: number, said: string[]][] = [
  [
    'in a loop behind the first action',
    `trap 'echo term; exit 7' TERM; trap 'echo hup' HUP; ${LOOP}`,
    [
      ['HUP', 'up'],
      ['TERM', 'hup'],
    ],
    7,
    ['hup', 'term'],
  ],
  [
    'that had not acted on the first yet',
    `trap 'echo term; exit 7' TERM; trap 'echo hup' HUP; ${LOOP}`,
    [
      ['HUP', 'up'],
      ['TERM', 'up'],
    ],
    7,
    ['hup', 'term'],
  ],
  [
    'of the same name twice',
    `n=0; trap 'n=$((n+1)); echo "n $n"; [ $n = 2 ] && exit 4' INT; ${LOOP}`,
    [
      ['INT', 'up'],
      ['INT', 'n 1'],
    ],
    4,
    ['n 1', 'n 2'],
  ],
  [
    'that goes on behind the first of three',
    `trap 'echo hup' HUP; trap 'echo int' INT; trap 'echo term; exit' TERM; ${LOOP}`,
    [
      ['HUP', 'up'],
      ['INT', 'hup'],
      ['TERM', 'int'],
    ],
    0,
    ['hup', 'int', 'term'],
  ],
];

/** What the machine's bash makes of it. */
async function ofBash(command: string, sent: readonly [StopSignal, string][]) {
  const bash = spawn('bash', ['-c', command]);
  let text = '';
  bash.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const ended = once(bash, 'close');
  for (const [signal, line] of sent) {
    await vi.waitFor(() => expect(text.split('\n')).toContain(line), MINUTE);
    bash.kill(`SIG${signal}`);
  }
  const [exitCode] = await ended;
  return { exitCode, said: text.split('\n').filter((line) => line !== '' && line !== 'up') };
}

/** Runs a script and sends it signals, each when it has said a line. */
async function sentAll(a: InstanceProcess, command: string, sent: readonly [StopSignal | null, string][]) {
  const stop = new AbortController();
  let request: StopRequest | null = null;
  let text = '';
  const onOutput = (chunk: { text: string }) => {
    text += chunk.text;
  };
  const call = { command, timeoutMs: MINUTE, longestMs: MINUTE, background: 'run', endless: true } as const;
  const outcome = a.exec({ ...call, commitsMeanwhile: true }, { signal: stop.signal, onOutput });
  for (const [signal, line] of sent) {
    await vi.waitFor(() => expect(text.split('\n')).toContain(line), MINUTE);
    if (request !== null) request.send(signal);
    else if (signal !== null) {
      request = new StopRequest(signal);
      stop.abort(request);
    }
  }
  const { exitCode } = await outcome;
  return { exitCode, said: text.split('\n').filter((line) => line !== '' && line !== 'up') };
}

test.each(FURTHER)('a further signal reaches a script %s, as in bash', async (name, command, sent, exitCode, said) => {
  const a = await opened(`further-${name.replaceAll(/[^a-z]/g, '')}`);
  expect(await sentAll(a, command, sent)).toEqual({ exitCode, said });
  if (spawnSync('bash', ['--version']).status === 0) expect(await ofBash(command, sent)).toEqual({ exitCode, said });
});

test('what ends a script whatever it has comes through behind a signal, and so does one that it has no action for', async () => {
  const a = await opened('at-last');
  const command = `trap 'echo hup' HUP; ${LOOP}`;
  for (const last of [null, 'TERM'] as const) {
    const sent = [
      ['HUP', 'up'],
      [last, 'hup'],
    ] satisfies [StopSignal | null, string][];
    expect(await sentAll(a, command, sent)).toEqual({ exitCode: 130, said: ['hup'] });
  }
  expect(await at.say(a, 'echo there')).toBe('there\n');
});

test('what an action writes is there, and a script without one ends as before', async () => {
  const a = await opened('plain');
  await signalled(
    a,
    `trap 'echo cleaned >> log; rm lock; exit' TERM; : > lock; ${LOOP} > out`.replace('echo up;', 'echo up >&2;'),
    'TERM',
  );
  expect(await at.say(a, 'cat log; ls lock 2> /dev/null; echo "$?"')).toBe('cleaned\n2\n');
  expect(await signalled(a, LOOP, 'TERM')).toMatchObject({ exitCode: 130, said: [] });
  expect(await signalled(a, `trap 'echo never' TERM EXIT; ${LOOP}`, null)).toMatchObject({ exitCode: 130, said: [] });
});

test('a script that goes on for ever behind its signal is ended', async () => {
  const a = await opened('stubborn');
  expect(await signalled(a, `trap '' TERM; ${LOOP}`, 'TERM')).toMatchObject({ exitCode: 130, said: [] });
  expect(await signalled(a, `trap 'while :; do :; done' TERM; ${LOOP}`, 'TERM')).toMatchObject({ exitCode: 130 });
  expect(await at.say(a, 'echo there')).toBe('there\n');
});
