/**
 * The commands that an awk program writes to and runs, and the functions of gawk that just-bash's awk lacks. Called as
 * it is patched (awk-patches.ts). A command's input is whole before it runs; what it prints stands where gawk, which
 * holds its own output back, lets it appear.
 */
import { type HeldOutput, release } from './awk-values.ts';

type Scalar = string | number;

/** What it takes of the state of a running program. */
export interface AwkState extends HeldOutput {
  output: string;
  arrays: Record<string, Record<string, Scalar>>;
  exec: ((command: string, input: string) => Promise<CommandResult>) | undefined;
  getlineCommandStreams: Map<string, unknown>;
  getlineFileStreams: Map<string, unknown>;
  openedFiles: Set<string>;
  fs:
    | { resolvePath(from: string, name: string): string; appendFile(path: string, text: string): Promise<void> }
    | undefined;
  cwd: string | undefined;
  /** Ours: what is written to each command, and how much of the output had been let go when one was begun. */
  commands?: Map<string, string>;
  released?: number;
  /** Ours: what goes to stderr. */
  errors?: string;
}

interface CommandResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Writes to `/dev/stdout` and `/dev/stderr`; false for any other name. */
export function toStandard(state: AwkState, operator: string, name: string, text: string): boolean {
  if (operator === '|' || !['/dev/stdout', '/dev/stderr', '-'].includes(name)) return false;
  if (name === '/dev/stderr') state.errors = (state.errors ?? '') + text;
  else state.output += text;
  return true;
}

/** Adds to the input of a command, which is begun with that if it is new. */
export function writeTo(state: AwkState, command: string, text: string): void {
  state.commands ??= new Map();
  if (!state.commands.has(command)) state.released = state.output.length;
  state.commands.set(command, (state.commands.get(command) ?? '') + text);
}

/** `close(name)`: the exit code of a command that was written to, 0 for one that was read, -1 for anything else. */
export async function close(state: AwkState, name: string): Promise<number> {
  const input = state.commands?.get(name);
  if (input === undefined) return (await closeFile(state, name)) || state.getlineCommandStreams.delete(name) ? 0 : -1;
  state.commands?.delete(name);
  return run(state, name, input);
}

/** Closes a file that was written or read; whether it was open. */
async function closeFile(state: AwkState, name: string): Promise<boolean> {
  const path = state.fs?.resolvePath(state.cwd ?? '/', name) ?? name;
  await release(state);
  const wasRead = state.getlineFileStreams.delete(path);
  return state.openedFiles.delete(path) || wasRead;
}

/** Runs what the program has written to and not closed. */
export async function closeAll(state: AwkState): Promise<void> {
  for (const [command, input] of state.commands ?? []) await run(state, command, input);
  state.commands?.clear();
}

/** `system(command)`: its exit code. All output so far comes first. */
export function system(state: AwkState, command: string): Promise<number> {
  state.released = state.output.length;
  return run(state, command, '');
}

async function run(state: AwkState, command: string, input: string): Promise<number> {
  await release(state);
  if (state.exec === undefined) throw new Error(`cannot run a command here: ${command}`);
  const { stdout, stderr, exitCode } = await state.exec(command, input);
  const released = state.released ?? 0;
  state.output = state.output.slice(0, released) + stdout + state.output.slice(released);
  state.released = released + stdout.length;
  state.errors = (state.errors ?? '') + stderr;
  return exitCode;
}

/** The third argument of `match`: the match, its groups, and where each begins and how long it is. */
export function groupsOf(found: RegExpExecArray | null): [key: string, value: Scalar][] {
  if (found === null) return [];
  let from = found.index;
  return [...found].flatMap((text, at): [string, Scalar][] => {
    if (text === undefined || text === null) return [];
    // The engine does not say where a group begins: the first place at or behind the one before it.
    const start = at === 0 ? found.index : found.index + found[0].indexOf(text, from - found.index);
    from = at === 0 ? found.index : Math.max(from, start);
    return [
      [String(at), text],
      [`${at}\u001cstart`, start + 1],
      [`${at}\u001clength`, text.length],
    ];
  });
}

/** `asort` and `asorti`: the values, or the keys, in order: numbers before texts. */
export function sorted(array: Readonly<Record<string, Scalar>>, byKey: boolean): Scalar[] {
  return (byKey ? Object.keys(array) : Object.values(array)).toSorted(byKey ? textOrder : valueOrder);
}

/** The keys of an array, as `PROCINFO["sorted_in"]` wants them. */
export function orderedKeys(state: AwkState, array: Readonly<Record<string, Scalar>>): string[] {
  const wanted = /^@(ind|val)_(num|str|type)_(asc|desc)$/.exec(String(state.arrays.PROCINFO?.sorted_in ?? ''));
  const keys = Object.keys(array);
  if (wanted === null) return keys;
  const [, of, as, direction] = wanted;
  const compare = as === 'str' ? textOrder : as === 'num' ? numberOrder : valueOrder;
  const ordered = keys.toSorted((one, other) =>
    of === 'ind' ? compare(one, other) : compare(array[one] ?? '', array[other] ?? '') || textOrder(one, other),
  );
  return direction === 'desc' ? ordered.toReversed() : ordered;
}

function isNumber(value: Scalar): boolean {
  return typeof value === 'number' || /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(value);
}

function valueOrder(one: Scalar, other: Scalar): number {
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? -1 : 1;
  return isNumber(one) ? Number(one) - Number(other) : textOrder(one, other);
}

function numberOrder(one: Scalar, other: Scalar): number {
  return (Number.parseFloat(String(one)) || 0) - (Number.parseFloat(String(other)) || 0) || textOrder(one, other);
}

function textOrder(one: Scalar, other: Scalar): number {
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}
