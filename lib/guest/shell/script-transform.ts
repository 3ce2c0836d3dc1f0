/**
 * Rewrites a parsed script so that its output can be sent while it runs, in the order it was printed. Each command that
 * writes to the script's own output is put in a group whose output goes to two sink files, in the functions and scripts
 * that it calls, too. Knows the shell's syntax tree, not what the sinks do.
 *
 * A group runs in the same shell, so variables, functions, `cd`, `set -e` and `exit` keep their meaning. Loops,
 * conditions and groups are rewritten inside, so that an endless loop sends its output and does not buffer it.
 */
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from 'just-bash';
import { SINKS } from './output-sinks.ts';

type GroupNode = Extract<CommandNode, { type: 'Group' }>;
type RedirectionNode = GroupNode['redirections'][number];

/** How a script is rewritten. */
export interface Streaming {
  /** The path that its stdout goes to (output-sinks.ts). */
  output: string;
  /** The path that its stderr goes to; null when its surroundings take it. */
  errors: string | null;
  /** Its output is collected, and stderr with it: only the order of the two counts. */
  isCollected?: boolean;
  /** Any of its commands may print: it may start a trap, or be traced (`set -x`). */
  isWatched: boolean;
}

/** The groups that a script is rewritten with. */
const made = new WeakSet<CommandNode>();
/** Commands as they run where they write to the call's own output. */
const bodies = new WeakMap<CommandNode, Map<string, CommandNode>>();

/** Commands that print nothing unless used wrongly. */
const SILENT = new Set(['[', 'test', 'true', 'false', ':', 'read']);
/** Commands that say nothing, and hardly ever that they were used wrongly: that would come behind all else. */
const SILENT_INSIDE = new Set([':', 'break', 'continue', 'declare', 'false', 'local', 'return', 'true', 'typeset']);
/** Programs that print what they have before an error. */
export const OUTPUT_FIRST: readonly string[] = ['cat', 'head', 'tail'];
/** Words after `set` by which commands are printed. */
const TRACING = /^-\w*[xv]|^(?:xtrace|verbose)$/;
const INPUT = new Set(['<', '<<', '<<-', '<<<']);

/**
 * Sends the output of a script to the sinks. Calls `between` before every top-level command except the first. Does not
 * rewrite from the first command on that may redirect the whole shell (`exec > file`): a group would undo that
 * redirection at its end.
 */
export function withStreamedOutput(
  given: ScriptNode,
  between: () => void,
  how: Streaming = { output: SINKS.stdout, errors: SINKS.stderr, isWatched: watchesItself(given) },
): ScriptNode {
  const script = { ...given, statements: withShellsForPipes(given.statements) };
  const from = script.statements.findIndex((statement) => callsByName(statement, 'exec'));
  const plain = from === -1 ? script.statements.length : from;
  const statements = script.statements.map((statement, at) => (at < plain ? toSinks(statement, how) : statement));
  return { ...script, statements: HookedStatements.over(statements, between) };
}

/** A compound command, or the body of a function, that writes to the call's own output, whatever is redirected. */
export function withStreamedBody(body: CommandNode, how: Streaming): CommandNode {
  const known = bodies.get(body) ?? new Map<string, CommandNode>();
  bodies.set(body, known);
  const key = `${how.output} ${how.errors} ${how.isWatched} ${how.isCollected === true}`;
  const streamed = known.get(key) ?? withStreamedParts(body, how);
  known.set(key, streamed);
  return streamed;
}

/** Whether a command is a group that a script was rewritten with. */
export function isMade(command: CommandNode): boolean {
  return made.has(command);
}

/** Whether a script sets a trap or has its commands traced. */
export function watchesItself({ statements }: ScriptNode): boolean {
  return callsByName(statements, 'trap') || callsByName(statements, 'set', TRACING);
}

/**
 * Makes a script call `onStatement` before each of its statements, functions included. The hook is the `$before`
 * property, which the interpreter calls as it is patched (bash-script-patches.ts). It is not a getter of a property
 * that is read anyway: V8 puts getters into the old generation, and the call behind them.
 */
export function withStatementHook(script: ScriptNode, onStatement: () => void): ScriptNode {
  hookStatements(script, onStatement);
  return script;
}

function hookStatements(node: unknown, onStatement: () => void): void {
  if (typeof node !== 'object' || node === null) return;
  for (const child of Object.values(node)) hookStatements(child, onStatement);
  if (!('type' in node) || node.type !== 'Statement') return;
  Object.defineProperty(node, '$before', { value: onStatement });
}

/**
 * Makes `exec > >(command)` a subshell around all that follows: what that has written is the command's input when the
 * script has ended. The interpreter has no process that could read meanwhile.
 */
function withShellsForPipes(statements: readonly StatementNode[]): StatementNode[] {
  const at = statements.findIndex((statement) => execIntoPipe(statement) !== null);
  const [statement] = statements.slice(at);
  const redirections = at === -1 || statement === undefined ? null : execIntoPipe(statement);
  if (statement === undefined || redirections === null) return [...statements];
  // A subshell, since `exit` in a group would leave without its redirections.
  const body = withShellsForPipes(statements.slice(at + 1));
  const rest: CommandNode = { type: 'Subshell', body, redirections };
  const pipeline: PipelineNode = { type: 'Pipeline', commands: [rest], negated: false };
  return [...statements.slice(0, at), { ...statement, pipelines: [pipeline] }];
}

/** The redirections of a statement that is `exec > >(command)`; null for any other. */
function execIntoPipe({ pipelines, background }: StatementNode): RedirectionNode[] | null {
  const [command, ...more] = pipelines.flatMap(({ commands, negated }) => (negated ? [null] : commands));
  if (background || more.length > 0 || command?.type !== 'SimpleCommand') return null;
  if (literal(command.name) !== 'exec' || command.args.length > 0) return null;
  const leads = command.redirections.some(
    ({ target }) =>
      target.type === 'Word' &&
      target.parts.some((part) => part.type === 'ProcessSubstitution' && part.direction === 'output'),
  );
  return leads ? command.redirections : null;
}

function toSinks(statement: StatementNode, how: Streaming): StatementNode {
  if (!how.isWatched && needsNoGroup(statement)) return inside(statement, how);
  const group = groupToSinks(inside(statement, how), how);
  const pipeline: PipelineNode = { type: 'Pipeline', commands: [group], negated: false };
  return { type: 'Statement', pipelines: [pipeline], operators: [], background: false, line: statement.line };
}

/**
 * Whether a statement prints nothing itself: half of those in functions. A group around each would take as long again.
 */
function needsNoGroup({ background, pipelines }: StatementNode): boolean {
  return (
    !background &&
    pipelines.every(
      ({ commands, timed }) =>
        timed !== true &&
        commands.every(
          (command) =>
            commands.length === 1 &&
            (isRewritten(command) || (command.redirections.length === 0 && isSilentInside(command))),
        ),
    )
  );
}

/** Whether all that a compound command prints is printed by what it consists of, which has groups of its own. */
function isRewritten({ type, redirections }: CommandNode): boolean {
  return redirections.length === 0 && ['For', 'CStyleFor', 'Case', 'Group'].includes(type);
}

function isSilentInside(command: CommandNode): boolean {
  if (command.type === 'FunctionDef') return true;
  if (command.type !== 'SimpleCommand' || runsAnother(command)) return false;
  if (command.name === null) return true;
  // `declare` and `declare -p` print what there is.
  const name = literal(command.name);
  const lists = /^(?:declare|local|typeset)$/.test(name) && /^$|^-\w*[fFp]/.test(literal(command.args[0] ?? null));
  return SILENT_INSIDE.has(name) && !lists;
}

/** Whether its words are the output of other commands, which may print errors. */
function runsAnother(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(runsAnother);
  if (typeof node !== 'object' || node === null) return false;
  if ('type' in node && (node.type === 'CommandSubstitution' || node.type === 'ProcessSubstitution')) return true;
  return Object.values(node).some(runsAnother);
}

function groupToSinks(statement: StatementNode, { output, errors, isCollected }: Streaming): GroupNode {
  const joined = redirection(2, '>&', '1');
  const ofErrors = errors === null ? [] : [errors === output ? joined : appendTo(2, errors)];
  const redirections = isCollected ? [joined] : [appendTo(1, output), ...ofErrors];
  // The interpreter's rule where both are joined, which it goes by the name of the command.
  Object.assign(redirections, { errorsFirst: printsErrorsFirst(statement) });
  const group: GroupNode = { type: 'Group', body: [statement], redirections };
  made.add(group);
  return group;
}

/** Whether a statement is a program that holds its output back when it is no terminal. */
function printsErrorsFirst({ pipelines }: StatementNode): boolean {
  const [command, ...more] = pipelines.flatMap(({ commands }) => commands);
  return command?.type === 'SimpleCommand' && more.length === 0 && !OUTPUT_FIRST.includes(literal(command.name));
}

function appendTo(fd: number, path: string): RedirectionNode {
  return redirection(fd, '>>', path);
}

function redirection(fd: number, operator: RedirectionNode['operator'], to: string): RedirectionNode {
  const target: WordNode = { type: 'Word', parts: [{ type: 'Literal', value: to }] };
  return { type: 'Redirection', fd, operator, target };
}

/**
 * Rewrites the compound commands of a statement whose output is the statement's own. Each part of `a && b` has a group
 * of its own: what `b` prints as it runs must not come before what `a` has printed.
 */
function inside(statement: StatementNode, how: Streaming): StatementNode {
  if (statement.background) return statement;
  const isList = statement.pipelines.length > 1;
  const pipelines = statement.pipelines.map((pipeline) => {
    const [command, ...more] = pipeline.commands;
    if (command === undefined) return pipeline;
    const rewritten = more.length > 0 ? pipeline : { ...pipeline, commands: [compound(command, how)] };
    if (!isList || (isQuiet(pipeline) && !how.isWatched) || (more.length === 0 && isRewritten(command)))
      return rewritten;
    const part: StatementNode = {
      ...{ type: 'Statement', pipelines: [{ ...rewritten, negated: false }], operators: [], background: false },
      ...(statement.line !== undefined && { line: statement.line }),
    };
    const group = groupToSinks(part, how);
    return { type: 'Pipeline', commands: [group], negated: pipeline.negated } satisfies PipelineNode;
  });
  return withPipelines(statement, pipelines);
}

/** A copy. What is called before the given one is called before the copy as well. */
function withPipelines(statement: StatementNode, pipelines: PipelineNode[]): StatementNode {
  const copy = Object.defineProperties({} as StatementNode, Object.getOwnPropertyDescriptors(statement));
  copy.pipelines = pipelines;
  return copy;
}

function isQuiet({ commands, timed }: PipelineNode): boolean {
  return timed !== true && commands.every(isSilent);
}

function compound(command: CommandNode, how: Streaming): CommandNode {
  if (!command.redirections.every((redirection) => INPUT.has(redirection.operator) && (redirection.fd ?? 0) === 0)) {
    return command;
  }
  return withStreamedParts(command, how);
}

/** A compound command whose parts are rewritten; any other as it is. */
function withStreamedParts(command: CommandNode, how: Streaming): CommandNode {
  const all = (statements: StatementNode[]) => statements.map((statement) => toSinks(statement, how));
  const conditions = (statements: StatementNode[]) => statements.map((statement) => condition(statement, how));
  switch (command.type) {
    case 'If':
      return {
        ...command,
        clauses: command.clauses.map((clause) => ({ condition: conditions(clause.condition), body: all(clause.body) })),
        elseBody: command.elseBody && all(command.elseBody),
      };
    case 'While':
    case 'Until':
      return { ...command, condition: conditions(command.condition), body: all(command.body) };
    case 'For':
    case 'CStyleFor':
    case 'Group':
    case 'Subshell':
      return { ...command, body: all(command.body) };
    case 'Case':
      return { ...command, items: command.items.map((item) => ({ ...item, body: all(item.body) })) };
    default:
      return command;
  }
}

/** Does not rewrite conditions that print nothing: a group around each would double the cost of a loop. */
function condition(statement: StatementNode, how: Streaming): StatementNode {
  return statement.pipelines.every(isQuiet) ? statement : toSinks(statement, how);
}

function isSilent(command: CommandNode): boolean {
  if (command.type === 'ArithmeticCommand' || command.type === 'ConditionalCommand') return true;
  return command.type === 'SimpleCommand' && SILENT.has(literal(command.name));
}

/** Whether something calls a command by name anywhere, with a word like this where one is asked for. */
function callsByName(node: unknown, name: string, withWord?: RegExp): boolean {
  if (Array.isArray(node)) return node.some((one) => callsByName(one, name, withWord));
  if (typeof node !== 'object' || node === null) return false;
  if ('type' in node && node.type === 'SimpleCommand') {
    const command = node as SimpleCommandNode;
    const isIt = literal(command.name) === name;
    if (isIt && (withWord === undefined || command.args.some((word) => withWord.test(literal(word))))) return true;
  }
  return Object.values(node).some((one) => callsByName(one, name, withWord));
}

/** The literal text of a word, without quotes. */
function literal(word: WordNode | null): string {
  return (word?.parts ?? []).map((part) => ('value' in part ? part.value : '')).join('');
}

/**
 * An array of statements that calls `between` before each but the first while it is iterated. The interpreter takes the
 * next statement when the previous one has ended.
 */
class HookedStatements extends Array<StatementNode> {
  #between: () => void = () => {};

  static over(statements: StatementNode[], between: () => void): HookedStatements {
    const hooked = new HookedStatements();
    hooked.push(...statements);
    hooked.#between = between;
    return hooked;
  }

  override *[Symbol.iterator](): ArrayIterator<StatementNode> {
    for (let at = 0; at < this.length; at += 1) {
      if (at > 0) this.#between();
      const statement = this[at];
      if (statement !== undefined) yield statement;
    }
  }
}
