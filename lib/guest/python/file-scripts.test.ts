/** Python's files against those of CPython on Linux, whose answers are recorded (testing/record-scripts.ts). */
import { beforeAll, describe, expect, test } from 'vitest';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';
import {
  CASE_FOLDER,
  type FileScript,
  fileScripts,
  recordedAnswers,
  type ScriptAnswer,
  TREE_COMMAND,
  withoutNumbers,
} from './testing/file-scripts.ts';

const at = stage();
const recorded = recordedAnswers();
let box: InstanceProcess | null = null;
/** Programs that one interpreter runs after each other: a start takes longer than most of them. */
const BATCH = 10;
const MARK = '\u0001';

/** Runs programs, each in its own folder and names, with a line before and behind what it prints. */
const DRIVER = `import base64, gc, json, os, sys, tempfile, traceback
for number, source in json.loads(base64.b64decode(PROGRAMS)):
    os.chdir('/workspace/cases/%d' % number)
    code, names = 0, {'__name__': '__main__'}
    try: exec(compile(base64.b64decode(source), 'program', 'exec'), names)
    except SystemExit as end: code = end.code
    except BaseException: traceback.print_exc(); code = 1
    names.clear(); gc.collect(); tempfile.tempdir = None
    sys.stdout.flush(); os.write(1, b'\\x01%d\\n' % code)
`;

async function answersOf(sandbox: InstanceProcess, scripts: readonly FileScript[]): Promise<ScriptAnswer[]> {
  const numbers = scripts.map((_, number) => number);
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const programs = encoded(JSON.stringify(scripts.map(({ source }, number) => [number, encoded(source)])));
  // One that ends its interpreter has it alone, as it would be started.
  const [only] = scripts.length === 1 ? scripts : [];
  const program = only?.source ?? DRIVER.replace('PROGRAMS', JSON.stringify(programs));
  const ran = await sandbox.exec({
    command: `cd /workspace; rm -rf cases; mkdir -p ${numbers.map((number) => `cases/${number}`).join(' ')}; cd cases/0
python3 - <<'END OF PROGRAM'\n${program}\nEND OF PROGRAM\n`,
    timeoutMs: 600_000,
  });
  const trees = await sandbox.exec({
    command: `cd /workspace/cases; for number in ${numbers.join(' ')}; do cd $number; ${TREE_COMMAND}; printf '\\001'; cd ..; done`,
  });
  const shown = (text: string) => withoutNumbers(text.replaceAll(/\/workspace\/cases\/\d+/g, CASE_FOLDER));
  const left = trees.stdout.split(MARK);
  if (only) return [{ stdout: shown(ran.stdout), exitCode: ran.exitCode, tree: left[0] ?? '' }];
  const printed = ran.stdout.split(/\u0001(\d+)\n/);
  return numbers.map((number) => ({
    stdout: shown(printed[2 * number] ?? ''),
    exitCode: Number(printed[2 * number + 1] ?? ran.exitCode),
    tree: left[number] ?? '',
  }));
}

const isAlone = ({ title }: FileScript) => title.startsWith('exit:');
const together = fileScripts().filter((script) => !isAlone(script));
const batches = [
  ...Array.from({ length: Math.ceil(together.length / BATCH) }, (_, n) => together.slice(n * BATCH, (n + 1) * BATCH)),
  ...fileScripts()
    .filter(isAlone)
    .map((script) => [script]),
];

describe.each(batches.map((scripts) => ({ scripts })))('$scripts.0.title, and on', ({ scripts }) => {
  let answers: ScriptAnswer[] = [];

  beforeAll(async () => {
    box ??= at.open('file-scripts');
    answers = await answersOf(box, scripts);
  });

  test.each(scripts.map(({ title }, number) => ({ title, number })))('$title', ({ title, number }) => {
    expect(answers[number]).toEqual(recorded[title]);
  });
});
