import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { canMount, withMounts } from '../testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { programOf } from '../testing/program.ts';
import { WORKER_USER } from '../workers/walls/user.ts';

const HOLDER = join(import.meta.dirname, 'testing/lock-holder.ts');
const REFUSED = /^Another Winterdock uses the registry .*$/m;

let root: string;
const servers: ServerProcess[] = [];

const makeRoot = () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-lock-'));
};
const removeRoot = async () => {
  await Promise.all(servers.splice(0).map((server) => server.end('SIGKILL')));
  rmSync(root, { recursive: true, force: true });
};

async function start(folder: string, registry?: string, keys = folder): Promise<ServerProcess> {
  const settings = { WB_KEYS: join(root, keys), ...(registry === undefined ? {} : { WB_REGISTRY: registry }) };
  const server = await spawnServer({ folder: join(root, folder), settings });
  servers.push(server);
  return server;
}

/** Starts a server that is expected to end by itself. */
function startAndEnd(folder: string, registry?: string) {
  const settings = registry === undefined ? {} : { WB_REGISTRY: registry };
  const env = { ...process.env, WB_DATA: join(root, folder), PORT: '0', WB_POOL: '0', ...settings };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [programOf(join(import.meta.dirname, 'server.ts')), '--api-only'],
    { env, encoding: 'utf8', timeout: 120_000 },
  );
  return [status, stdout, stderr];
}

describe('a server in the run that made its registry', () => {
  let first: ServerProcess;
  beforeAll(async () => {
    makeRoot();
    first = await start('one');
  });
  afterAll(removeRoot);

  const at = (name: string) => join(root, name);
  test.each<[string, () => string]>([
    ['its path, in the folder of the other', () => at('one/registry.sqlite')],
    ['another spelling of it', () => `${root}/two/../one/.//registry.sqlite`],
    ['its URL', () => `sqlite://${at('one/registry.sqlite')}`],
    [
      'a link to it',
      () => {
        symlinkSync(at('one/registry.sqlite'), at('link.sqlite'));
        return at('link.sqlite');
      },
    ],
    [
      'a link to a link',
      () => {
        symlinkSync('link.sqlite', at('further.sqlite'));
        return at('further.sqlite');
      },
    ],
    [
      'a link to its folder',
      () => {
        symlinkSync(at('one'), at('folder'));
        return at('folder/registry.sqlite');
      },
    ],
    [
      'a hard link',
      () => {
        linkSync(at('one/registry.sqlite'), at('hard.sqlite'));
        return at('hard.sqlite');
      },
    ],
    [
      'a hard link, with the lock file gone',
      () => {
        rmSync(at('one/lock.sqlite'));
        linkSync(at('one/registry.sqlite'), at('harder.sqlite'));
        return at('harder.sqlite');
      },
    ],
  ])('keeps out one that comes by %s', async (_, registry) => {
    expect(startAndEnd('two', registry())).toEqual([1, '', expect.stringMatching(REFUSED)]);
    const id = `a${Math.random().toString(36).slice(2)}`;
    expect((await first.call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  });

  test('goes on, and what it wrote meanwhile is there after it was killed', async () => {
    await first.end('SIGKILL');
    for (const name of ['hard.sqlite', 'harder.sqlite']) rmSync(at(name));
    const again = await start('one');
    expect((await again.call<unknown[]>('GET', '/api/instances')).json).toHaveLength(8);
  });
});

describe('locks', () => {
  beforeEach(makeRoot);
  afterEach(removeRoot);

  test('a server is refused while another has the registry in its folder, and not afterwards', async () => {
    await (await start('one')).end();
    const other = await start('two', join(root, 'one/registry.sqlite'), 'one');
    expect(startAndEnd('one')).toEqual([1, '', expect.stringMatching(REFUSED)]);
    await other.end('SIGKILL');
    expect((await (await start('one')).call('GET', '/readyz')).status).toBe(200);
  });

  test('a registry that is made through a link is locked, logged and signed where the file is', async () => {
    mkdirSync(join(root, 'disk'));
    writeFileSync(join(root, 'disk/r.sqlite'), '');
    symlinkSync('disk/r.sqlite', join(root, 'link'));
    const first = await start('one', join(root, 'link'));
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true);
    expect(startAndEnd('two', join(root, 'disk/r.sqlite'))).toEqual([1, '', expect.stringMatching(REFUSED)]);
    await first.end();
    expect(readdirSync(root).toSorted()).toEqual(['disk', 'link', 'one']);
    expect(readdirSync(join(root, 'disk')).toSorted()).toEqual(['r.sqlite', 'r.sqlite.head', 'r.sqlite.lock']);
  });

  test('root’s server in the folder of another user keeps the lock that it gives to them', async () => {
    // Only root makes what is another's.
    if (process.getuid?.() !== 0) return;
    const folder = join(root, 'theirs');
    mkdirSync(folder);
    chownSync(folder, WORKER_USER, WORKER_USER);
    const holder = await hold();
    const files = { 'lock.sqlite': folder, 'elsewhere.sqlite.lock': root };
    const lockBoth = () => holder.ask(`lock ${folder} ${join(root, 'elsewhere.sqlite')}`);
    for (const round of ['made', 'found']) {
      expect([round, await lockBoth()]).toEqual([round, 'held']);
      for (const [name, where] of Object.entries(files)) {
        const other = new DatabaseSync(join(where, name), { timeout: 0 });
        expect(() => other.exec('BEGIN EXCLUSIVE'), `${name}, ${round}`).toThrow(/locked/);
        other.close();
      }
      expect(statSync(join(folder, 'lock.sqlite')).uid).toBe(WORKER_USER);
      expect(await holder.ask('release')).toBe('free');
    }
  });

  test.skipIf(!canMount)(
    'without flock a registry is locked by its path, in the run that makes it and later',
    async () => {
      const within = withMounts('mount --bind /dev/null /usr/bin/flock && exec "$0" "$@"');
      const [one, two] = [await hold(within), await hold(within)];
      const path = join(root, 'one/registry.sqlite');
      symlinkSync(path, join(root, 'link'));
      for (const round of ['made', 'found']) {
        expect([round, await one.ask(`lock ${root}/one ${path}`)]).toEqual([round, 'held']);
        for (const name of [path, join(root, 'link')]) {
          expect(await two.ask(`lock ${root}/two ${name}`)).toMatch(/^Another Winterdock uses the registry/);
        }
        expect(await two.ask(`lock ${root}/one ${path}`)).toMatch(/^Another Winterdock uses the data folder/);
        expect(await one.ask('release')).toBe('free');
      }
      expect(await two.ask(`lock ${root}/two ${path}`)).toBe('held');
      expect(await one.ask(`lock ${root}/one ${path}`)).toMatch(/^Another Winterdock uses the registry/);
    },
  );

  const ROUNDS = 15;
  test.each<[string, (round: number) => [string, string]]>([
    [
      'one folder and two hard links of a registry',
      (round) => {
        const [one, two] = [join(root, `a${round}`), join(root, `b${round}`)];
        new DatabaseSync(one).close();
        linkSync(one, two);
        return [`lock ${root}/data ${one}`, `lock ${root}/data ${two}`];
      },
    ],
    [
      'two folders and a registry that neither has made yet, in one of them',
      (round) => {
        const path = join(root, `new${round}/registry.sqlite`);
        return [`lock ${root}/new${round} ${path}`, `lock ${root}/other${round} ${path}`];
      },
    ],
    [
      'two folders and a registry that neither has made yet, elsewhere',
      (round) => {
        mkdirSync(join(root, `in${round}`));
        symlinkSync(`in${round}/r`, join(root, `link${round}`));
        return [`lock ${root}/one ${root}/in${round}/r`, `lock ${root}/two ${root}/link${round}`];
      },
    ],
  ])('of two that begin at the same moment on %s exactly one goes on', async (_, orders) => {
    const [one, two] = [await hold(), await hold()];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [first, second] = orders(round);
      const answers = await Promise.all([one.ask(first), two.ask(second)]);
      expect([round, ...answers.toSorted().reverse()]).toEqual([
        round,
        'held',
        expect.stringMatching(/^Another Winterdock uses the (data folder|registry) /),
      ]);
      await Promise.all([one.ask('release'), two.ask('release')]);
    }
  });

  test('a folder whose lock cannot be had leaves the registry free, and the other way round', async () => {
    const [one, two, three] = [await hold(), await hold(), await hold()];
    const [r, s] = [join(root, 'r'), join(root, 's')];
    expect(await one.ask(`lock ${root}/a ${r}`)).toBe('held');
    expect(await two.ask(`lock ${root}/a ${s}`)).toMatch(/uses the data folder/);
    expect(await three.ask(`lock ${root}/b ${s}`)).toBe('held');
    expect(await two.ask(`lock ${root}/c ${r}`)).toMatch(/uses the registry/);
    expect(await three.ask('release')).toBe('free');
    expect(await two.ask(`lock ${root}/c ${s}`)).toBe('held');
    expect(existsSync(`${s}.lock`)).toBe(true);
  });
});

const holders: ChildProcess[] = [];
afterEach(() => {
  for (const child of holders.splice(0)) child.kill('SIGKILL');
});

/** Starts a process that takes locks when it is told to, perhaps by a command that becomes it. */
async function hold(within: readonly string[] = []): Promise<{ ask(line: string): Promise<string> }> {
  const [command = '', ...args] = [...within, process.execPath, programOf(HOLDER)];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  holders.push(child);
  const lines = createInterface({ input: child.stdout });
  const next = async () => String((await once(lines, 'line'))[0]);
  await next();
  return {
    ask(line) {
      const answer = next();
      child.stdin.write(`${line}\n`);
      return answer;
    },
  };
}
