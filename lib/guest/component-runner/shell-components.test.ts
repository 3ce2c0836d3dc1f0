import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';
import { callOne, componentOf } from './testing/component.ts';

const { open } = stage();

test('a shell component has its input on stdin and its output on stdout', async () => {
  const process = open('sh-call');
  const doubles = componentOf('sh', "jq '{b: (.a * 2)}'; echo noted >&2");
  const { value, logs } = await callOne(process, doubles, { a: 21 });
  expect(value).toEqual({ b: 42 });
  expect(logs).toBe('noted\n');
  expect((await callOne(process, componentOf('sh', 'exit 3'))).result.error?.message).toBe(
    'It ended with exit code 3.',
  );
  const slow = componentOf('sh', "echo '{'; sleep 0.4; echo '\"late\": 1'; sleep 0.4; echo '}'");
  expect((await callOne(process, slow)).value).toEqual({ late: 1 });
  expect((await callOne(process, componentOf('sh', 'echo no'))).result.error?.kind).toBe('output');
  const heavy = componentOf('sh', "printf '[%.0s' $(seq 600); printf ']%.0s' $(seq 600)");
  expect((await callOne(process, heavy)).result.error?.message).toContain('too many values');
  expect(
    (await callOne(process, componentOf('sh', 'while true; do :; done'), {}, { timeoutMs: 200 })).result.error?.kind,
  ).toBe('timeout');
  await process.kill('killed');
});

test('with vfs it sees the workspace and writes all or nothing; without it sees an empty tree of its own', async () => {
  const process = open('sh-vfs');
  await process.exec({ command: 'echo 1 > there' });
  const writes = 'echo 2 > here; cat there';
  expect((await callOne(process, componentOf('sh', `${writes}; exit 1`, { uses: ['vfs'] }))).result.state).toBe(
    'failed',
  );
  expect((await process.exec({ command: 'ls *here' })).stdout).toBe('there\n');
  expect((await callOne(process, componentOf('sh', writes, { uses: ['vfs'] }))).value).toBe(1);
  expect((await process.exec({ command: 'cat here' })).stdout).toBe('2\n');
  expect((await callOne(process, componentOf('sh', 'ls; echo 3 > here; cat there || echo 4'))).value).toBe(4);
  expect((await process.exec({ command: 'cat here' })).stdout).toBe('2\n');
  await process.kill('killed');
});

test('`&` where nobody would follow a run is refused with what to do instead, and the rest runs', async () => {
  const process = open('sh-and');
  const { value, logs } = await callOne(process, componentOf('sh', 'sleep 60 & echo 1'));
  expect(value).toBe(1);
  const said = await process.exec({ command: 'sleep 60 & echo on' });
  expect(said).toMatchObject({ stdout: 'on\n', exitCode: 0 });
  for (const text of [logs, said.stderr]) {
    expect(text).toContain(
      'bash: cannot run in the background: nobody would follow a run that a schedule or a component',
    );
    expect(text).toContain('Leave "&" out');
    expect(text).toContain('POST /instances/:id/runs');
  }
  await process.kill('killed');
});
