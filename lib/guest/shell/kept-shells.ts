/**
 * What the lines of a terminal share: variables, arrays, functions, aliases, options, traps, the mask, the stack of
 * directories, `$?` and `history`. Each line runs in a shell of its own, which begins as the one before it ended. What
 * is kept is a text that who keeps the terminal holds and does not read. Descriptors that `exec` opened end with their
 * line.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { CommandNode, ScriptNode } from 'just-bash';
import { MAX_KEPT_LENGTH } from '../../workers/protocol/protocol.ts';
import { withStatementHook } from './script-transform.ts';

type FunctionNode = Extract<CommandNode, { type: 'FunctionDef' }>;
type Flags = Record<string, boolean>;
interface ShellArray {
  kind: 'indexed' | 'associative';
  elements: Map<string, string>;
}

/** Names of variables with an attribute, as the interpreter has them. */
const ATTRIBUTES = [
  'exportedVars',
  'readonlyVars',
  'integerVars',
  'lowercaseVars',
  'uppercaseVars',
  'associativeArrays',
  'namerefs',
  'boundNamerefs',
  'invalidNamerefs',
  'declaredVars',
] as const;

/** What is read and set of the interpreter's state. */
export interface KeptState extends Partial<Record<(typeof ATTRIBUTES)[number], Set<string>>> {
  env: Map<string, string>;
  arrays?: Map<string, ShellArray>;
  functions: Map<string, FunctionNode>;
  options: object;
  shoptOptions: object;
  directoryStack?: string[];
  previousDir: string;
  lastExitCode: number;
  lastArg: string;
  startTime: number;
  umask?: string | undefined;
  traps?: Map<string, string> | undefined;
}

/** Changes since the shell was new: null stands for what was removed. */
interface Kept {
  variables: [string, string | null][];
  arrays: [string, ShellArray['kind'] | null, [string, string][]][];
  attributes: { [name in (typeof ATTRIBUTES)[number]]?: [added: string[], removed: string[]] };
  functions: [string, unknown][];
  options: Flags;
  shoptOptions: Flags;
  directories: string[];
  rest: Pick<KeptState, 'previousDir' | 'lastExitCode' | 'lastArg' | 'startTime' | 'umask'>;
  traps: [string, string][];
}

/** Of what it is unpacked to. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
/** As bash keeps where HISTSIZE says nothing. */
const HISTORY_LINES = 500;
const HISTORY_LENGTH = 64 * 1024;
/** Where just-bash's `history` reads its lines. */
const HISTORY = 'BASH_HISTORY';
/** The call's own, or set for each command. */
const NOT_KEPT: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', '?', '_']);
const ARRAYS_NOT_KEPT: ReadonlySet<string> = new Set(['PIPESTATUS', 'BASH_VERSINFO']);

/** The shell of one line. */
export class KeptShell {
  /** What an earlier line left; empty for the first one. */
  readonly #before: string;
  readonly #line: string;
  readonly #onStatement: () => void;
  #fresh: Pick<KeptState, 'env' | 'arrays'> & { attributes: Map<string, ReadonlySet<string>> } = {
    ...{ env: new Map(), arrays: new Map(), attributes: new Map() },
  };
  #after: string | null;

  constructor(before: string, line: string, onStatement: () => void) {
    this.#before = before;
    this.#after = before;
    this.#line = line;
    this.#onStatement = onStatement;
  }

  /** What the next line begins with; null when it is more than a terminal keeps. */
  get after(): string | null {
    return this.#after;
  }

  /** Makes a new shell what the one before was. */
  begin(state: KeptState): void {
    this.#fresh = {
      env: new Map(state.env),
      arrays: new Map(state.arrays),
      attributes: new Map(ATTRIBUTES.map((name) => [name, new Set(state[name])])),
    };
    const kept = unpacked(this.#before);
    if (kept !== null) this.#restore(state, kept);
    const { env } = state;
    env.set(HISTORY, JSON.stringify(withLine(env.get(HISTORY), this.#line)));
    // As in every shell that somebody types into.
    Object.assign(state.shoptOptions, { expand_aliases: kept?.shoptOptions?.expand_aliases ?? true });
  }

  /** Takes what a line leaves. `hasExited`: the shell has ended, and the next line begins with a new one. */
  end(state: KeptState, hasExited: boolean): void {
    const kept = hasExited ? null : this.#changes(state);
    const history: Kept['variables'] = [[HISTORY, state.env.get(HISTORY) ?? '[]']];
    const text = packed(kept ?? { variables: history });
    this.#after = text.length > MAX_KEPT_LENGTH ? null : text;
  }

  #restore(state: KeptState, kept: Partial<Kept>): void {
    const { variables = [], arrays = [], attributes = {}, functions = [], traps = [], rest } = kept;
    for (const [name, value] of variables) value === null ? state.env.delete(name) : state.env.set(name, value);
    state.arrays ??= new Map();
    for (const [name, kind, elements] of arrays)
      kind === null ? state.arrays.delete(name) : state.arrays.set(name, { kind, elements: new Map(elements) });
    for (const name of ATTRIBUTES) {
      const [added = [], removed = []] = attributes[name] ?? [];
      if (added.length + removed.length > 0)
        state[name] = new Set([...without(state[name], new Set(removed)), ...added]);
    }
    for (const [name, node] of functions) state.functions.set(name, node as FunctionNode);
    const statements = functions.map(([, node]) => node) as ScriptNode['statements'];
    withStatementHook({ type: 'Script', statements }, this.#onStatement);
    Object.assign(state.options, kept.options);
    Object.assign(state.shoptOptions, kept.shoptOptions);
    if (kept.directories !== undefined && kept.directories.length > 0) state.directoryStack = kept.directories;
    if (traps.length > 0) state.traps = new Map(traps);
    if (rest === undefined) return;
    Object.assign(state, rest);
    state.env.set('OLDPWD', rest.previousDir).set('?', String(rest.lastExitCode));
  }

  #changes(state: KeptState): Kept {
    const { env, arrays, attributes } = this.#fresh;
    const { previousDir, lastExitCode, lastArg, startTime, umask, directoryStack = [] } = state;
    const changed = [...state.env].filter(([name, value]) => env.get(name) !== value);
    const gone = [...env.keys()].filter((name) => !state.env.has(name));
    const goneArrays = [...(arrays?.keys() ?? [])].filter((name) => !state.arrays?.has(name));
    return {
      variables: [...changed, ...gone.map((name): [string, null] => [name, null])].filter(
        ([name]) => !NOT_KEPT.has(name),
      ),
      arrays: [
        ...[...(state.arrays ?? [])]
          .filter(([name]) => !ARRAYS_NOT_KEPT.has(name))
          .map(([name, { kind, elements }]): Kept['arrays'][number] => [name, kind, [...elements]]),
        ...goneArrays.map((name): Kept['arrays'][number] => [name, null, []]),
      ],
      attributes: Object.fromEntries(
        ATTRIBUTES.map((name) => {
          const [now, before] = [new Set(state[name]), new Set(attributes.get(name))];
          return [name, [without(now, before), without(before, now)]];
        }),
      ),
      functions: [...state.functions].map(([name, node]) => [name, plain(node)]),
      options: { ...state.options },
      shoptOptions: { ...state.shoptOptions },
      directories: directoryStack,
      rest: { previousDir, lastExitCode, lastArg, startTime, umask },
      traps: [...(state.traps ?? [])],
    };
  }
}

function without(names: Iterable<string> | undefined, others: ReadonlySet<string>): string[] {
  return [...(names ?? [])].filter((name) => !others.has(name));
}

function withLine(history: string | undefined, line: string): string[] {
  const lines = [...(parsed<string[]>(history ?? '[]') ?? []), line.trim()].slice(-HISTORY_LINES);
  let length = 0;
  const from = lines.findLastIndex((one) => {
    length += one.length;
    return length > HISTORY_LENGTH;
  });
  return lines.slice(from + 1);
}

/** A part of a syntax tree without what reads a clock, and without the sources of its statements. */
function plain(node: unknown): unknown {
  if (typeof node === 'bigint') return { $integer: String(node) };
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.keys(node)
    .filter((key) => key !== 'deferredError' && key !== 'sourceText')
    .map((key) => [key, plain((node as Record<string, unknown>)[key])]);
  return Object.fromEntries(entries);
}

function packed(kept: Partial<Kept>): string {
  return deflateRawSync(JSON.stringify(kept)).toString('base64');
}

/** Null for the first line, and for what is none of ours. */
function unpacked(text: string): Partial<Kept> | null {
  if (text === '') return null;
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MAX_UNPACKED_BYTES });
    return JSON.parse(bytes.toString(), (_, value) =>
      typeof value?.$integer === 'string' ? BigInt(value.$integer) : value,
    );
  } catch {
    // A worker that is in other hands wrote it. It is its own sandbox's.
    return null;
  }
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
