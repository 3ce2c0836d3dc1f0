/**
 * `npm run shell:conformance`: runs the table of invocations, the trials beside it, and an unseen set that a seed
 * draws, in our shell and in the machine's, and prints every difference and the score. `--record` renews the recorded
 * answers of the machine's shell; `--recorded` compares with those; `--only PATTERN` takes, for both, the invocations
 * whose subject, form or text match; `--followed` takes our output as it comes; `--seed N` and `--unseen COUNT` draw
 * the unseen set; `--list` writes the differences of table and trials into docs/shell.md; `--differences FILE` writes
 * the report to a file too. Exits with 1 below the goals.
 */
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareAnswers, normalized, type ShellAnswer } from '../lib/guest/testing/conformance/answer.ts';
import { drawInvocations } from '../lib/guest/testing/conformance/generator.ts';
import { OurShell } from '../lib/guest/testing/conformance/our-shell.ts';
import { lackingTools, RealShell, realVersions, whyNoRealShell } from '../lib/guest/testing/conformance/real-shell.ts';
import { Reference, writeReference } from '../lib/guest/testing/conformance/reference.ts';
import { differenceText, listText, type Result, scoreText, shareOf } from '../lib/guest/testing/conformance/report.ts';
import { type Invocation, readTable, readTrials } from '../lib/guest/testing/conformance/table.ts';
import { TEST_ENVIRONMENT } from './test-environment.ts';

const TABLE_GOAL = 0.97;
const UNSEEN_GOAL = 0.95;
const LIST = new URL('../docs/shell.md', import.meta.url);
const BEGIN = '<!-- differences: written by npm run shell:conformance -- --list -->';
const END = '<!-- differences: end -->';

const { values } = parseArgs({
  options: {
    record: { type: 'boolean', default: false },
    recorded: { type: 'boolean', default: false },
    followed: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seed: { type: 'string' },
    unseen: { type: 'string', default: '150' },
    list: { type: 'boolean', default: false },
    differences: { type: 'string' },
  },
});

const reason = values.recorded ? 'it was asked to' : whyNoRealShell();
if (reason !== null) process.stdout.write(`The reference is what was recorded: ${reason}.\n`);
const real = reason === null ? new RealShell() : null;
const lacking = real === null ? [] : lackingTools();
if (lacking.length > 0)
  process.stdout.write(`This machine lacks the GNU version of ${lacking.join(', ')}: for these, what was recorded.\n`);
try {
  if (values.record) record();
  else process.exitCode = (await compare()) ? 0 : 1;
} finally {
  real?.close();
}

function record(): void {
  const [before, wanted] = [new Reference(), isWanted()];
  const all = [...readTable(), ...readTrials()];
  if (real === null || all.some((invocation) => wanted(invocation) && !isReal(invocation.command)))
    throw new Error('This machine cannot answer all of these: record others with --only.');
  const answers = all.map((invocation): [string, ShellAnswer | undefined] => {
    const { command } = invocation;
    return [command, wanted(invocation) ? normalized(real.run(command)) : (before.get(command) ?? undefined)];
  });
  const versions = lacking.length > 0 ? [...before.versions] : realVersions();
  writeReference(versions, new Map(answers.flatMap(([command, answer]) => (answer ? [[command, answer]] : []))));
  process.stdout.write(`Recorded the answers of ${all.filter(wanted).length} invocations.\n`);
}

/** Which invocations `--only` takes. */
function isWanted(): (invocation: Invocation) => boolean {
  const wanted = new RegExp(values.only);
  return ({ subject, form, command }) => wanted.test(`${subject} ${form} ${command}`);
}

/** Whether an invocation can be answered by the machine's tools. */
function isReal(command: string): boolean {
  return real !== null && !lacking.some((tool) => new RegExp(`\\b${tool}\\b`).test(command));
}

/** Runs the table and the unseen set; returns whether the goals are reached. */
async function compare(): Promise<boolean> {
  const table = readTable().filter(isWanted());
  const trials = readTrials().filter(isWanted());
  const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed);
  const unseen = drawInvocations(seed, Number(values.unseen)).filter(({ command }) => isReal(command));
  const shell = new OurShell(TEST_ENVIRONMENT.WB_CACHE, { isFollowed: values.followed });
  try {
    await shell.start();
    const results = await resultsOf(shell, table);
    const tried = await resultsOf(shell, trials);
    const drawn = await resultsOf(shell, unseen);
    const all = [...results, ...tried, ...drawn];
    const differences = all.filter(({ verdict }) => verdict !== 'same').map(differenceText);
    const score = `${scoreText(results)}\nTrials:\n${scoreText(tried)}\n${
      real === null ? 'No unseen set: it needs the machine’s bash.' : `Unseen, --seed ${seed}:\n${scoreText(drawn)}`
    }\n`;
    process.stdout.write(`${differences.join('\n')}\n${score}`);
    if (values.differences !== undefined) writeFileSync(values.differences, `${score}\n${differences.join('\n')}\n`);
    if (values.list) writeList(results, tried);
    const emptySuccess = all.some(({ verdict }) => verdict === 'empty success');
    return (
      shareOf(results) >= TABLE_GOAL && shareOf(tried) >= TABLE_GOAL && shareOf(drawn) >= UNSEEN_GOAL && !emptySuccess
    );
  } finally {
    await shell.close();
  }
}

async function resultsOf(shell: OurShell, invocations: readonly Invocation[]): Promise<Result[]> {
  const recorded = new Reference();
  const results: Result[] = [];
  for (const invocation of invocations) {
    const { command } = invocation;
    const reference = real === null || !isReal(command) ? recorded.get(command) : normalized(real.run(command));
    if (reference === null) throw new Error(`Its answer was not recorded: ${command}`);
    const ours = normalized(await shell.run(command));
    results.push({ ...invocation, verdict: compareAnswers(command, ours, reference), ours, real: reference });
  }
  return results;
}

function writeList(results: readonly Result[], tried: readonly Result[]): void {
  const text = readFileSync(LIST, 'utf8');
  const [before, after] = [text.split(BEGIN)[0], text.split(END)[1]];
  if (before === undefined || after === undefined) throw new Error('docs/shell.md has no place for the differences.');
  writeFileSync(LIST, `${before}${BEGIN}\n\n${listText(results, tried)}\n${END}${after}`);
}
