/**
 * Devices without an end as the standard input of compound commands, functions and shells, and behind a descriptor. The
 * interpreter has a part of one as text: a command that reads it is told which device it is, as behind `< /dev/zero`.
 * Called by just-bash's interpreter as it is patched (bash-redirection-patches.ts).
 */
import type { SimpleCommandNode } from 'just-bash';
import { isEndlessDevice } from './file-content.ts';

interface InputState {
  groupStdin?: string;
  /** The device that `groupStdin` is a part of, and how long that part was. */
  groupDevice?: { path: string; length: number } | undefined;
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
  if (typeof input === 'string') state.groupDevice = partOf(state.endlessInput, input);
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
