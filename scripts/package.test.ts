import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
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
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from './build.ts';
import { beside, cutOff, elsewhere, owner, run, start } from './package/elsewhere.ts';
import { MOST_BYTES } from './package/folder.ts';

/** As `npm run package` does. */
const SCRIPT = fileURLToPath(new URL('./package.ts', import.meta.url));
const PACKAGE = [process.execPath, '--disable-warning=ExperimentalWarning', SCRIPT];
const KEY = 'a-key-that-only-tests-know';
/** Making it reads some four thousand files, and the first start compiles everything. */
const _SLOW_MS = 240_000;

/** A folder with spaces in its path, which belongs to somebody else and may not be written. */
let place: string;
let target: string;
let home: string;
let made: ReturnType<typeof run>;

const write = (path: string, mode: string) => run(['chmod', '-R', mode, path]);

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'winterdock elsewhere '));
  chmodSync(place, 0o755);
  target = join(place, 'a package');
  home = join(place, 'home');
  mkdirSync(home, { mode: 0o700 });
  // A link, as systemd makes the data folder of a service.
  mkdirSync(join(home, 'private'));
  symlinkSync('private', join(home, 'data'));
  if (owner !== null) for (const path of [home, join(home, 'private')]) chownSync(path, owner, owner);
  ensureBuilt();
  made = run([...PACKAGE, target]);
  write(target, 'a-w');
});
afterAll(() => {
  write(target, 'u+w');
  rmSync(place, { recursive: true, force: true });
});

/** Every file with its size and time: what is in it, and whether somebody wrote there. */
function contents(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const { size, mtimeMs, mode } = statSync(path);
    return `${path.slice(folder.length + 1)} ${size} ${mtimeMs} ${mode}`;
  });
}

test('a package is one folder of at most 350 MiB, Node included, without a compiler or a test in it', () => {
  expect(made.stderr).toBe('');
  expect(made.status).toBe(0);
  const bytes = contents(target).reduce((sum, line) => sum + Number(/ (\d+) [\d.]+ \d+$/.exec(line)?.[1]), 0);
  expect(bytes).toBeLessThan(MOST_BYTES);
  expect(made.stdout).toContain(`${target}: `);
  const names = contents(target).map((line) => line.replace(/ \d+ [\d.]+ \d+$/, ''));
  expect(
    names.filter((name) =>
      /\.(test|spec)\.|^lib\/(.*\/)?testing\/|node_modules\/(@next\/swc|typescript|vitest|@biomejs)/.test(name),
    ),
  ).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(['bin/winterdock', 'docs/operations.md', 'LICENSE', 'runtime/node']));
});

test('a package replaces an earlier one, and nothing else', () => {
  const papers = join(place, 'papers');
  mkdirSync(papers);
  writeFileSync(join(papers, 'letter'), 'dear');
  const refused = run([...PACKAGE, papers]);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toContain('no package of Winterdock');
  expect(readdirSync(papers)).toEqual(['letter']);
});

/** Fetches a page, and all that it loads, as a browser would. Runs where the server does. */
const VISIT = `
const [origin, key] = process.argv.slice(1);
const headers = { authorization: 'Bearer ' + key };
const get = async (path) => {
  const answer = await fetch(new URL(path, origin), { headers });
  return { path, status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};
const page = await get('/');
const paths = [...new Set(page.text.match(/\\/_next\\/static\\/[^"'\\\\ ]+?\\.(?:css|js|woff2)/g))];
const loaded = await Promise.all([...paths, '/favicon.ico', '/manifest.webmanifest', '/openapi.json', '/readyz'].map(get));
const tools = await fetch(new URL('/api/mcp', origin), {
  method: 'POST',
  headers: { ...headers, accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
}).then((answer) => answer.text());
const elsewhere = await fetch('http://192.0.2.1/', { signal: AbortSignal.timeout(1000) }).then(() => 'reached', () => 'not reached');
console.log(JSON.stringify({
  page: { status: page.status, title: /<title>([^<]*)/.exec(page.text)?.[1] },
  failed: loaded.filter(({ status, text }) => status !== 200 || text === '').map(({ path, status }) => path + ' ' + status),
  types: [...new Set(loaded.map(({ path, type }) => path.split('.').at(-1) + ' ' + type))],
  tools: tools.match(/winterdock_exec/g)?.length,
  elsewhere,
}));
`;

/** Asks a store that is not there, without credentials and with some. */
const S3 = `
const { openObjectStore } = await import(process.argv[1] + '/lib/storage/object-store/open-store.ts');
const connection = { endpoint: 'http://127.0.0.1:9', region: 'us-east-1', pathStyle: true, encryption: null, credentials: {} };
const asked = async () => {
  const store = await openObjectStore('s3://bucket/prefix', connection);
  const away = await store.head('drawers/cold/a').then(String, (error) => error.extra?.away ?? error.stack);
  await store.close();
  return away;
};
process.env.AWS_EC2_METADATA_DISABLED = 'true';
const without = await asked();
process.env.AWS_ACCESS_KEY_ID = 'a';
process.env.AWS_SECRET_ACCESS_KEY = 'b';
console.log(without, await asked());
`;

test('it runs in another place, as another user, from a folder that may not be written, with no network', async () => {
  const before = contents(target);
  const link = join(place, 'winterdock');
  symlinkSync(join(target, 'bin', 'winterdock'), link);
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: home,
    WB_DATA: join(home, 'data'),
    WB_ADMIN_KEY: KEY,
    WB_COLD_URL: `file://${join(home, 'store').replaceAll(' ', '%20')}`,
    PORT: '0',
    // Nothing is fetched by a way that a proxy would have opened.
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
  };
  const server = start([...elsewhere, link, 'start'], env);
  const ended = once(server, 'exit');
  let output = '';
  const take = (chunk: Buffer) => {
    output += chunk.toString();
  };
  server.stdout?.on('data', take);
  server.stderr?.on('data', take);
  const url = await new Promise<string>((resolve, reject) => {
    ended.then(() => reject(new Error(output)), reject);
    server.stdout?.on('data', () => {
      const ready = /^ready (http:\S+)$/m.exec(output);
      if (ready?.[1] !== undefined) resolve(ready[1]);
    });
  });
  try {
    const outputOf = (...args: string[]) => {
      const mine = { ...env, WINTERDOCK_URL: url, WINTERDOCK_KEY: KEY };
      const { status, stdout, stderr } = run([...beside(server.pid), link, ...args], mine);
      if (status !== 0) throw new Error(`${args.join(' ')}: ${status}\n${stdout}${stderr}`);
      return stdout;
    };
    writeFileSync(join(place, 'key'), KEY, { mode: 0o644 });
    outputOf('login', url, '--key-file', join(place, 'key'));
    outputOf('create', 'sess-841', '--tenant', 'acme');
    // The shell, its commands that are loaded late, and both languages: each has files of its own to be found.
    const exec = (command: string) => outputOf('exec', 'sess-841', command);
    expect(exec('echo hello > note; js -e "console.log(6 * 7)"; tar cz note | tar tz')).toBe('42\nnote\n');
    expect(exec('python3 -c "import json; print(json.dumps({\\"a\\": 1}))" | jq .a')).toBe('1\n');
    expect(exec('sqlite3 x.db "select 6 * 7"')).toBe('42\n');
    expect(outputOf('eval', 'sess-841', '6 * 7')).toBe('42\n');
    // A reader for what rests, a process for bundles, and what is archived is expanded.
    outputOf('suspend', 'sess-841');
    expect(outputOf('files', 'get', 'sess-841', 'note')).toBe('hello\n');
    outputOf('ship', 'sess-841', join(home, 'sess-841.wbundle'));
    expect(outputOf('inspect', join(home, 'sess-841.wbundle'))).toMatch(/^verified\s+yes$/m);
    // More than the server moves by itself: a process for each way, into the store and out of it.
    const hash = exec('head -c 5000000 /dev/urandom > large; sha256sum large');
    outputOf('suspend', 'sess-841');
    outputOf('freeze', 'sess-841');
    rmSync(join(home, 'data', 'cold', 'sess-841.sqlite'));
    expect(exec('sha256sum large')).toBe(hash);
    outputOf('archive', 'sess-841', '--yes');
    expect(outputOf('files', 'get', 'sess-841', 'note')).toBe('hello\n');
    // The operators' commands, beside the server.
    expect(outputOf('doctor')).toContain('Nothing wrong was seen.');
    outputOf('backup', join(home, 'kept'));
    expect(outputOf('ledger-verify')).toContain('Proved: no line was changed');
    expect(
      outputOf(
        'restore-backup',
        '--from',
        join(home, 'kept'),
        '--to',
        join(home, 'one.sqlite'),
        '--instance',
        'sess-841',
      ),
    ).toContain('Wrote the file');
    // The process that makes backups for the server.
    outputOf('backups', 'set', '--target', join(home, 'scheduled'));
    const { id } = JSON.parse(outputOf('backups', 'make', '--json')) as { id: string };
    const backup = () => JSON.parse(outputOf('backups', 'show', id, '--json')) as { state: string; error: unknown };
    await expect.poll(() => backup().state, { timeout: 240_000, interval: 1000 }).toMatch(/^(made|failed)$/);
    expect(backup()).toMatchObject({ state: 'made', error: null });
    // What speaks S3 is loaded only for s3://, and its ways to find credentials only at its first request.
    const s3 = run(
      [
        ...beside(server.pid),
        join(target, 'runtime', 'node'),
        '--no-warnings',
        '--input-type=module',
        '-e',
        S3,
        target,
      ],
      env,
    );
    expect([s3.stderr, s3.stdout]).toEqual(['', 'refused unreachable\n']);
    const visit = run(
      [...beside(server.pid), join(target, 'runtime', 'node'), '--input-type=module', '-e', VISIT, url, KEY],
      env,
    );
    expect(visit.stderr).toBe('');
    const seen = JSON.parse(visit.stdout);
    expect(seen).toMatchObject({ page: { status: 200, title: expect.stringContaining('Overview') }, failed: [] });
    // What the MCP endpoint loads with its first message.
    expect(seen.tools).toBeGreaterThan(0);
    expect(seen.types).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^css text\/css/),
        expect.stringMatching(/^js .*javascript/),
        expect.stringMatching(/^woff2 font/),
      ]),
    );
    if (cutOff) expect(seen.elsewhere).toBe('not reached');
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
  expect([server.exitCode, server.signalCode]).toEqual([0, null]);
  // Nobody complained, of a place that may not be written neither. A first page may take its time on a busy machine.
  const expected =
    /^(?:(?:Winterdock serves|Walls around sandboxes:|Sign in:| {9}\(works|ready) .*|\{.*"msg":"a request held up all others"\})\n/gm;
  expect(output.replace(expected, '')).toBe('');
  expect(contents(target)).toEqual(before);
});
