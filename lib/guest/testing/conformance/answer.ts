/**
 * What a shell answers to an invocation, and when two answers are the same: the bytes of stdout, the exit code, and
 * whether there is anything on stderr. The words of an error are compared where an invocation sends them to stdout.
 */

export interface ShellAnswer {
  /** Bytes as Latin-1. */
  stdout: string;
  stderr: string;
  exitCode: number;
}

export type Verdict = 'same' | 'different' | 'empty success';

/**
 * What differs by its nature: the names that mktemp makes, and links and owner of the folder above /workspace, which is
 * the root of the machine.
 */
const CHANGING: readonly [RegExp, string][] = [
  [/(tmp\.|\/(?:[\w.-]*?)[.-])(?=\w*[A-Z0-9])\w{6,10}(?=[\s/.]|$)/g, '$1XXXXXX'],
  [/^(d\S+) +\d+ \w+ +\w+( +4096 .* \.\.)$/gm, '$1 N$2'],
];

/** Makes the parts of an answer equal that differ in each run. */
export function normalized(answer: ShellAnswer): ShellAnswer {
  const plain = (text: string) => CHANGING.reduce((result, [pattern, to]) => result.replace(pattern, to), text);
  return { ...answer, stdout: plain(answer.stdout), stderr: plain(answer.stderr) };
}

/** Walks whose order is the file system's own, unless something sorts them. */
const WALK = /\bfind\b|\bx?grep .*-\w*[rR]|\btar\b|\bdu\b|-exec/;

/** Compares our answer with the real one. The order of the lines of a walk does not count. */
export function compareAnswers(command: string, ours: ShellAnswer, real: ShellAnswer): Verdict {
  const sorted = (text: string) => (WALK.test(command) ? text.split('\n').toSorted().join('\n') : text);
  if (
    sorted(ours.stdout) === sorted(real.stdout) &&
    ours.exitCode === real.exitCode &&
    (ours.stderr === '') === (real.stderr === '')
  ) {
    return 'same';
  }
  const saysNothing = ours.stdout === '' && ours.stderr === '' && ours.exitCode === 0;
  return saysNothing && (real.stdout !== '' || real.exitCode !== 0) ? 'empty success' : 'different';
}
