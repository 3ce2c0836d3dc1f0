/**
 * `&` in a script: a command at its top level, or in a loop, a condition, a group or a subshell there, becomes a run,
 * and `$!` the number of the last one. Anywhere else the script is refused before anything of it runs: a run has no
 * part in the function, pipe or redirection that it stands in. Knows the shell's syntax tree, not what a run is.
 */
import type { ScriptNode, StatementNode, WordNode } from 'just-bash';
import { parse, serialize } from './bash.ts';

/** The shell's own command that begins a run of the script's source with this number. */
export const START_COMMAND = '__winterdock_start';
/** Stands behind the number of a job that a subshell begins: it is none of the script's own. */
export const APART = '&';
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
  const refused = { script: { ...script, statements: [commandOf(REFUSE_COMMAND)] }, sources: [] };
  if (!isOwn) return hasBackground(script) ? refused : plain(script);
  const jobs = new Jobs(script);
  if (!script.statements.every((statement) => jobs.canBegin(statement))) return refused;
  renameLastJob(script);
  return { script: { ...script, statements: jobs.begun(script.statements, false) }, sources: jobs.sources };
}

function plain(script: ScriptNode): { script: ScriptNode; sources: string[] } {
  renameLastJob(script);
  return { script, sources: [] };
}

/** Commands whose lists of statements run in the script's own order and environment. */
const COMPOUND = new Set(['Group', 'Subshell', 'If', 'For', 'CStyleFor', 'While', 'Until', 'Case']);

/** What `&` begins in a script: at its top level, and in compound commands whose input and output are the script's. */
class Jobs {
  readonly sources: string[] = [];
  readonly #script: ScriptNode;
  /** Sources of the functions that stand in front of what is begun. */
  readonly #functions: string[] = [];

  constructor(script: ScriptNode) {
    this.#script = script;
  }

  /** Whether each `&` in a statement is one that can be begun. */
  canBegin(statement: StatementNode): boolean {
    if (statement.background || !hasBackground(childrenOf(statement))) return true;
    return statement.pipelines.every(({ commands }) => {
      if (!hasBackground(commands)) return true;
      const [command, ...more] = commands;
      if (command === undefined || more.length > 0 || !COMPOUND.has(command.type)) return false;
      if ('redirections' in command && command.redirections.length > 0) return false;
      return partsOf(command).every((part) =>
        isStatements(part) ? part.every((each) => this.canBegin(each)) : !hasBackground(part),
      );
    });
  }

  /** The statements with commands that begin the others. `isApart`: a subshell's, which `wait` does not wait for. */
  begun(statements: readonly StatementNode[], isApart: boolean): StatementNode[] {
    return statements.map((statement) => {
      if (statement.background) return this.#start(statement, isApart);
      if (isFunction(statement)) this.#functions.push(sourceOf(this.#script, statement));
      else if (hasBackground(childrenOf(statement)))
        for (const { commands } of statement.pipelines)
          for (const command of commands) this.#rewrite(command, isApart || command.type === 'Subshell');
      return statement;
    });
  }

  #rewrite(node: object, isApart: boolean): void {
    for (const [key, value] of Object.entries(node)) {
      if (isStatements(value)) Object.assign(node, { [key]: this.begun(value, isApart) });
      else if (Array.isArray(value)) for (const part of value) if (isClause(part)) this.#rewrite(part, isApart);
    }
  }

  #start(statement: StatementNode, isApart: boolean): StatementNode {
    const source = [...this.#functions, sourceOf(this.#script, { ...statement, background: false })].join('\n');
    this.sources.push(source);
    const at = `${this.sources.length - 1}${isApart ? APART : ''}`;
    return commandOf(START_COMMAND, literalWord(at), ...arraysOf(source));
  }
}

function isStatements(value: unknown): value is StatementNode[] {
  return Array.isArray(value) && value.length > 0 && value.every(({ type } = {}) => type === 'Statement');
}

/** A clause of `if`, an item of `case`: what has lists of statements and is no command or word. */
function isClause(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.values(value).some(isStatements);
}

/** The parts of a compound command: its lists of statements, those of its clauses, and the rest of both. */
function partsOf(node: object): unknown[] {
  return childrenOf(node).flatMap((value) =>
    !isStatements(value) && Array.isArray(value)
      ? value.flatMap((part) => (isClause(part) ? childrenOf(part) : [part]))
      : [value],
  );
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
