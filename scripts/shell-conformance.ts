/**
 * `npm run shell:conformance`: runs the table of invocations, and an unseen set that a seed draws, in our shell and in
 * the machine's, and prints every difference and the score. `--record` renews the recorded answers of the machine's
 * shell; `--recorded` compares with those; `--only PATTERN` takes the invocations whose subject, form or text match;
 * `--seed N` and `--unseen COUNT` draw the unseen set; `--list` writes the differences of the table into docs/shell.md;
 * `--differences FILE` writes the report to a file too. Exits with 1 below the goals.
 */
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareAnswers, normalized, type ShellAnswer } from './shell/answer.ts';
import { drawInvocations } from './shell/generator.ts';
import { OurShell } from './shell/our-shell.ts';
import { RealShell, realVersions, whyNoRealShell } from './shell/real-shell.ts';
import { Reference, writeReference } from './shell/reference.ts';
import { differenceText, listText, type Result, scoreText, shareOf } from './shell/report.ts';
import { type Invocation, readTable } from './shell/table.ts';
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
    only: { type: 'string', default: '' },
    seed: { type: 'string' },
    unseen: { type: 'string', default: '150' },
    list: { type: 'boolean', default: false },
    differences: { type: 'string' },
  },
});

const lacking = values.recorded ? 'it was asked to' : whyNoRealShell();
if (lacking !== null) process.stdout.write(`The reference is what was recorded: ${lacking}.\n`);
const real = lacking === null ? new RealShell() : null;
try {
  if (values.record) record();
  else process.exitCode = (await compare()) ? 0 : 1;
} finally {
  real?.close();
}

function record(): void {
  if (real === null) throw new Error('Nothing can be recorded on this machine.');
  const answers = new Map<string, ShellAnswer>();
  for (const { command } of readTable()) answers.set(command, normalized(real.run(command)));
  writeReference(realVersions(), answers);
  process.stdout.write(`Recorded ${answers.size} answers.\n`);
}

/** Runs the table and the unseen set; returns whether the goals are reached. */
async function compare(): Promise<boolean> {
  const wanted = new RegExp(values.only);
  const table = readTable().filter(({ subject, form, command }) => wanted.test(`${subject} ${form} ${command}`));
  const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed);
  const unseen = real === null ? [] : drawInvocations(seed, Number(values.unseen));
  const shell = new OurShell(TEST_ENVIRONMENT.WB_CACHE);
  try {
    await shell.start();
    const results = await resultsOf(shell, table);
    const drawn = await resultsOf(shell, unseen);
    const all = [...results, ...drawn];
    const differences = all.filter(({ verdict }) => verdict !== 'same').map(differenceText);
    const score = `${scoreText(results)}\n${
      real === null ? 'No unseen set: it needs the machine’s bash.' : `Unseen, --seed ${seed}:\n${scoreText(drawn)}`
    }\n`;
    process.stdout.write(`${differences.join('\n')}\n${score}`);
    if (values.differences !== undefined) writeFileSync(values.differences, `${score}\n${differences.join('\n')}\n`);
    if (values.list) writeList(results);
    const emptySuccess = all.some(({ verdict }) => verdict === 'empty success');
    return shareOf(results) >= TABLE_GOAL && shareOf(drawn) >= UNSEEN_GOAL && !emptySuccess;
  } finally {
    await shell.close();
  }
}

async function resultsOf(shell: OurShell, invocations: readonly Invocation[]): Promise<Result[]> {
  const recorded = new Reference();
  const results: Result[] = [];
  for (const invocation of invocations) {
    const { command } = invocation;
    const reference = real === null ? recorded.get(command) : normalized(real.run(command));
    if (reference === null) throw new Error(`Its answer was not recorded: ${command}`);
    const ours = normalized(await shell.run(command));
    results.push({ ...invocation, verdict: compareAnswers(command, ours, reference), ours, real: reference });
  }
  return results;
}

function writeList(results: readonly Result[]): void {
  const text = readFileSync(LIST, 'utf8');
  const [before, after] = [text.split(BEGIN)[0], text.split(END)[1]];
  if (before === undefined || after === undefined) throw new Error('docs/shell.md has no place for the differences.');
  writeFileSync(LIST, `${before}${BEGIN}\n\n${listText(results)}\n${END}${after}`);
}
