/**
 * The file in which the state of a component with `:persist` is kept: in the volume `memory`, one line of JSON that
 * says whose it is, then the state. Knows nothing of how a state is made.
 */
import { parseVfsPath, type VfsPath } from '../../vfs/paths.ts';
import type { ComponentSpec } from '../../workers/protocol/component-call.ts';

export const STATE_VOLUME = 'memory';
const FORMAT = 'winterdock-state/1';
/** Most bytes of one state. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 10;
const MAX_HEADER_BYTES = 4096;

/** What a state consists of: text that `state.get` or `get_state` gave, bytes of `checkpoint`, or a whole memory. */
type StateContent = 'json' | 'bytes' | 'memory';

interface StateHeader {
  format: string;
  workbook: string;
  version: number;
  component: string;
  language: string;
  content: StateContent;
}

/** A state that cannot be used or kept. */
export class StateError extends Error {}

export function statePath(path: string): VfsPath {
  return parseVfsPath(`/.workbook/${path}.state`);
}

export function encodeState(
  component: ComponentSpec,
  workbook: { id: string; version: number },
  state: Uint8Array,
): Buffer {
  if (state.byteLength > MAX_STATE_BYTES)
    throw new StateError(`Its state has ${state.byteLength} bytes; at most ${MAX_STATE_BYTES} are kept.`);
  const header: StateHeader = {
    format: FORMAT,
    workbook: workbook.id,
    version: workbook.version,
    component: component.path,
    language: component.lang,
    content: contentOf(component),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), state]);
}

/** The state in a file. Throws StateError for one that this component cannot read; nothing is changed. */
export function decodeState(component: ComponentSpec, file: Uint8Array): Uint8Array {
  const end = file.subarray(0, MAX_HEADER_BYTES).indexOf(NEWLINE);
  const header = headerOf(Buffer.from(file.subarray(0, Math.max(0, end))).toString());
  const where = `${STATE_VOLUME}:${statePath(component.path)}`;
  if (header === null) throw new StateError(`What is kept in ${where} is no state of a component.`);
  if (header.format !== FORMAT)
    throw new StateError(
      `What is kept in ${where} has the format ${JSON.stringify(header.format)}, which is not known here.`,
    );
  const content = contentOf(component);
  if (header.content !== content)
    throw new StateError(
      `What is kept in ${where} is ${header.content} of a ${header.language} component; this one needs ${content}.`,
    );
  return file.subarray(end + 1);
}

/** The part of a kept file that tells one state from another. */
export function stateOfFile(file: Uint8Array): Uint8Array {
  return file.subarray(file.subarray(0, MAX_HEADER_BYTES).indexOf(NEWLINE) + 1);
}

function contentOf({ lang, persist }: ComponentSpec): StateContent {
  if (lang !== 'wasm') return 'json';
  return persist === 'memory' ? 'memory' : 'bytes';
}

function headerOf(line: string): StateHeader | null {
  try {
    const header = JSON.parse(line) as Partial<StateHeader> | null;
    return typeof header?.format === 'string' ? (header as StateHeader) : null;
  } catch {
    return null;
  }
}
