import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { vfsPath } from '../../../vfs/testing/tmp-files.ts';
import type { InstanceProcess } from '../../../workers/protocol/instance.ts';
import { pssMib, stage } from '../../../workers/testing/stage.ts';
import { formatOutcome, recordedCases } from './testing/recorded-cases.ts';

const at = stage();

test.each(recordedCases('sqlite'))('sqlite3 answers as the real one: $name', async ({ name, script, outcome }) => {
  const { stdout, stderr, exitCode } = await at.open(`sqlite-${name}`).exec({ command: script });
  expect(formatOutcome({ stdout, stderr, exitCode })).toBe(outcome);
});

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
});

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
});

test('a database in WAL mode is read and written by the command and by Python, with what its log alone holds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-wal-'));
  const file = join(folder, 'w.db');
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a); INSERT INTO t VALUES ('log')");
  const sandbox = at.open('sqlite-wal');
  for (const name of ['w.db', 'w.db-wal'])
    await sandbox.exec({ command: `cat > ${name}`, stdin: readFileSync(join(folder, name)) });
  db.close();
  rmSync(folder, { recursive: true });
  const python = (work: string) => `python3 -c "
import sqlite3
con = sqlite3.connect('w.db')
${work}
print(con.execute('select group_concat(a) from t').fetchone()[0]); con.close()"`;
  expect(await at.say(sandbox, python("con.execute('insert into t values(1)'); con.commit()"))).toBe('log,1\n');
  expect(await at.say(sandbox, "sqlite3 w.db 'insert into t values(2); pragma journal_mode'")).toBe('wal\n');
  expect(await at.say(sandbox, python('pass'))).toBe('log,1,2\n');
});

test('a query without an end is ended at the call’s time, and the sandbox goes on', async () => {
  const sandbox = at.open('sqlite-endless');
  await sandbox.exec({ command: "sqlite3 a.db 'create table t(a); insert into t values(1)'" });
  const pid = sandbox.pid;
  const endless = 'with recursive c(x) as (values(1) union all select x + 1 from c) select count(*) from c';
  const { timedOut } = await sandbox.exec({ command: `sqlite3 a.db '${endless}'; echo never`, timeoutMs: 1500 });
  expect(timedOut).toBe(true);
  expect(await at.say(sandbox, 'sqlite3 a.db "select * from t"')).toBe('1\n');
  expect(sandbox.pid).toBe(pid);
});

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
});

test('the thread of sqlite3 is started by its first use, and ended soon after its last', async () => {
  const sandbox = at.open('sqlite-lazy');
  await sandbox.exec({ command: 'echo 1 | cat; ls; js -e 1' });
  const threads = () => readdirSync(`/proc/${sandbox.pid}/task`).length;
  const before = threads();
  await sandbox.exec({ command: "sqlite3 :memory: 'select 1'" });
  expect(threads()).toBeGreaterThan(before);
  await expect.poll(threads).toBe(before);
});

test('a failed write leaves the file as it was', async () => {
  const sandbox = at.open('sqlite-full', { maxFileBytes: 40_000 });
  await sandbox.exec({ command: "sqlite3 a.db 'create table t(a); insert into t values(1)'" });
  const { exitCode, stderr } = await sandbox.exec({
    command: "sqlite3 a.db 'insert into t select hex(randomblob(60000))'",
  });
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(/EFBIG|full/);
  expect(await at.say(sandbox, "sqlite3 a.db 'select * from t; pragma integrity_check'")).toBe('1\nok\n');
});

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
    fd = os.open('/dev/.sqlite', os.O_RDWR)
    os.write(fd, len(request).to_bytes(4, 'big') + request)
    os.close(fd)
    print(b'root:' in open('/dev/.sqlite', 'rb').read())
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
});

test('what Python committed stays when its call runs out of time, and a query without an end ends with it', async () => {
  const sandbox = at.open('sqlite-python-time');
  const command = `python3 -c "
import sqlite3
con = sqlite3.connect('a.db')
con.execute('create table t(a)'); con.execute('insert into t values(1)'); con.commit()
con.execute('insert into t values(2)')
con.execute('with recursive c(x) as (values(1) union all select x + 1 from c) select count(*) from c').fetchone()
"`;
  const rowsAfter = async (timeoutMs: number) => {
    expect(await sandbox.exec({ command: `rm -f a.db; ${command}`, timeoutMs })).toMatchObject({ timedOut: true });
    return at.say(sandbox, "sqlite3 a.db 'select * from t'");
  };
  // A busy machine takes longer until Python has committed, and the query would use all the time that it may.
  let kept = await rowsAfter(3000);
  for (let timeoutMs = 8000; kept !== '1\n' && timeoutMs < 40_000; timeoutMs *= 2) kept = await rowsAfter(timeoutMs);
  expect(kept).toBe('1\n');
});

const put = (path: string, bytes: number) =>
  ({ op: 'put', volume: 'workspace', path: vfsPath(path), content: Buffer.alloc(bytes) }) as const;

/** Python that is where it wants to be: its output comes at its end, its memory shows at once. */
const THERE = 'held = b"x" * 100_000_000';

async function isThere(sandbox: InstanceProcess): Promise<void> {
  const largest = () => Math.max(...sandbox.members.map(({ pid }) => pssMib(pid)));
  await expect.poll(largest).toBeGreaterThan(150);
}

test('a commit for which there is no room is rolled back in Python, and the connection goes on', async () => {
  const sandbox = at.open('sqlite-python-full', { maxFileBytes: 200_000 });
  const { stdout, stderr } = await sandbox.exec({
    command: `python3 - <<'P'
import sqlite3
con = sqlite3.connect('a.db')
con.execute('create table t(a, b)')
con.execute("insert into t values(1, 'small')")
con.commit()
reading = con.execute('with recursive c(x) as (values(1) union all select x + 1 from c where x < 2000) select x, (select count(*) from t) from c')
print(reading.fetchone())
try:
    with con:
        con.executemany('insert into t values(?, ?)', [(n, 'x' * 1000) for n in range(300)])
except sqlite3.OperationalError as error:
    print(error.sqlite_errorname, error, con.in_transaction)
print(con.execute('select count(*) from t').fetchone(), con.execute('pragma integrity_check').fetchone())
con.execute("insert into t values(2, 'fits')")
con.commit()
print([row[0] for row in con.execute('select b from t')])
P`,
  });
  expect([stdout, stderr]).toEqual([
    "(1, 1)\nSQLITE_FULL database or disk is full False\n(1,) ('ok',)\n['small', 'fits']\n",
    '',
  ]);
  expect(await at.say(sandbox, 'sqlite3 a.db "select b from t; pragma integrity_check"')).toBe('small\nfits\nok\n');
});

test('a process that is killed while Python writes a database leaves it as it was, whole', async () => {
  const sandbox = at.open('sqlite-killed');
  await sandbox.exec({ command: "sqlite3 a.db 'create table t(a); insert into t values(1)'" });
  const dying = sandbox.exec({
    command: `python3 - <<'P'
import sqlite3
con = sqlite3.connect('a.db')
for n in range(10 ** 9):
    con.executemany('insert into t values(?)', [(m,) for m in range(500)])
    con.commit()
    ${THERE}
P`,
  });
  dying.catch(() => {});
  await isThere(sandbox);
  process.kill(sandbox.pid, 'SIGKILL');
  await expect(dying).rejects.toMatchObject({ code: 'conflict' });
  await sandbox.ended;
  const after = at.open('sqlite-killed');
  expect(await at.say(after, "sqlite3 a.db 'select * from t; pragma integrity_check'; ls -A")).toBe('1\nok\na.db\n');
});

/** Python that has read a database, and goes on when there is a file `go`. */
const READS_AND_WAITS = `python3 - <<'P'
import sqlite3, os, time
con = sqlite3.connect('a.db')
con.execute('select * from t').fetchall()
BEFORE
${THERE}
while not os.path.exists('/workspace/go'): time.sleep(0.05)
AFTER
P`;

test('of two calls that write one database at a time, none loses what the other has committed', async () => {
  const write = "con.execute('insert into t values(3)'); con.commit()";
  const late = `try:
    ${write}
except sqlite3.OperationalError as error:
    print(error.sqlite_errorname, error)
print(con.execute('select a from t').fetchall())
${write}`;
  const python = async (sandbox: InstanceProcess, before: string, after: string) => {
    const command = READS_AND_WAITS.replace('BEFORE', before).replace('AFTER', after);
    const outcome = sandbox.exec({ command, timeoutMs: 50_000 });
    outcome.catch(() => {});
    await isThere(sandbox);
    return { outcome };
  };
  // It writes after the other: it is told, sees what the other wrote, and can do it again.
  const [sandbox, other] = [at.open('sqlite-two'), at.open('sqlite-two-late')];
  for (const each of [sandbox, other])
    await each.exec({ command: "sqlite3 a.db 'create table t(a); insert into t values(1)'" });
  const first = await python(sandbox, '', late);
  expect(await at.say(sandbox, "sqlite3 a.db 'insert into t values(2)'")).toBe('');
  await sandbox.write(put('/go', 1));
  expect(await first.outcome).toMatchObject({
    stdout: 'SQLITE_BUSY database is locked\n[(1,), (2,)]\n',
    stderr: '',
    exitCode: 0,
  });
  expect(await at.say(sandbox, "sqlite3 a.db 'select a from t; pragma integrity_check'")).toBe('1\n2\n3\nok\n');
  // It has written before the other, whose commit comes first: nothing of it is kept.
  const second = await python(other, "con.execute('insert into t values(4)'); con.commit()", '');
  expect(await at.say(other, "sqlite3 a.db 'insert into t values(5)'")).toBe('');
  await other.write(put('/go', 1));
  await expect(second.outcome).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('/a.db was changed by another call'),
  });
  expect(await at.say(other, "sqlite3 a.db 'select a from t; pragma integrity_check'")).toBe('1\n5\nok\n');
});

test('a database that is larger than may be open says so, in the shell and in Python', async () => {
  const sandbox = at.open('sqlite-large', { policy: 'posix', maxFileBytes: 80 * 1024 * 1024 });
  const bytes = 64 * 1024 * 1024 + 4096;
  await sandbox.write(put('/large.db', bytes));
  const why = `unable to open database file: it has ${bytes} bytes, and all databases that are open at a time may have 67108864`;
  const shell = await sandbox.exec({ command: 'sqlite3 large.db .tables' });
  expect([shell.stderr, shell.exitCode]).toEqual([expect.stringContaining(why), 1]);
  const python = await sandbox.exec({ command: 'python3 -c "import sqlite3; sqlite3.connect(\'large.db\')"' });
  expect([python.stderr, python.exitCode]).toEqual([expect.stringContaining(`OperationalError: ${why}`), 1]);
});
