import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig, unknownSettings } from '../lib/base/config.ts';
import { createProgram } from '../lib/cli/program.ts';
import { STOP_MS } from '../lib/front/server-process.ts';
import { lacksForSeveral } from '../lib/hosts/needs-of-several.ts';
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

describe('with compose.fleet.yaml', () => {
  const NAMES = ['one', 'two', 'three'];
  const { services, volumes, networks } = parse(file('compose.fleet.yaml'), { merge: true }) as Compose;
  const servers = NAMES.map((name) => services[name]);
  /** Settings as a container has them: what is asked of whoever starts it is given. */
  const settingsOf = (service: Compose['services'][string] | undefined) =>
    Object.fromEntries(
      Object.entries(service?.environment ?? {}).map(([name, value]) => [
        name,
        value.replace(/\$\{\w+:-(.*?)\}/, '$1').replace(/\$\{\w+:\?.*?\}/, 'c0ffee'),
      ]),
    );

  test('three servers have what several need, their own name, address and disk, and everything else alike', () => {
    expect(Object.keys(services)).toEqual([...NAMES, 'database', 'proxy']);
    const own = new Set<string>();
    const shared = servers.map((service, at) => {
      const settings = settingsOf(service);
      expect(unknownSettings(settings)).toEqual([]);
      const config = readConfig({ ...settings, WB_DATA: '/var/lib/winterdock' });
      expect(lacksForSeveral(config)).toEqual([]);
      expect([config.hostName, config.hostRow.url]).toEqual([NAMES[at], `http://${NAMES[at]}:3000`]);
      const [data = '', ...others] = service?.volumes ?? [];
      expect(data).toBe(`${NAMES[at]}:/var/lib/winterdock`);
      own.add(data);
      const { WB_HOST_NAME: _name, WB_HOST_URL: _url, ...same } = settings;
      const kept = Object.entries(service ?? {}).filter(
        ([name]) => !['environment', 'volumes', 'depends_on'].includes(name),
      );
      return { same, others, rest: Object.fromEntries(kept) };
    });
    expect(own.size).toBe(NAMES.length);
    for (const one of shared) expect(one).toEqual(shared[0]);
  });

  test('the image has each folder that they share, and each volume is one', () => {
    const made = instructions().find(([name, rest]) => name === 'RUN' && rest.includes('install --directory'))?.[1];
    for (const service of Object.values(services)) {
      for (const mount of service.volumes) {
        const [from = '', to = ''] = mount.split(':');
        if (from.startsWith('./')) expect(file(from)).toContain('reverse_proxy');
        else expect(Object.keys(volumes)).toContain(from);
        if (to.startsWith('/var/lib/winterdock')) expect(made?.split(/\s+/)).toContain(to);
      }
    }
    const [settings] = servers.map(settingsOf);
    const paths = [settings?.WB_KEYS, new URL(settings?.WB_COLD_URL ?? '').pathname];
    expect(servers[0]?.volumes.slice(1).map((mount) => mount.split(':')[1])).toEqual(paths);
  });

  test('nobody reaches a server or the database but through the proxy, which asks those that are ready', () => {
    for (const service of servers) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: (parse(file('compose.yaml')) as Compose).services.winterdock?.stop_grace_period,
      });
      expect(service?.pids_limit).toBeGreaterThan(readConfig({}).maxActive * 6);
    }
    for (const [name, service] of Object.entries(services)) {
      expect([name, service.networks]).toEqual([name, name === 'proxy' ? ['inside', 'outside'] : ['inside']]);
      expect([name, 'ports' in service]).toEqual([name, name === 'proxy']);
    }
    expect(networks.inside).toEqual({ internal: true });
    const upstreams = services.proxy?.environment.WINTERDOCK_UPSTREAMS?.split(' ');
    expect(upstreams).toEqual(NAMES.map((name) => `${name}:3000`));
    expect(file('Caddyfile.fleet')).toMatch(
      /reverse_proxy \{\$WINTERDOCK_UPSTREAMS:[^}]+\} \{\n\t\tlb_policy ip_hash\n\t\thealth_uri \/readyz\n/,
    );
  });

  test('the servers have connections to the database for all of them', () => {
    const {
      POSTGRES_USER: user,
      POSTGRES_DB: name,
      POSTGRES_PASSWORD: password,
    } = services.database?.environment ?? {};
    const [first] = servers;
    expect(first?.environment.WB_REGISTRY).toBe(`postgres://${user}:${password}@database:5432/${name}`);
    const { registry } = readConfig(settingsOf(first));
    if (registry.driver !== 'postgres') throw new Error('It is a file.');
    // PostgreSQL's own limit, and the three that a server has beside its pool (docs/settings.md).
    expect(NAMES.length * (registry.connections + 3)).toBeLessThan(100);
  });
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
