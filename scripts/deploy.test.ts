import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig, unknownSettings } from '../lib/base/config.ts';
import { createProgram } from '../lib/cli/program.ts';
import { STOP_MS } from '../lib/front/server-process.ts';
import { ROOT } from './build.ts';

const file = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** What the server takes for a stop at most, in seconds: after that nothing is lost by a kill. */
const STOP_SECONDS = (readConfig({}).drainMs + STOP_MS) / 1000;

/** Each directive of a unit with its values, in order. */
function unit(): Map<string, string[]> {
  const directives = new Map<string, string[]>();
  for (const line of file('winterdock.service').split('\n')) {
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) directives.set(name, [...(directives.get(name) ?? []), value]);
  }
  return directives;
}

/** Each instruction of the Dockerfile, with lines that go on put together. */
function instructions(): [string, string][] {
  const lines = file('Dockerfile')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n');
  return lines.flatMap((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name === '' ? [] : [[name, rest] as [string, string]];
  });
}

interface Compose {
  services: Record<string, Record<string, unknown> & { environment: Record<string, string>; volumes: string[] }>;
  volumes: Record<string, null>;
  networks: Record<string, null | { internal?: boolean }>;
}

test('every setting that the deployment files give is one, with a value that is allowed', () => {
  const given: Record<string, string> = {};
  for (const [, rest] of instructions().filter(([name]) => name === 'ENV')) {
    for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) given[name] = value;
  }
  for (const line of unit().get('Environment') ?? []) {
    for (const [, name = '', value = ''] of line.matchAll(/(\w+)=(\S+)/g)) given[name] = value;
  }
  const server = (parse(file('compose.yaml')) as Compose).services.winterdock;
  for (const [name, value] of Object.entries(server?.environment ?? {}))
    given[name] = value.replace(/\$\{\w+:-(.*?)\}/, '$1');
  expect(unknownSettings(given)).toEqual([]);
  expect(readConfig(given)).toMatchObject({ publicUrl: 'https://localhost', trustProxy: true, port: 3000 });
});

test('a stop is given as long as the server takes for one, and little more', () => {
  const [seconds] = unit().get('TimeoutStopSec') ?? [];
  const grace = (parse(file('compose.yaml')) as Compose).services.winterdock?.stop_grace_period;
  for (const given of [Number(seconds), Number(/^(\d+)s$/.exec(String(grace))?.[1])]) {
    expect(given).toBeGreaterThan(STOP_SECONDS);
    expect(given).toBeLessThanOrEqual(STOP_SECONDS + 5);
  }
  expect(unit().get('KillMode')).toEqual(['mixed']);
  expect(instructions()).toContainEqual(['STOPSIGNAL', 'SIGTERM']);
});

test('an image runs the packaged folder as a user of its own, who owns the data and nothing else', () => {
  const made = instructions();
  const last = made.slice(made.findLastIndex(([name]) => name === 'FROM'));
  const only = (wanted: string) => last.filter(([name]) => name === wanted).map(([, rest]) => rest);
  expect(only('COPY')).toEqual(['--from=build /src/dist/winterdock /opt/winterdock']);
  expect(only('USER')).toEqual(['10001:10001']);
  expect(only('VOLUME')).toEqual(['/var/lib/winterdock']);
  expect(only('ENV').join(' ')).toContain('WB_DATA=/var/lib/winterdock');
  expect(only('HEALTHCHECK')[0]).toContain('/readyz');
  // The Node that installs is of the line that the package runs on, and nothing that was built here goes in.
  expect(made[0]?.[1]).toMatch(new RegExp(`^node:${process.versions.node.split('.')[0]}-`));
  expect(file('.dockerignore').split('\n')).toEqual(
    expect.arrayContaining(['.git', '.next', '**/node_modules', 'data', 'dist']),
  );
});

test('with compose, nobody reaches the server but through the proxy, and its limits are set', () => {
  const { services, volumes, networks } = parse(file('compose.yaml')) as Compose;
  expect(Object.keys(services)).toEqual(['winterdock', 'proxy']);
  const { winterdock, proxy } = services;
  expect(winterdock).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    networks: ['inside'],
    restart: 'unless-stopped',
  });
  expect(winterdock).not.toHaveProperty('ports');
  expect(winterdock?.mem_limit).toBeDefined();
  // Six threads of each sandbox at most, and those of the server.
  expect(winterdock?.pids_limit).toBeGreaterThan(readConfig({}).maxActive * 6);
  expect(networks.inside).toEqual({ internal: true });
  for (const service of [winterdock, proxy]) {
    for (const mount of service?.volumes ?? []) {
      const [from = ''] = mount.split(':');
      if (from.startsWith('./')) expect(file(from)).toContain('reverse_proxy');
      else expect(Object.keys(volumes)).toContain(from);
    }
  }
});

test('systemd understands the unit, and finds it well closed', (context) => {
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { cwd: ROOT, encoding: 'utf8' });
  const directives = unit();
  expect(directives.get('ExecStart')).toEqual(['/opt/winterdock/bin/winterdock start']);
  expect(directives.get('DynamicUser')).toEqual(['yes']);
  expect(directives.get('StateDirectory')).toEqual(['winterdock']);
  // systemd's own checker cannot be installed beside another init; what is above holds everywhere.
  if (analyze('--version').status !== 0) return context.skip('no systemd here');
  const { stderr } = analyze('verify', './winterdock.service');
  // The folder that it starts is not installed here; nothing else may be said of it.
  const warnings = stderr
    .split('\n')
    .filter((line) => line.includes('winterdock') && !line.includes('is not executable'));
  expect(warnings).toEqual([]);
  expect(analyze('security', '--offline=true', '--threshold=20', './winterdock.service').status).toBe(0);
});

test('operations.md names only settings, scripts, commands, options, files and sections that there are', () => {
  const text = file('docs/operations.md');
  const settings = [...new Set(text.match(/\bWB_[A-Z_]+\b/g))].filter((name) => !name.startsWith('WB_TEST_'));
  expect(unknownSettings(Object.fromEntries(settings.map((name) => [name, '1'])))).toEqual([]);
  expect(settings.length).toBeGreaterThan(12);

  const { scripts } = JSON.parse(file('package.json')) as { scripts: Record<string, string> };
  const run = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
  expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);

  // In code only: "winterdock" in a sentence, a path or a unit is no command.
  const code = [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span ?? '');
  const called = code
    .flatMap((part) => [...part.matchAll(/(?:^|[\n ]|bin\/)winterdock ((?:[a-z][a-z-]*(?: |$|\n))+)([^\n|]*)/g)])
    .map(([, words = '', rest = '']) => ({ words: words.trim().split(/\s+/), rest }))
    .filter(({ words }) => words[0] !== 'winterdock');
  expect(called.length).toBeGreaterThan(10);
  const program = createProgram('0.0.0');
  for (const { words, rest } of called) {
    const command = program.commands.find((one) => one.name() === words[0]);
    expect(command, `winterdock ${words.join(' ')}`).toBeDefined();
    const inner = command?.commands.find((one) => one.name() === words[1]) ?? command;
    const known = [...(inner?.options ?? [])].map(({ long }) => long);
    const given = rest.split('#', 1)[0]?.match(/--[a-z-]+/g) ?? [];
    expect(
      given.filter((option) => !known.includes(option)),
      `winterdock ${words.join(' ')} ${rest}`,
    ).toEqual([]);
  }

  const sections = new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
  for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
    if (target.startsWith('https://')) continue;
    if (target.startsWith('#')) expect([...sections]).toContain(target.slice(1));
    else expect(existsSync(join(ROOT, 'docs', target.replace(/#.*$/, ''))), target).toBe(true);
  }
});
