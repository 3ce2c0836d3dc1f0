/**
 * Rewrites a parsed script so that its output leaves while it runs: each command that writes to the script's own output
 * is put in a group whose output goes to two sink files. Knows the shell's syntax tree and nothing of what the sinks
 * do.
 *
 * A group runs in the same shell, so variables, functions, `cd`, `set -e` and `exit` mean what they meant. Loops,
 * conditions and groups are followed inside, so that an endless loop says what it has to say and holds none of it.
 */
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from 'just-bash';

type GroupNode = Extract<CommandNode, { type: 'Group' }>;
type RedirectionNode = GroupNode['redirections'][number];

/** Paths that stand for the script's own output. */
export const SINKS = { stdout: '/dev/winterdock/stdout', stderr: '/dev/winterdock/stderr' } as const;

/** Commands that say nothing unless they are used wrongly. */
const SILENT = new Set(['[', 'test', 'true', 'false', ':', 'read']);
const INPUT = new Set(['<', '<<', '<<-', '<<<']);

/**
 * The same script with its output sent to the sinks. `between` is called before every top-level command but the first.
 * From a command on that may redirect the whole shell (`exec > file`) nothing is rewritten: a group would undo that
 * redirection at its end.
 */
export function withStreamedOutput(script: ScriptNode, between: () => void): ScriptNode {
  const from = script.statements.findIndex(mayReplaceOutput);
  const plain = from === -1 ? script.statements.length : from;
  const statements = script.statements.map((statement, at) => (at < plain ? toSinks(statement) : statement));
  return { ...script, statements: Watched.over(statements, between) };
}

/**
 * The same script, which calls `look` before each of its statements, those of its functions too: the interpreter asks
 * every statement whether it holds an error to be raised when it is reached.
 */
export function withStatementHook(script: ScriptNode, look: () => void): ScriptNode {
  observe(script, look);
  return script;
}

function observe(node: unknown, look: () => void): void {
  if (typeof node !== 'object' || node === null) return;
  for (const child of Object.values(node)) observe(child, look);
  if (!('type' in node) || node.type !== 'Statement') return;
  const { deferredError } = node as StatementNode;
  Object.defineProperty(node, 'deferredError', {
    get: () => {
      look();
      return deferredError;
    },
  });
}

function toSinks(statement: StatementNode): StatementNode {
  const group: GroupNode = {
    type: 'Group',
    body: [inside(statement)],
    redirections: [appendTo(1, SINKS.stdout), appendTo(2, SINKS.stderr)],
  };
  const pipeline: PipelineNode = { type: 'Pipeline', commands: [group], negated: false };
  return { type: 'Statement', pipelines: [pipeline], operators: [], background: false, line: statement.line };
}

function appendTo(fd: number, path: string): RedirectionNode {
  const target: WordNode = { type: 'Word', parts: [{ type: 'Literal', value: path }] };
  return { type: 'Redirection', fd, operator: '>>', target };
}

/** Follows the compound commands of a statement whose output is the statement's own. */
function inside(statement: StatementNode): StatementNode {
  if (statement.background) return statement;
  const pipelines = statement.pipelines.map((pipeline) => {
    const [command, ...more] = pipeline.commands;
    if (command === undefined || more.length > 0) return pipeline;
    return { ...pipeline, commands: [compound(command)] };
  });
  return { ...statement, pipelines };
}

function compound(command: CommandNode): CommandNode {
  if (!command.redirections.every((redirection) => INPUT.has(redirection.operator) && (redirection.fd ?? 0) === 0)) {
    return command;
  }
  const all = (statements: StatementNode[]) => statements.map(toSinks);
  switch (command.type) {
    case 'If':
      return {
        ...command,
        clauses: command.clauses.map((clause) => ({
          condition: clause.condition.map(condition),
          body: all(clause.body),
        })),
        elseBody: command.elseBody && all(command.elseBody),
      };
    case 'While':
    case 'Until':
      return { ...command, condition: command.condition.map(condition), body: all(command.body) };
    case 'For':
    case 'CStyleFor':
    case 'Group':
      return { ...command, body: all(command.body) };
    case 'Case':
      return { ...command, items: command.items.map((item) => ({ ...item, body: all(item.body) })) };
    default:
      return command;
  }
}

/** Conditions that write nothing are left as they are: a group around each would double the cost of a loop. */
function condition(statement: StatementNode): StatementNode {
  const says = statement.pipelines.some(
    ({ commands, timed }) => timed || commands.some((command) => !isSilent(command)),
  );
  return says ? toSinks(statement) : statement;
}

function isSilent(command: CommandNode): boolean {
  if (command.type === 'ArithmeticCommand' || command.type === 'ConditionalCommand') return true;
  return command.type === 'SimpleCommand' && SILENT.has(literal(command.name));
}

/** Whether `exec` is called anywhere in a statement, by its name. */
function mayReplaceOutput(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mayReplaceOutput);
  if (typeof node !== 'object' || node === null) return false;
  if ('type' in node && node.type === 'SimpleCommand' && literal((node as SimpleCommandNode).name) === 'exec')
    return true;
  return Object.values(node).some(mayReplaceOutput);
}

/** A word as it is written, without its quotes. */
function literal(word: WordNode | null): string {
  return (word?.parts ?? []).map((part) => ('value' in part ? part.value : '')).join('');
}

/**
 * A list of statements whose iteration calls `between` before each but the first: the interpreter asks for one when the
 * last one ended.
 */
class Watched extends Array<StatementNode> {
  #between: () => void = () => {};

  static over(statements: StatementNode[], between: () => void): Watched {
    const watched = new Watched();
    watched.push(...statements);
    watched.#between = between;
    return watched;
  }

  override *[Symbol.iterator](): ArrayIterator<StatementNode> {
    for (let at = 0; at < this.length; at += 1) {
      if (at > 0) this.#between();
      const statement = this[at];
      if (statement !== undefined) yield statement;
    }
  }
}
