/** Answers of the real tools to commands on one small tree, and a sandbox that holds that tree. */
import { readFileSync } from 'node:fs';
import type { InstanceProcess } from '../../../../workers/protocol/instance.ts';

export interface RecordedAnswer {
  command: string;
  stdout: string;
  exitCode: number;
  stderr?: string;
}

/** The answers of GNU's tools (coreutils 9.1, findutils 4.9, grep 3.8) in a locale of UTF-8. */
export function recordedAnswers(name: string): RecordedAnswer[] {
  const { cases } = JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8'));
  return cases;
}

const TREE = readFileSync(new URL('./tree.sh', import.meta.url), 'utf8');
const CLEAR = 'cd /workspace; rm -rf ./* .hidden /tmp/*; ';

/** Runs each command on the tree; the tree is made anew before a command that may change it. */
export async function answersOf(
  sandbox: InstanceProcess,
  recorded: readonly RecordedAnswer[],
): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = [];
  let fresh = false;
  for (const { command, stderr } of recorded) {
    if (!fresh) await sandbox.exec({ command: CLEAR + TREE });
    fresh = !CHANGES.test(command);
    const answer = await sandbox.exec({ command });
    answers.push({
      command,
      stdout: answer.stdout,
      exitCode: answer.exitCode,
      ...(stderr !== undefined && { stderr: answer.stderr.replaceAll(/^bash: line \d+: /gm, '') }),
    });
  }
  return answers;
}

const CHANGES =
  /[^2]>|-delete|-fprint|\b(?:cp|mv|rm|ln|touch|mkdir|rmdir|chmod|tee|mktemp|truncate|split|install|dd|unlink|link|nohup|shred)\b/;
