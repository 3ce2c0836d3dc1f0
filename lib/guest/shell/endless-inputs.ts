/**
 * What commands read that stand in a compound command, and what they leave to those behind them. And devices without
 * an end as the standard input of compound commands, functions and shells, and behind a descriptor. The
 * interpreter has a part of one as text: a command that reads it is told which device it is, as behind `< /dev/zero`.
 * Called by just-bash's interpreter as it is patched (bash-redirection-patches.ts).
 */
import type { SimpleCommandNode } from 'just-bash';
import { isEndlessDevice } from './file-content.ts';

interface InputState {
  groupStdin?: string;
  /** The device that `groupStdin` is a part of, and how long that part was. */
  groupDevice?: { path: string; length: number } | undefined;
  /** The rest of a file that was opened as `groupStdin`. */
  groupFile?: string | undefined;
  groupStdinSourceFd?: number | undefined;
  /** A device that was read. */
  endless?: string | undefined;
  /** That of the command that begins. */
  endlessInput?: string | undefined;
  fdPaths?: ReadonlyMap<number, string>;
}

/** Takes the device that redirections have just opened as standard input, by its name or by `<&N`. */
export function takeDevice(state: InputState, redirections: SimpleCommandNode['redirections'], input: unknown): void {
  state.endlessInput = state.endless ?? behindDescriptor(state, redirections);
  state.endless = undefined;
  if (typeof input !== 'string') return;
  state.groupDevice = partOf(state.endlessInput, input);
  const opened = redirections.findLast(({ operator, fd }) => operator.startsWith('<') && (fd ?? 0) === 0);
  state.groupFile = opened?.operator === '<' ? input : undefined;
}

/** Programs that read their standard input when no operand says otherwise, and only then. */
const READERS = new Set(
  (
    'awk b2sum base32 base64 basenc bc cat cksum column comm csplit cut dos2unix egrep envsubst expand factor fgrep fmt fold ' +
    'grep gunzip gzip head hexdump iconv join less md5sum more nl numfmt od paste patch pr rev sed sha1sum sha224sum ' +
    'sha256sum sha384sum sha512sum shuf sort split strings sum tac tail tee tr tsort unexpand uniq unix2dos wc xargs xxd zcat zgrep'
  ).split(' '),
);

/** They take what their scripts have read. */
const SHELLS = new Set(['bash', 'sh']);

interface Taken {
  stdinTaken?: { bytes: number; block: number } | undefined;
}

/**
 * A command has read `given`, which is what the commands around it read: takes it away from those that follow. It
 * leaves them what it did not use of a file, and what stands behind its last block of a pipe. `alsoOf`: takes it from a
 * descriptor.
 */
export function take(
  state: InputState,
  [name, given]: [name: string, given: string],
  result: Taken,
  alsoOf: (descriptor: number, length: number) => void,
): void {
  const isOwn = given !== '' && state.groupStdin === given && deviceAround(state) === undefined;
  const program = name.slice(name.lastIndexOf('/') + 1);
  const isShell = SHELLS.has(program) && result.stdinTaken !== undefined && result.stdinTaken.bytes > 0;
  if (!isOwn || !(isShell || READERS.has(program))) return;
  const { bytes, block } = result.stdinTaken ?? { bytes: given.length, block: 1 };
  const isFile = state.groupFile?.endsWith(given) === true;
  const length = Math.min(given.length, isFile ? bytes : Math.max(block, Math.ceil(bytes / block) * block));
  state.groupStdin = given.slice(length);
  if (state.groupStdinSourceFd !== undefined) alsoOf(state.groupStdinSourceFd, length);
}

/** The result of a shell that was called, with how much of its input it has read. */
export function withTaken<T extends Taken>(result: T, given: string | undefined, left: string | undefined): T {
  if (given === undefined || left === undefined || !given.endsWith(left)) return result;
  return { ...result, stdinTaken: { bytes: given.length - left.length, block: 1 } };
}

/** A subshell without an input of its own has ended, and has left so much of its shell's. */
export function keepLeft(state: InputState, left: string | undefined): void {
  const { groupStdin } = state;
  if (left !== undefined && groupStdin !== undefined && left.length < groupStdin.length && groupStdin.endsWith(left))
    state.groupStdin = left;
}

/** What takes part of a device as its input, so that the commands in it are told. */
export function partOf(path: string | undefined, input: string | undefined): InputState['groupDevice'] {
  return path === undefined ? undefined : { path, length: input?.length ?? 0 };
}

/** The device that a command reads which has no input of its own. */
export function deviceAround({ groupStdin, groupDevice }: InputState): string | undefined {
  return groupDevice !== undefined && groupStdin?.length === groupDevice.length ? groupDevice.path : undefined;
}

function behindDescriptor(state: InputState, redirections: SimpleCommandNode['redirections']): string | undefined {
  const last = redirections.findLast(({ operator, fd }) => operator === '<&' && (fd ?? 0) === 0);
  const [part, ...more] = last?.target.type === 'Word' ? last.target.parts : [];
  const isNumber = part?.type === 'Literal' && more.length === 0 && /^\d{1,9}$/.test(part.value);
  return isNumber ? deviceAt(state.fdPaths, Number(part.value)) : undefined;
}

function deviceAt(paths: InputState['fdPaths'], descriptor: number): string | undefined {
  const path = paths?.get(descriptor);
  return path !== undefined && isEndlessDevice(path) ? path : undefined;
}
