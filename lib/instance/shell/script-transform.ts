/**
 * Rewrites a parsed script so that its output can be sent while it runs. Each command that writes to the script's own
 * output is put in a group whose output goes to two sink files. Knows the shell's syntax tree, not what the sinks do.
 *
 * A group runs in the same shell, so variables, functions, `cd`, `set -e` and `exit` keep their meaning. Loops,
 * conditions and groups are rewritten inside, so that an endless loop sends its output and does not buffer it.
 */
import type { CommandNode, PipelineNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from 'just-bash';

type GroupNode = Extract<CommandNode, { type: 'Group' }>;
type RedirectionNode = GroupNode['redirections'][number];

/** Paths that stand for the script's own output. */
export const SINKS = { stdout: '/dev/winterdock/stdout', stderr: '/dev/winterdock/stderr' } as const;

/** Commands that print nothing unless used wrongly. */
const SILENT = new Set(['[', 'test', 'true', 'false', ':', 'read']);
const INPUT = new Set(['<', '<<', '<<-', '<<<']);

/**
 * Sends the output of a script to the sinks. Calls `between` before every top-level command except the first. Does not
 * rewrite from the first command on that may redirect the whole shell (`exec > file`): a group would undo that
 * redirection at its end.
 */
export function withStreamedOutput(given: ScriptNode, between: () => void): ScriptNode {
  const script = { ...given, statements: withShellsForPipes(given.statements) };
  const from = script.statements.findIndex(mayReplaceOutput);
  const plain = from === -1 ? script.statements.length : from;
  const statements = script.statements.map((statement, at) => (at < plain ? toSinks(statement) : statement));
  return { ...script, statements: HookedStatements.over(statements, between) };
}

/**
 * Makes a script call `onStatement` before each of its statements, functions included. The hook is the `deferredError`
 * property, which the interpreter reads before it runs a statement.
 */
export function withStatementHook(script: ScriptNode, onStatement: () => void): ScriptNode {
  hookStatements(script, onStatement);
  return script;
}

function hookStatements(node: unknown, onStatement: () => void): void {
  if (typeof node !== 'object' || node === null) return;
  for (const child of Object.values(node)) hookStatements(child, onStatement);
  if (!('type' in node) || node.type !== 'Statement') return;
  const { deferredError } = node as StatementNode;
  Object.defineProperty(node, 'deferredError', {
    get: () => {
      onStatement();
      return deferredError;
    },
  });
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

/** Rewrites the compound commands of a statement whose output is the statement's own. */
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

/** Does not rewrite conditions that print nothing: a group around each would double the cost of a loop. */
function condition(statement: StatementNode): StatementNode {
  const prints = statement.pipelines.some(
    ({ commands, timed }) => timed || commands.some((command) => !isSilent(command)),
  );
  return prints ? toSinks(statement) : statement;
}

function isSilent(command: CommandNode): boolean {
  if (command.type === 'ArithmeticCommand' || command.type === 'ConditionalCommand') return true;
  return command.type === 'SimpleCommand' && SILENT.has(literal(command.name));
}

/** Whether a statement calls `exec` by name anywhere. */
function mayReplaceOutput(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mayReplaceOutput);
  if (typeof node !== 'object' || node === null) return false;
  if ('type' in node && node.type === 'SimpleCommand' && literal((node as SimpleCommandNode).name) === 'exec')
    return true;
  return Object.values(node).some(mayReplaceOutput);
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
