import { existsSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { stage } from '../testing/stage.ts';
import { formatOutcome, recordedCases } from './testing/recorded-cases.ts';

const at = stage();

test.each(recordedCases('sqlite'))(
  'sqlite3 answers as the real one: $name',
  async ({ name, script, outcome }) => {
    const { stdout, stderr, exitCode } = await at.open(`sqlite-${name}`).exec({ command: script });
    expect(formatOutcome({ stdout, stderr, exitCode })).toBe(outcome);
  },
  120_000,
);

test('another SQLite reads what sqlite3 wrote', async () => {
  const { stdout } = await at.open('sqlite-export').exec({
    command: `sqlite3 a.db "create table t(a, b); insert into t values(1, 'x'), (2.5, x'00ff'); create index i on t(b)"; base64 -w0 a.db`,
  });
  const db = new DatabaseSync(':memory:');
  db.deserialize(Buffer.from(stdout, 'base64'));
  expect(db.prepare('SELECT a, hex(b) AS b FROM t').all()).toEqual([
    { a: 1, b: '78' },
    { a: 2.5, b: '00FF' },
  ]);
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  db.close();
}, 30_000);

test('sqlite3 reaches nothing of the host and nothing of the sandbox’s own file', async () => {
  const sandbox = at.open('sqlite-wall');
  const file = at.file('sqlite-wall');
  const attempts = [
    `sqlite3 ${file} .tables`,
    `sqlite3 :memory: "attach '${file}' as o; select * from o.vfs"`,
    `sqlite3 :memory: "attach 'file:${file}?mode=ro' as o; select * from o.vfs"`,
    `sqlite3 'file:${file}?vfs=unix' 'select * from vfs'`,
    `sqlite3 'file:x?vfs=kvvfs' 'create table t(a)'`,
    'sqlite3 /etc/passwd .dump',
    'sqlite3 :memory: "select readfile(\'/etc/passwd\')"',
    "sqlite3 :memory: \"select writefile('/tmp/winterdock-left', 'x')\"",
    'sqlite3 :memory: "select load_extension(\'/lib/x.so\')"',
    'sqlite3 :memory: ".shell id"',
    'sqlite3 :memory: ".system id"',
    'sqlite3 :memory: ".read |id"',
    'sqlite3 :memory: ".load /lib/x.so"',
    'sqlite3 :memory: ".output |id"',
    'sqlite3 :memory: "vacuum into \'/etc/left.db\'"',
    "sqlite3 :memory: '.output /etc/left' 'select 1'",
  ];
  for (const command of attempts) {
    const { stdout, stderr, exitCode } = await sandbox.exec({ command });
    expect(stdout, command).not.toMatch(/root:|uid=|vfs_node/);
    expect(exitCode, command).not.toBe(0);
    expect(stderr, command).not.toBe('');
  }
  expect(existsSync('/tmp/winterdock-left')).toBe(false);
  expect(readdirSync('/etc').filter((name) => name.startsWith('left'))).toEqual([]);
}, 60_000);

test('a query without an end is ended at the call’s time, and the sandbox goes on', async () => {
  const sandbox = at.open('sqlite-endless');
  await sandbox.exec({ command: "sqlite3 a.db 'create table t(a); insert into t values(1)'" });
  const pid = sandbox.pid;
  const endless = 'with recursive c(x) as (values(1) union all select x + 1 from c) select count(*) from c';
  const { timedOut } = await sandbox.exec({ command: `sqlite3 a.db '${endless}'; echo never`, timeoutMs: 1500 });
  expect(timedOut).toBe(true);
  expect(await at.say(sandbox, 'sqlite3 a.db "select * from t"')).toBe('1\n');
  expect(sandbox.pid).toBe(pid);
}, 30_000);

test('memory, files and output have bounds', async () => {
  const sandbox = at.open('sqlite-bounds');
  const outcomes = [
    "sqlite3 :memory: 'select length(group_concat(hex(zeroblob(30000000)))) from (values(1),(2),(3))'",
    'sqlite3 big.db "create table t(b); with recursive c(x) as (values(1) union all select x + 1 from c where x < 30) insert into t select zeroblob(4000000) from c"',
  ];
  for (const command of outcomes) {
    const { exitCode, stderr } = await sandbox.exec({ command });
    expect(exitCode, command).not.toBe(0);
    expect(stderr, command).toMatch(/out of memory|disk is full|too big/);
  }
  const { truncated, exitCode } = await sandbox.exec({
    command:
      "sqlite3 :memory: 'with recursive c(x) as (values(1) union all select x + 1 from c where x < 300000) select x, hex(x) from c' > /dev/null; sqlite3 :memory: 'select 1'",
  });
  expect([truncated, exitCode]).toEqual([true, 0]);
}, 60_000);

test('the thread of sqlite3 is started by its first use, and ended soon after its last', async () => {
  const sandbox = at.open('sqlite-lazy');
  await sandbox.exec({ command: 'echo 1 | cat; ls; js -e 1' });
  const threads = () => readdirSync(`/proc/${sandbox.pid}/task`).length;
  const before = threads();
  await sandbox.exec({ command: "sqlite3 :memory: 'select 1'" });
  expect(threads()).toBeGreaterThan(before);
  await expect.poll(threads, { timeout: 10_000 }).toBe(before);
}, 30_000);

test('a failed write leaves the file as it was', async () => {
  const sandbox = at.open('sqlite-full', { maxFileBytes: 40_000 });
  await sandbox.exec({ command: "sqlite3 a.db 'create table t(a); insert into t values(1)'" });
  const { exitCode, stderr } = await sandbox.exec({
    command: "sqlite3 a.db 'insert into t select hex(randomblob(60000))'",
  });
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(/EFBIG|full/);
  expect(await at.say(sandbox, "sqlite3 a.db 'select * from t; pragma integrity_check'")).toBe('1\nok\n');
}, 30_000);

test('Python’s sqlite3 refuses what it has not, and reaches nothing but the workspace', async () => {
  const sandbox = at.open('sqlite-python-wall');
  const { stdout, exitCode } = await sandbox.exec({
    command: `python3 - <<'P'
import sqlite3, os
con = sqlite3.connect(':memory:')
def attempt(work):
    try:
        print('did', work())
    except BaseException as error:
        print(type(error).__name__)
attempt(lambda: con.create_function('f', 1, len))
attempt(lambda: con.enable_load_extension(True))
attempt(lambda: con.backup(con))
attempt(lambda: con.execute("attach '${at.file('sqlite-python-wall')}' as o"))
attempt(lambda: sqlite3.connect('/etc/passwd').execute('select * from sqlite_schema').fetchall())
attempt(lambda: con.execute("select load_extension('/x')"))
attempt(lambda: con.execute("select readfile('/etc/passwd')"))
for request in (b'', b'{', b'null', b'[]', b'{"op":"x"}', b'{"op":"fetch","id":9}', b'{"op":"execute","id":1,"sql":"select 1","parameters":[{}]}', b'{"op":"open","path":"/../../etc/passwd"}'):
    fd = os.open('/host/dev/.sqlite', os.O_RDWR)
    os.write(fd, len(request).to_bytes(4, 'big') + request)
    os.close(fd)
    print(b'root:' in open('/host/dev/.sqlite', 'rb').read())
print(con.execute('select 1').fetchone())
P`,
  });
  expect(stdout.split('\n')).toEqual([
    'NotSupportedError',
    'NotSupportedError',
    'NotSupportedError',
    'OperationalError',
    'OperationalError',
    'OperationalError',
    'OperationalError',
    ...Array(8).fill('False'),
    '(1,)',
    '',
  ]);
  expect(exitCode).toBe(0);
}, 60_000);

test('what Python committed stays when its call runs out of time, and a query without an end ends with it', async () => {
  const sandbox = at.open('sqlite-python-time');
  const { timedOut } = await sandbox.exec({
    command: `python3 -c "
import sqlite3
con = sqlite3.connect('a.db')
con.execute('create table t(a)'); con.execute('insert into t values(1)'); con.commit()
con.execute('insert into t values(2)')
con.execute('with recursive c(x) as (values(1) union all select x + 1 from c) select count(*) from c').fetchone()
"`,
    timeoutMs: 12_000,
  });
  expect(timedOut).toBe(true);
  expect(await at.say(sandbox, "sqlite3 a.db 'select * from t'")).toBe('1\n');
}, 60_000);
