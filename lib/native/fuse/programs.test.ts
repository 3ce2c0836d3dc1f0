/** Programs of this machine on a mounted file. Those that are not installed are named. */
import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { whyNotMountable } from '../testing/may-mount.ts';
import { endServedFiles, ServedFile } from '../testing/served-file.ts';

const whyNot = await whyNotMountable();
if (whyNot !== null) process.stdout.write(`${whyNot}\n`);

afterEach(endServedFiles);

const ENVIRONMENT: NodeJS.ProcessEnv = {
  NODE_ENV: 'test',
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' },
};

/** What a script of the shell prints in a folder; throws what it complains of. */
function sh(folder: string, script: string): string {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-ec', script], {
    cwd: folder,
    encoding: 'utf8',
    env: ENVIRONMENT,
  });
  if (status !== 0) throw new Error(`${script}: ${stdout}${stderr}`);
  return stdout.trim();
}

/** Whether a program runs, not only whether there is one of its name. */
function has(program: string): boolean {
  const isThere = spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  if (!isThere)
    process.stdout.write(`Not run: ${program} in lib/native/fuse/programs.test.ts, which is not installed.\n`);
  return isThere;
}

async function started(): Promise<ServedFile> {
  const served = new ServedFile();
  await served.start();
  return served;
}

describe.runIf(whyNot === null)('on a mounted file', () => {
  test.runIf(has('git'))(
    '20. git commits, and finds its repository whole and unchanged after a kill and a rest',
    async () => {
      const served = await started();
      sh(
        served.workspace,
        `git init -q -b main . && mkdir src && for n in $(seq 60); do echo "file $n" > src/$n; done
       git add . && git commit -qm one && git checkout -qb other && git mv src/1 src/one && git commit -qm two
       git checkout -q main && git merge -q other && git gc -q && echo more >> src/2 && git commit -qam three`,
      );
      await served.commit();
      await served.kill();
      await served.start();
      const state = 'git fsck --strict 2>&1; git status --porcelain; git log --oneline --format=%s';
      expect(sh(served.workspace, state)).toBe('three\ntwo\none');
      await served.remount();
      // Nothing is hashed again: numbers and times of files are what they were.
      expect(sh(served.workspace, 'git diff-files --name-only')).toBe('');
      expect(sh(served.workspace, state)).toBe('three\ntwo\none');
    },
  );

  test.runIf(has('python3'))('20. Python writes, locks, maps and lists files', async () => {
    const served = await started();
    const script = `
import fcntl, mmap, os, shutil, tempfile, tarfile
os.makedirs('a/b/c'); open('a/b/c/f', 'w').write('x' * 100000)
with open('m', 'wb') as f: f.truncate(200000)
with open('m', 'r+b') as f:
    fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
    m = mmap.mmap(f.fileno(), 0); m[70000:70005] = b'hello'; m.flush(); m.close()
assert open('m', 'rb').read()[70000:70005] == b'hello'
with tarfile.open('t.tar', 'w') as t: t.add('a')
shutil.rmtree('a')
with tarfile.open('t.tar') as t: t.extractall()
assert os.stat('a/b/c/f').st_size == 100000
t = tempfile.TemporaryFile(dir='.'); t.write(b'nameless'); t.seek(0); assert t.read() == b'nameless'
os.setxattr('m', 'user.k', b'v'); assert os.getxattr('m', 'user.k') == b'v' and os.listxattr('m') == ['user.k']
os.removexattr('m', 'user.k'); assert os.listxattr('m') == []
os.utime('m', ns=(1, 1234567890123456789)); assert os.stat('m').st_mtime_ns == 1234567890123456789
os.mkfifo('p'); os.link('m', 'n'); assert os.stat('m').st_nlink == 2
os.posix_fallocate(os.open('h', os.O_RDWR | os.O_CREAT), 0, 5000); assert os.stat('h').st_size == 5000
print(sorted(os.listdir('.')))
`;
    expect(sh(served.workspace, `cat > s.py <<'END'\n${script}END\npython3 s.py`)).toBe(
      "['a', 'h', 'm', 'n', 'p', 's.py', 't.tar']",
    );
    await served.remount();
    expect(
      sh(served.workspace, "python3 -c \"import os; print(os.stat('m').st_nlink, os.stat('n').st_mtime_ns)\""),
    ).toBe('2 1234567890123456789');
  });

  test.runIf(has('python3')).each(['delete', 'wal'])(
    '20. a SQLite database with the journal mode %s keeps what was committed through a kill',
    async (mode) => {
      const served = await started();
      const sql = (statements: string) =>
        sh(
          served.workspace,
          `python3 - <<'END'
import sqlite3
db = sqlite3.connect('guest.db', isolation_level=None)
db.execute('PRAGMA synchronous = EXTRA')
${statements}
END`,
        );
      sql(`db.execute('PRAGMA journal_mode = ${mode}')
db.execute('CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)')
for n in range(150): db.execute('INSERT INTO t VALUES (?, randomblob(3000))', (n,))`);
      await served.kill();
      await served.start();
      expect(
        sql(
          `print(db.execute('SELECT count(*), sum(n) FROM t').fetchone(), db.execute('PRAGMA integrity_check').fetchone()[0])`,
        ),
      ).toBe('(150, 11175) ok');
      sql(`db.execute('DELETE FROM t WHERE n % 2'); db.execute('VACUUM')`);
      await served.remount();
      expect(
        sql(
          `print(db.execute('SELECT count(*) FROM t').fetchone()[0], db.execute('PRAGMA integrity_check').fetchone()[0])`,
        ),
      ).toBe('75 ok');
    },
  );

  test.runIf(has('gcc'))('20. a program is compiled, linked, made executable and run, also after a rest', async () => {
    const served = await started();
    sh(
      served.workspace,
      `printf '#include <stdio.h>\\nint f(void);int main(void){printf("%%d\\\\n", f());return 0;}\\n' > m.c
       echo 'int f(void){return 42;}' > f.c; gcc -c m.c f.c; ar rcs libf.a f.o; gcc m.o -L. -lf -o program`,
    );
    expect(sh(served.workspace, './program')).toBe('42');
    await served.remount();
    expect(sh(served.workspace, './program')).toBe('42');
  });
});
