/**
 * Files that the output of a command is redirected to, in a call that nobody waits for: what the command prints is in
 * the file as it prints, and not when it ends. Called by just-bash's interpreter as it is patched
 * (bash-pipe-patches.ts). Knows of the interpreter what the interfaces say.
 */
import type { CommandNode } from 'just-bash';
import type { FileInUse } from '../../vfs/file-table.ts';
import type { Overlay } from '../../vfs/overlay.ts';
import { guestFiles, type MountedFiles } from './mounted-files.ts';
import { CallOutput, type Outlet } from './outlets.ts';
import { asPosix } from './posix-error.ts';

type Redirection = CommandNode['redirections'][number];

/** What a descriptor is after the redirections of a command, in order. */
type Route = { kind: 'output'; path: string } | { kind: string };

const TO_FILE = new Set(['>', '>>', '>|']);
const BOTH_TO_FILE = new Set(['&>', '&>>']);

/** One file, under a path of its own among the sinks. */
interface LiveFile {
  /** The path among the sinks. */
  readonly sink: string;
  /** The file's own; null until the redirections are done, and for what is no file. */
  path: string | null;
  /** What was sent before that, or to what is no file. */
  held: Uint8Array[];
  open: FileInUse | null;
}

/** The output of a command whose stdout, and perhaps stderr, is redirected to files. */
export class FileOutput extends CallOutput {
  readonly #redirections: readonly Redirection[];
  readonly #files: MountedFiles;
  readonly #overlay: Overlay;
  readonly #stdout: LiveFile;
  readonly #stderr: LiveFile | null;

  constructor(
    command: CommandNode,
    parts: { files: MountedFiles; overlay: Overlay; errors: 'same' | 'other' | string | null },
  ) {
    const { files, overlay, errors } = parts;
    const open = () => {
      const file: LiveFile = { sink: '', path: null, held: [], open: null };
      const sink = guestFiles(files).sinks.open(null, (content) => this.#write(file, content));
      return Object.assign(file, { sink });
    };
    const stdout = open();
    const stderr = errors === 'other' ? open() : null;
    const pathOfErrors = errors === 'same' ? stdout.sink : errors === 'other' ? (stderr?.sink ?? null) : errors;
    super([command], stdout.sink, pathOfErrors);
    this.#redirections = command.redirections;
    this.#files = files;
    this.#overlay = overlay;
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  /** The files are there, and empty where they are to be. */
  opened(redirections: readonly Redirection[], routes: ReadonlyMap<number, Route>): void {
    if (redirections !== this.#redirections) return;
    for (const [descriptor, file] of [
      [1, this.#stdout],
      [2, this.#stderr],
    ] as const) {
      const route = routes.get(descriptor);
      if (file !== null && route?.kind === 'output' && 'path' in route) file.path = route.path;
    }
  }

  /** Whether a file has what was printed so far: the rest follows it. */
  has(path: string): boolean {
    return [this.#stdout, this.#stderr].some((file) => file?.path === path && file.open !== null);
  }

  /** The command has ended. */
  async close(): Promise<void> {
    guestFiles(this.#files).sinks.close(this.#stdout.sink);
    for (const file of [this.#stdout, this.#stderr]) {
      if (file === null) continue;
      if (file.open !== null) this.#overlay.closeFile(file.open);
      file.open = null;
      if (file.path !== null && file.held.length > 0) await this.#files.appendFile(file.path, Buffer.concat(file.held));
    }
  }

  #write(file: LiveFile, content: Uint8Array): void {
    const { path } = file;
    if (path === '/dev/null' || content.byteLength === 0) return;
    if (path !== null && file.open === null) {
      const { address } = guestFiles(this.#files).resolve(path);
      if (address !== null) file.open = this.#overlay.openFile(address.path, address.volume);
    }
    const { open } = file;
    if (open === null) file.held.push(Buffer.from(content));
    else asPosix(path ?? '', () => this.#overlay.writeOpen(open, content, 'end'));
  }
}

/** The output of a command that is redirected to files and is to be there as it is printed; null for any other. */
export function liveFileOf(outer: Outlet | undefined, command: CommandNode, files: MountedFiles): FileOutput | null {
  // The interpreter also runs over files that are not ours, which have no sinks.
  const written = guestFiles(files).sinks?.written ?? null;
  if (written === null || command.type === 'FunctionDef') return null;
  const outputs = command.redirections?.filter(({ operator }) => operator.includes('>')) ?? [];
  const toStdout = outputs.filter(
    ({ operator, fd, fdVariable }) => !fdVariable && (fd ?? 1) === 1 && operator !== '<>',
  );
  const [only, ...more] = toStdout;
  const others = outputs.filter((one) => one !== only);
  const [ofErrors, ...further] = others;
  if (only === undefined || more.length + further.length > 0 || !isFile(only)) return null;
  const parts = { files, overlay: written };
  if (BOTH_TO_FILE.has(only.operator)) return ofErrors ? null : new FileOutput(command, { ...parts, errors: 'same' });
  if (!TO_FILE.has(only.operator)) return null;
  if (ofErrors === undefined) {
    return new FileOutput(command, { ...parts, errors: outer?.live ? outer.errors : null });
  }
  if (ofErrors.fd !== 2) return null;
  if (TO_FILE.has(ofErrors.operator) && isFile(ofErrors)) return new FileOutput(command, { ...parts, errors: 'other' });
  if (ofErrors.operator !== '>&' || textOf(ofErrors) !== '1') return null;
  // `2>&1 > file`: what stdout was before.
  if (outputs.indexOf(ofErrors) > outputs.indexOf(only)) return new FileOutput(command, { ...parts, errors: 'same' });
  return new FileOutput(command, { ...parts, errors: outer?.live ? outer.output : null });
}

/** A file as far as its words tell: no device, and no pipe of `>(command)`. */
function isFile(redirection: Redirection): boolean {
  const { target } = redirection;
  if (target.type !== 'Word' || target.parts.some((part) => part.type === 'ProcessSubstitution')) return false;
  return !/^\/(?:dev|proc)\//.test(textOf(redirection));
}

/** The text of a redirection's word as far as it is plain. */
function textOf({ target }: Redirection): string {
  const [first] = 'parts' in target ? target.parts : [];
  return first !== undefined && 'value' in first ? first.value : '';
}

/** Tells the output of the command that runs, once its redirections are done. Returns what `prepare` does. */
export async function prepared<Ready extends { standardRoutes?: ReadonlyMap<number, Route> }>(
  outlet: FileOutput,
  redirections: readonly Redirection[],
  prepare: () => Promise<Ready>,
): Promise<Ready> {
  const ready = await prepare();
  if (ready.standardRoutes) outlet.opened(redirections, ready.standardRoutes);
  return ready;
}

export function isLive(outlet: Outlet | undefined): outlet is FileOutput {
  return outlet instanceof FileOutput;
}
