/**
 * The recorded answers of the machine's shell, in `recorded.json`: the reference wherever the machine lacks the tools,
 * and what a newer version of them is seen against.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ShellAnswer } from './answer.ts';

const FILE = new URL('./recorded.json', import.meta.url);

interface Recorded {
  versions: string[];
  answers: Record<string, [stdout: string, exitCode: number, stderr: string]>;
}

export class Reference {
  readonly versions: readonly string[];
  readonly #answers: Recorded['answers'];

  constructor() {
    const recorded: Recorded = existsSync(FILE)
      ? JSON.parse(readFileSync(FILE, 'utf8'))
      : { versions: [], answers: {} };
    this.versions = recorded.versions;
    this.#answers = recorded.answers;
  }

  /** Null when the invocation was not recorded. */
  get(command: string): ShellAnswer | null {
    const found = this.#answers[command];
    return found === undefined ? null : { stdout: found[0], exitCode: found[1], stderr: found[2] };
  }
}

export function writeReference(versions: string[], answers: ReadonlyMap<string, ShellAnswer>): void {
  const recorded: Recorded = { versions, answers: {} };
  for (const [command, { stdout, exitCode, stderr }] of answers) recorded.answers[command] = [stdout, exitCode, stderr];
  const lines = Object.entries(recorded.answers).map(
    ([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  writeFileSync(FILE, `{\n  "versions": ${JSON.stringify(versions)},\n  "answers": {\n${lines.join(',\n')}\n  }\n}\n`);
}
