import { expect, test } from 'vitest';
import { openBeside } from '../../vfs/open.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { OutputChunk } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

test('a script keeps its directory, variables, functions and options from command to command, and the next one starts afresh', async () => {
  const a = at.open('carry');
  const first = await a.exec({ command: 'x=1; f() { echo "f $x"; }; cd /tmp; set -e\nf; pwd; false; echo never' });
  expect(first).toMatchObject({ exitCode: 1, stdout: 'f 1\n/tmp\n', stderr: '', cwd: '/tmp' });
  expect(await a.exec({ command: 'pwd; echo "[$x]"; f' })).toMatchObject({ exitCode: 127, stdout: '/workspace\n[]\n' });
  expect(await a.exec({ command: 'pwd', cwd: '/tmp', env: { A: 'b' } })).toMatchObject({ stdout: '/tmp\n' });
  expect(await a.exec({ command: 'echo $A; cat', env: { A: 'b' }, stdin: Buffer.from('in') })).toMatchObject({
    stdout: 'b\nin',
  });
  expect(await a.exec({ command: 'cd /memory; exit 3; echo never' })).toMatchObject({
    exitCode: 3,
    cwd: '/memory',
    stdout: '',
  });
});

test('a missing working directory is refused by name', async () => {
  const a = at.open('nowhere');
  await expect(a.exec({ command: 'true', cwd: '/tmp/gone' })).rejects.toMatchObject({ code: 'validation' });
  await expect(a.exec({ command: 'true', cwd: 'tmp' })).rejects.toMatchObject({ code: 'validation' });
});

test('output arrives command by command, in order, and is the same as the whole', async () => {
  const a = at.open('stream');
  const chunks: OutputChunk[] = [];
  const outcome = await a.exec(
    { command: 'echo one; ls /nope; for i in 1 2; do echo $i; done; echo last' },
    { onOutput: (chunk) => chunks.push(chunk) },
  );
  expect(chunks.map(({ stream, text }) => `${stream} ${text}`)).toEqual([
    'stdout one\n',
    "stderr ls: cannot access '/nope': No such file or directory\n",
    'stdout 1\n2\n',
    'stdout last\n',
  ]);
  expect(outcome.stdout).toBe('one\n1\n2\nlast\n');
});

test('a command’s writes are visible to another reader when its output arrives, and not before the command ended', async () => {
  const a = at.open('commit');
  await a.opened;
  const reader = openBeside(at.file('commit'));
  const seen: (string | null)[] = [];
  const text = (path: string) => {
    const content = reader.get(vfsPath(path));
    return content && Buffer.from(content).toString();
  };
  await a.exec(
    { command: 'echo a > a; echo first\n{ echo b > b; sleep 0.1; echo c > c; }; echo second' },
    { onOutput: ({ text: said }) => seen.push(`${said.trim()} ${text('/a')} ${text('/b')} ${text('/c')}`) },
  );
  expect(seen.at(0)).toBe('first a\n null null');
  expect(seen.at(-1)).toBe('second a\n b\n c\n');
  reader.close();
});

test('a write is served and durable while a script runs', async () => {
  const a = at.open('beside');
  await a.opened;
  const reader = openBeside(at.file('beside'));
  let ended = false;
  const running = a.exec({ command: 'echo mine > mine; while [ ! -e stop ]; do :; done; cat stop' }).finally(() => {
    ended = true;
  });
  const outcome = await a.write({
    op: 'put',
    volume: 'workspace',
    path: vfsPath('/other'),
    content: Buffer.from('theirs'),
  });
  expect(outcome).toMatchObject({ created: true, stat: { path: '/other', size: 6 } });
  expect(Buffer.from(reader.get(vfsPath('/other')) ?? []).toString()).toBe('theirs');
  expect(ended).toBe(false);
  await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/stop'), content: Buffer.from('stopped') });
  expect(await running).toMatchObject({ exitCode: 0, stdout: 'stopped' });
  reader.close();
});

test('a stream is cut at 4 MiB, says so, and an endless one takes no more memory and stops at its time', async () => {
  const a = at.open('endless');
  await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/much'), content: Buffer.alloc(1_000_000, 'x') });
  const outcome = await a.exec({ command: 'while true; do cat much; done', timeoutMs: 3000 });
  expect(outcome).toMatchObject({ exitCode: 124, timedOut: true, truncated: true });
  expect(outcome.stdout.length).toBe(4 * 1024 * 1024);
  expect(await at.say(a, 'echo still here')).toBe('still here\n');
});

test('exec with a redirection holds for the rest of the script', async () => {
  const a = at.open('exec');
  const outcome = await a.exec({ command: 'echo before; exec 2> errors; ls /nope; cat errors' });
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(outcome.stdout).toBe("before\nls: cannot access '/nope': No such file or directory\n");
});

test('set -u ends a script at a variable that is not set', async () => {
  const a = at.open('unset');
  expect(await a.exec({ command: 'set -u; echo $nope; echo never' })).toMatchObject({
    exitCode: 127,
    stdout: '',
    timedOut: false,
  });
});

test('the three volumes are the only places that can be written, and links lead nowhere else', async () => {
  const a = at.open('walls');
  const outcome = await a.exec({
    command:
      'for p in /a /etc/passwd /bin/ls /workspace/../x; do echo x > $p; done; mkdir /d; rm -r /bin; ln -s /memory m; echo kept > m/f; cat /memory/f; ln -s ../../../../etc/passwd p; cat p; ls /',
  });
  expect(outcome.stdout).toBe('kept\nbin\ndev\nmemory\ntmp\nusr\nworkspace\n');
  expect(outcome.stderr.match(/read-only file system/gi)?.length).toBe(6);
});

test('a full sandbox reports that no space is left and keeps its files', async () => {
  const a = at.open('full', { maxBytes: 4 * 1024 * 1024 });
  const outcome = await a.exec({
    command: 'echo kept > kept; printf "%3000000s" x > a; printf "%3000000s" x > b; cat kept',
  });
  expect(outcome.stderr).toContain('No space left on device');
  expect(outcome.stdout).toBe('kept\n');
});

test('js runs in the shell with arguments and stdin, and a large number of commands is no limit', async () => {
  const a = at.open('js');
  expect(await at.say(a, "js -e 'console.log(1 + 1, args)' a b")).toBe("2 [ 'a', 'b' ]\n");
  expect(await at.say(a, 'echo "console.log(stdin.toUpperCase())" > f.js; echo hi | js f.js; js nope.js')).toBe(
    'HI\n\njs: nope.js: No such file or directory\n',
  );
  const much = await a.exec({ command: 'js -e \'console.log("x".repeat(5e6))\'' });
  expect([much.truncated, much.stdout.length]).toEqual([true, 4 * 1024 * 1024]);
  expect(await a.exec({ command: 'js -e "null.x"' })).toMatchObject({ exitCode: 1 });
  expect(await at.say(a, 'for ((i = 0; i < 120000; i++)); do :; done; echo $i')).toBe('120000\n');
});

test('python runs code unchanged, reads the sandbox and fails with its own messages', async () => {
  const a = at.open('python');
  const outcome = await a.eval({
    language: 'python',
    code: 'print("""a\nb""")\nopen("/workspace/p", "w").write("from python")',
  });
  expect(outcome).toMatchObject({ ok: true, stdout: 'a\nb\n' });
  expect(await at.say(a, 'cat p')).toBe('from python');
  const failed = await a.eval({ language: 'python', code: 'def f():\n  return 1 / 0\nf()' });
  expect(failed).toMatchObject({ ok: false, error: 'ZeroDivisionError: division by zero' });
});
