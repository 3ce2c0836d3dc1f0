/** The files of a sandbox as Python's library sees them: the shell's own names, and nothing beside them. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

test('what Python writes to /tmp is there for the shell, by whichever function it was made', async () => {
  const [made, seen] = await at.runAll(
    'tmp-files',
    `python3 - <<'X'
import os, pathlib, tempfile
pathlib.Path('/tmp/touched').touch()
with open('/tmp/a', 'w') as f: f.write('moved')
os.rename('/tmp/a', '/tmp/b')
pathlib.Path('/tmp/folder').mkdir(exist_ok=True)
os.symlink('/tmp/b', '/tmp/folder/link')
with tempfile.NamedTemporaryFile('w', suffix='.txt', delete=False) as f: f.write('kept'); print(f.name)
print(sorted(os.listdir(pathlib.Path('/tmp')))[-3:], os.path.exists('/tmp/touched'))
X`,
    'cat /tmp/b /tmp/folder/link /tmp/tmp*.txt; ls /tmp | grep -v txt',
  );
  expect(made?.stderr).toBe('');
  expect(made?.stdout).toMatch(/^\/tmp\/tmp\w+\.txt\n\['folder', 'tmp\w+\.txt', 'touched'\] True\n$/);
  expect(seen?.stdout).toBe('movedmovedkeptb\nfolder\ntouched\n');
});

test('a walk gives the names that the shell knows, with every option of the library', async () => {
  const [, walked] = await at.runAll(
    'walks',
    'mkdir -p src/deep /tmp/t; touch src/a.py src/deep/B.PY /tmp/t/c.py',
    `python3 - <<'X'
import glob, os
from pathlib import Path
print(glob.glob('/workspace/src/*.py'), glob.glob('/tmp/**/*.py', recursive=True), sorted(glob.glob('src/**/*', recursive=True)))
print(sorted(map(str, Path('/workspace/src').rglob('*.py', case_sensitive=False))), [str(p) for p in Path('src').glob('*.py')])
print(list(os.walk('/tmp/t')), [e.path for e in os.scandir('/workspace/src') if e.is_file()])
print(Path('/tmp/t/c.py').exists(follow_symlinks=False), Path('src').resolve(), Path.cwd(), sorted(os.listdir('/'))[-3:])
X`,
  );
  expect(walked).toMatchObject({ stderr: '', exitCode: 0 });
  expect(walked?.stdout.split('\n')).toEqual([
    "['/workspace/src/a.py'] ['/tmp/t/c.py'] ['src/a.py', 'src/deep', 'src/deep/B.PY']",
    "['/workspace/src/a.py', '/workspace/src/deep/B.PY'] ['src/a.py']",
    "[('/tmp/t', [], ['c.py'])] ['/workspace/src/a.py']",
    "True /workspace/src /workspace ['tmp', 'usr', 'workspace']",
    '',
  ]);
});

test('a script finds what lies beside it by __file__, and its names are its own', async () => {
  const [, ran, traced, inline] = await at.runAll(
    'names',
    'mkdir -p /tmp/app; echo data > /tmp/app/data.txt; printf "def f():\\n    raise KeyError(1)\\n" > /tmp/app/other.py',
    `cat > /tmp/app/main.py <<'X'
from pathlib import Path
print((Path(__file__).parent / 'data.txt').read_text().strip(), __file__, __name__)
print([name for name in dir() if not name.startswith('__')])
X
cd /tmp && python3 app/main.py`,
    'cd /tmp/app && echo "import other; other.f()" > run.py && python3 run.py 2>&1 | grep File',
    'python3 -c "print(os.getcwd())" 2>&1 | tail -1; python3 -c "print(__file__)" 2>&1 | tail -1',
  );
  expect(ran).toMatchObject({ stdout: "data /tmp/app/main.py __main__\n['Path']\n", stderr: '' });
  expect(traced?.stdout).toBe(
    '  File "/tmp/app/run.py", line 1, in <module>\n  File "/tmp/app/other.py", line 2, in f\n',
  );
  expect(inline?.stdout).toBe(
    "NameError: name 'os' is not defined. Did you forget to import 'os'?\nNameError: name '__file__' is not defined. Did you mean: '__name__'?\n",
  );
});

test('a file that Python cannot keep is refused', async () => {
  const [refused] = await at.runAll(
    'refused',
    `python3 - <<'X'
import pathlib, os
for make in (lambda: pathlib.Path('/lost').touch(), lambda: os.mkdir('/lost'), lambda: open('/lost', 'w').close()):
    try: make(); print('made')
    except OSError as error: print(type(error).__name__)
X`,
  );
  expect(refused?.stdout).toBe('PermissionError\n'.repeat(3));
});

test('links are links: none is followed by a removal, and one to nowhere hides nothing', async () => {
  const [, listed, left] = await at.runAll(
    'links',
    'mkdir -p keep d; echo precious > keep/f; ln -s /workspace/keep d/link; ln -s ../keep/f d/near; ln -s nowhere d/gone',
    `python3 - <<'X'
import os, shutil
from pathlib import Path
print(sorted((e.name, e.is_symlink(), e.is_dir()) for e in os.scandir('d')))
print(Path('d/link').is_symlink(), os.path.lexists('d/gone'), os.path.exists('d/gone'), os.readlink('d/near'))
print(open('d/near').read().strip(), os.listdir('d/link'), Path('d/near').resolve(), [len(part) for _, *part in os.walk('d')])
os.rename('d/near', 'd/moved')
print(os.readlink('d/moved'))
shutil.rmtree('d')
X`,
    'ls; cat keep/f',
  );
  expect(listed?.stderr).toBe('');
  expect(listed?.stdout.split('\n')).toEqual([
    "[('gone', True, False), ('link', True, True), ('near', True, False)]",
    'True True False ../keep/f',
    "precious ['f'] /workspace/keep/f [2]",
    '../keep/f',
    '',
  ]);
  expect(left?.stdout).toBe('keep\nprecious\n');
});

test('a folder is renamed with what it holds, and a file keeps its mode', async () => {
  const [, moved, left] = await at.runAll(
    'renames',
    'mkdir -p a/b; echo x > a/b/run.sh; chmod 750 a/b/run.sh; mkdir full; touch full/f',
    `python3 - <<'X'
import os, sys
from pathlib import Path
os.rename('a', 'c'); Path('c/b/run.sh').rename('/tmp/run.sh')
for source, target in (('c', 'c/b/c'), ('c', 'full'), ('none', 'x')):
    try: os.rename(source, target); print('moved')
    except OSError as error: print(type(error).__name__)
print(sys.executable, sys.orig_argv, [value for value in os.environ.values() if 'node_modules' in value])
X`,
    'ls -R; stat -c %a /tmp/run.sh',
  );
  expect(moved?.stderr).toBe('');
  expect(moved?.stdout).toBe("OSError\nOSError\nFileNotFoundError\n/usr/bin/python3 ['python3'] []\n");
  expect(left?.stdout).toBe('.:\nc\nfull\n\n./c:\nb\n\n./c/b:\n\n./full:\nf\n750\n');
});

test('what a program had written when its time was over is there, for the shell and for the next call', async () => {
  const box = at.open('ended-files');
  /** With more time where the machine was too busy for the program to get to where it waits. */
  const patiently = async <T>(run: (seconds: number) => Promise<T>, isThere: (outcome: T) => boolean): Promise<T> => {
    const outcome = await run(10);
    return isThere(outcome) ? outcome : run(120);
  };
  const write = (seconds: number) =>
    box.exec({
      command: `rm -f *; timeout ${seconds} python3 -c "
import json, os, time
log, torn = open('log', 'a'), open('big', 'wb')
torn.write(bytes(9_000_000)); torn.flush()
for n in range(1000):
    log.write('line %d\\n' % n); log.flush()
json.dump(['x' * 50] * 170_000, open('all.json', 'w'))
os.rename('log', 'kept'); log.write('not flushed')
while True: time.sleep(1)
"; echo $?; tail -n 1 kept; stat -c %s big all.json; exit 7`,
      timeoutMs: 600_000,
    });
  const ended = await patiently(write, ({ stdout }) => stdout.endsWith('9180000\n'));
  expect(ended).toMatchObject({ stdout: '124\nline 999\n9000000\n9180000\n', exitCode: 7 });
  const spin = (seconds: number) =>
    box.exec({
      command: `rm -f late part; python3 -c "
for n in range(100): print(n, file=open('late', 'a'))
f = open('part', 'w'); f.write('y' * 8_500_000); f.flush()
print('spins', flush=True)
while True: pass
"`,
      timeoutMs: seconds * 1000,
    });
  const late = await patiently(spin, ({ stdout }) => stdout === 'spins\n');
  expect(late).toMatchObject({ timedOut: true });
  expect((await box.exec({ command: 'tail -n 1 kept; wc -l < late; wc -c < part; ls' })).stdout).toBe(
    'line 999\n100\n8500000\nall.json\nbig\nkept\nlate\npart\n',
  );
  await box.close({ drainMs: 1000, force: false });
});

test('a full sandbox and a file that would be too large are errors of the write, and what was written stays', async () => {
  const box = at.open('full-files', { maxBytes: 12 * 1024 * 1024 });
  const full = await box.exec({
    command: `echo kept > kept; python3 -c "
import json
json.dump(['x' * 50] * 400_000, open('all.json', 'w'))
"; echo $?; python3 -c "
import errno
f = open('b', 'wb', buffering=0)
try:
    while True: f.write(bytes(100_000))
except OSError as error: print(errno.errorcode[error.errno])
f.close(); f = open('b', 'wb'); f.truncate(1000)
try: f.truncate(70 * 1024 * 1024)
except OSError as error: print(errno.errorcode[error.errno])
"; cat kept; wc -c < b`,
  });
  expect(full.stderr).toContain('OSError: [Errno 28] No space left on device');
  expect(full.stdout).toBe('1\nENOSPC\nEFBIG\nkept\n1000\n');
  expect((await box.exec({ command: 'cat kept; wc -c < b' })).stdout).toBe('kept\n1000\n');
  await box.close({ drainMs: 1000, force: false });
});

test('a name that is not UTF-8 is refused, and what the shell gives is read', async () => {
  const [said] = await at.runAll(
    'byte-names',
    `python3 - <<'X'
import errno, os
for call in (lambda: open(b'\\xff', 'w'), lambda: os.stat('\\udcff'), lambda: os.mkdir(b'a\\xc3'), lambda: os.symlink(b'\\xff', 'l')):
    try: call(); print('made')
    except OSError as error: print(errno.errorcode[error.errno])
os.mkdir('é'.encode()); print(os.listdir(), os.listdir(b'.'))
X`,
  );
  expect(said?.stderr).toBe('');
  expect(said?.stdout).toBe("EILSEQ\nEILSEQ\nEILSEQ\nEILSEQ\n['é'] [b'\\xc3\\xa9']\n");
});

test('ten times as many lines take about ten times as long, however they are appended', async () => {
  const box = at.open('many-lines');
  const { stdout } = await box.exec({
    command: `python3 - <<'X'
import time
def run(count):
    begun = time.process_time()
    f = open('log', 'a')
    for n in range(count): f.write('a line of the log, number %d\\n' % n); f.flush()
    f.close()
    for n in range(count // 20):
        with open('log', 'a') as f: f.write('another one\\n')
    return time.process_time() - begun
run(100)
few, many = run(1500), run(15_000)
print(sum(1 for line in open('log')), many / few < 40)
X`,
    timeoutMs: 55_000,
  });
  expect(stdout).toBe('17430 True\n');
  await box.close({ drainMs: 1000, force: false });
});
