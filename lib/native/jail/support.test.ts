import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { jailTool } from './jail-command.ts';
import { type MissingPart, nativeSupport } from './support.ts';
import { JAIL_USER } from './testing/jail-stage.ts';

const isRoot = process.getuid?.() === 0;

/** What a process behind this command finds missing. */
async function missingBehind(command: readonly string[]): Promise<MissingPart[]> {
  const script = `import { nativeSupport } from ${JSON.stringify(join(import.meta.dirname, 'support.ts'))};
    process.stdout.write(JSON.stringify(await nativeSupport(null)));`;
  const [file = '', ...args] = [...command, process.execPath, '--no-warnings', '--input-type=module', '-e', script];
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_ENV: 'test', PATH: process.env.PATH ?? '' },
  });
  return JSON.parse(await text(child.stdout)) as MissingPart[];
}

test.runIf(process.platform === 'linux')('what is missing is named, each with what brings it', async () => {
  const missing = await nativeSupport(JAIL_USER);
  for (const { part, why } of missing) expect(`${part}: ${why}`).toMatch(/^[a-z_]+: .{10,}/);
  const names = missing.map(({ part }) => part);
  expect(names.includes('bubblewrap')).toBe(jailTool('bwrap') === null);
  expect(names.includes('setpriv')).toBe(jailTool('setpriv') === null);
  expect(new Set(names).size).toBe(names.length);
});

test.runIf(isRoot && jailTool('setpriv') !== null)(
  'to a server of another user than root, without a group of its own, no control groups are there, and nothing takes their place',
  async () => {
    const missing = await missingBehind(['setpriv', '--reuid=61000', '--regid=61000', '--clear-groups']);
    const groups = missing.find(({ part }) => part === 'control_groups');
    expect(groups?.why).toContain('has to be root, or be given a control group of its own');
  },
);

test.runIf(isRoot && jailTool('bwrap') !== null)(
  'where namespaces of users are used up they are what is missing',
  async () => {
    const limited = [
      'unshare',
      '--user',
      '--map-root-user',
      'sh',
      '-c',
      'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"',
      'sh',
    ];
    const missing = await missingBehind(limited);
    expect(missing.map(({ part }) => part)).toContain('user_namespaces');
  },
);
