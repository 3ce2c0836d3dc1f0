import { expect, test } from 'vitest';
import { pythonArguments } from './python-arguments.ts';

const read = (...args: string[]) => pythonArguments('python3', args);

test('code, a module, a file and standard input are told apart, with what is for them', () => {
  expect(read('-c', 'print(1)', '-x', 'a')).toMatchObject({
    what: { kind: 'code', text: 'print(1)' },
    rest: ['-x', 'a'],
  });
  expect(read('-m', 'json.tool', '--help')).toMatchObject({
    what: { kind: 'module', text: 'json.tool' },
    rest: ['--help'],
  });
  expect(read('a.py', '-c', 'b')).toMatchObject({ what: { kind: 'file', text: 'a.py' }, rest: ['-c', 'b'] });
  expect(read('--', '-a.py')).toMatchObject({ what: { kind: 'file', text: '-a.py' }, rest: [] });
  expect(read('-', 'a')).toMatchObject({ what: { kind: 'stdin' }, rest: ['a'] });
  for (const none of [[], ['-u'], ['--']]) expect(read(...none)).toMatchObject({ what: { kind: 'stdin' }, rest: [] });
});

test('letters stand together, and a value follows in the same argument or the next', () => {
  expect(read('-uBc', 'x')).toMatchObject({ what: { kind: 'code', text: 'x' } });
  expect(read('-ucx')).toMatchObject({ what: { kind: 'code', text: 'x' } });
  expect(read('-mpip', 'list')).toMatchObject({ what: { kind: 'module', text: 'pip' }, rest: ['list'] });
  expect(read('-W', 'error', '-Wignore', '-X', 'utf8', '-OO', 'a.py')).toMatchObject({
    what: { kind: 'file', text: 'a.py' },
    warnings: ['error', 'ignore'],
    optimize: 2,
  });
  expect(read('-I', 'a.py')).toMatchObject({ ignoresEnvironment: true, isSafePath: true, withoutInstalled: true });
  expect(read('-EP', 'a.py')).toMatchObject({ ignoresEnvironment: true, isSafePath: true, withoutInstalled: false });
});

test('what prints and ends is the interpreter’s own, and a mistake has its words and exit code 2', () => {
  for (const version of ['-V', '-uV', '--version']) expect(read(version)).toEqual({ original: '--version' });
  for (const help of ['-h', '-?', '--help']) expect(read(help)).toEqual({ original: '--help' });
  expect(read('-c')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Argument expected for the -c option'),
  });
  expect(read('-Z')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Unknown option: -Z') });
  expect(read('--nope')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('unknown option --nope') });
  expect(read('-i', 'a.py')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no terminal') });
});
