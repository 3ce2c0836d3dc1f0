/** What a process for real programs is told at its start, the same for all sandboxes of a server; and where it is. */
import { fileURLToPath } from 'node:url';
import type { JailGroupPlaces, JailLimits } from '../jail/jail-groups.ts';

export interface NativePlace {
  /** An empty folder, absolute. The mount in it is seen by this process and its jail alone. */
  readonly mountFolder: string;
  readonly groups: JailGroupPlaces;
  readonly limits: JailLimits;
  /** How long what runs in the background keeps its sandbox awake after the last call, in milliseconds. */
  readonly holdMs: number;
}

/** The file that such a process runs. The package's tracer follows the path as it is written here. */
export const NATIVE_WORKER = fileURLToPath(new URL('./native-worker.ts', import.meta.url));

/** The argument that carries the place; others see it, and it holds nothing but paths and limits. */
const ARGUMENT = 'WINTERDOCK_NATIVE=';

export function placeArgument(place: NativePlace): string {
  return `${ARGUMENT}${JSON.stringify(place)}`;
}

/** Reads it back. Throws without one: the process was begun by somebody else. */
export function nativePlaceOf(args: readonly string[]): NativePlace {
  const found = args.find((argument) => argument.startsWith(ARGUMENT));
  if (found === undefined) throw new Error('It was begun without a place for its mount.');
  return JSON.parse(found.slice(ARGUMENT.length)) as NativePlace;
}
