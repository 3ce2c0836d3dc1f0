/** Words of the conformance report: a score by subject, one difference, and the list of them for docs/shell.md. */
import type { ShellAnswer, Verdict } from './answer.ts';
import { differenceReason } from './reasons.ts';
import type { Invocation } from './table.ts';

export interface Result extends Invocation {
  verdict: Verdict;
  ours: ShellAnswer;
  real: ShellAnswer;
}

const MAX_SHOWN = 1200;

export function scoreText(results: readonly Result[]): string {
  const subjects = Map.groupBy(results, ({ subject }) => subject);
  const rows = [...subjects].map(([subject, group]) => `${lineOf(group)}  ${subject}`);
  const empty = results.filter(({ verdict }) => verdict === 'empty success').length;
  return [...rows, `${lineOf(results)}  in all; empty success: ${empty}`].join('\n');
}

function sameOf(results: readonly Result[]): number {
  return results.filter(({ verdict }) => verdict === 'same').length;
}

/** From 0 to 1; 1 for nothing. */
export function shareOf(results: readonly Result[]): number {
  return results.length === 0 ? 1 : sameOf(results) / results.length;
}

function lineOf(results: readonly Result[]): string {
  const share = (100 * shareOf(results)).toFixed(1);
  return `${share.padStart(5)} %  ${`${sameOf(results)}/${results.length}`.padStart(7)}`;
}

/**
 * The shares of the table and of the trials that are the same, and the differences with their reasons. Throws for one
 * without a reason.
 */
export function listText(results: readonly Result[], tried: readonly Result[]): string {
  const different = [...results, ...tried].filter(({ verdict }) => verdict !== 'same');
  const rows = different.map(({ command }) => {
    const reason = differenceReason(command);
    if (reason === null) throw new Error(`lib/guest/testing/conformance/reasons.ts has no reason for: ${command}`);
    return `- ${reason}:\n\n${command.replace(/^/gm, '      ')}\n`;
  });
  const count = (of: readonly Result[]) => `${sameOf(of)} of ${of.length}`;
  const share = (100 * shareOf(results)).toFixed(1);
  return `${count(results)} invocations of the table are answered alike (${share} %), and ${count(tried)} trials. The others:\n\n${rows.join('\n')}`;
}

export function differenceText({ subject, form, command, verdict, ours, real }: Result): string {
  return [
    `=== ${subject} | ${form}${verdict === 'empty success' ? ' | EMPTY SUCCESS' : ''}`,
    `$ ${command}`,
    answerText('ours', ours),
    answerText('real', real),
  ].join('\n');
}

function answerText(name: string, { stdout, stderr, exitCode }: ShellAnswer): string {
  const shown = (text: string) => {
    const decoded = Buffer.from(text, 'latin1').toString();
    return decoded.length > MAX_SHOWN ? `${decoded.slice(0, MAX_SHOWN)}…` : decoded;
  };
  return `--- ${name}: exit ${exitCode}\n${shown(stdout)}${stderr === '' ? '' : `[stderr] ${shown(stderr)}`}`;
}
