/**
 * `&` in a script: a command at its top level becomes a run, and `$!` the number of the last one. Anywhere else the
 * script is refused before anything of it runs: a run has no part in the loop, function or pipe that began it. Knows
 * the shell's syntax tree, not what a run is.
 */
import type { ScriptNode, StatementNode, WordNode } from 'just-bash';
import { parse, serialize } from './bash.ts';

/** The shell's own command that begins a run of the script's source with this number. */
export const START_COMMAND = '__winterdock_start';
/** The shell's own command that refuses a script. */
export const REFUSE_COMMAND = '__winterdock_refuse';
/** The variable that `$!` stands for. */
export const LAST_JOB = 'WINTERDOCK_LAST_JOB';

/** Whether a script may have to be rewritten. Most have neither, and are spared the search. */
export function mayHaveJobs(source: string): boolean {
  return /(?<![&>|<])&(?![&>])|\$\{?!/.test(source);
}

/**
 * The script, with commands that begin runs in place of `&`, and what they run. `isOwn`: it is the call's own script.
 */
export function withJobs(script: ScriptNode, isOwn: boolean): { script: ScriptNode; sources: string[] } {
  const nested = isOwn
    ? script.statements.some((statement) => hasBackground(childrenOf(statement)))
    : hasBackground(script);
  if (nested) return { script: { ...script, statements: [commandOf(REFUSE_COMMAND)] }, sources: [] };
  renameLastJob(script);
  const sources: string[] = [];
  const functions: string[] = [];
  const statements = script.statements.map((statement) => {
    if (!statement.background) {
      if (isFunction(statement)) functions.push(sourceOf(script, statement));
      return statement;
    }
    const source = [...functions, sourceOf(script, { ...statement, background: false })].join('\n');
    sources.push(source);
    return commandOf(START_COMMAND, literalWord(String(sources.length - 1)), ...arraysOf(source));
  });
  return { script: { ...script, statements }, sources };
}

function sourceOf(script: ScriptNode, statement: StatementNode): string {
  return serialize({ ...script, statements: [statement] });
}

/** A word that becomes the declarations of the arrays that a source names: the environment of a run has none. */
function arraysOf(source: string): WordNode[] {
  const names = new Set([...source.matchAll(/\$\{[#!]?([A-Za-z_]\w*)\[/g)].map((found) => found[1]));
  if (names.size === 0) return [];
  const [statement] = parse(`: "$(declare -p ${[...names].join(' ')} 2> /dev/null)"`).statements;
  const command = statement?.pipelines[0]?.commands[0];
  return command?.type === 'SimpleCommand' ? command.args : [];
}

function literalWord(value: string): WordNode {
  return { type: 'Word', parts: [{ type: 'Literal', value }] };
}

function commandOf(name: string, ...args: WordNode[]): StatementNode {
  return {
    type: 'Statement',
    pipelines: [
      {
        type: 'Pipeline',
        negated: false,
        commands: [
          { type: 'SimpleCommand', name: literalWord(name), args, assignments: [], redirections: [], line: 1 },
        ],
      },
    ],
    operators: [],
    background: false,
    line: 1,
  };
}

function isFunction({ pipelines }: StatementNode): boolean {
  return pipelines[0]?.commands[0]?.type === 'FunctionDef';
}

function childrenOf(node: object): unknown[] {
  return Object.values(node);
}

function hasBackground(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if ('type' in node && node.type === 'Statement' && (node as StatementNode).background) return true;
  return childrenOf(node).some(hasBackground);
}

function renameLastJob(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && node.type === 'ParameterExpansion' && 'parameter' in node && node.parameter === '!')
    node.parameter = LAST_JOB;
  for (const child of childrenOf(node)) renameLastJob(child);
}
