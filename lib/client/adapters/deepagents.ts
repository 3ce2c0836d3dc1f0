/**
 * `winterdock/deepagents`: a sandbox as the backend of LangChain's deepagents (`SandboxBackendProtocolV2`). Imports
 * nothing at run time but the files beside it.
 */
import { fromBase64 } from '../base64.ts';
import { ApiError } from '../error.ts';
import { HOME, shellPathOf, volumePathOf } from '../sandbox/paths.ts';
import type { CommandOptions, Sandbox } from '../sandbox.ts';
import { remarkOn, withRemark } from './commands.ts';
import { globFiles, grepFiles } from './deepagents-search.ts';
import type { DeepChange, DeepFileError, DeepReadResult, DeepSandboxBackend } from './deepagents-types.ts';
import { mediaTypeOf, textOrNull } from './file-kinds.ts';
import { followLinks, isRefusal, writeOverLinks } from './links.ts';

export type { DeepSandboxBackend } from './deepagents-types.ts';

/** Folders at the root that the framework itself writes to. They are in `/memory`, which is kept and not shared. */
const OF_THE_FRAMEWORK = /^\/(?=(?:large_tool_results|conversation_history)(?:\/|$))/;

/** The lines of a read when nobody says how many. */
const LINES = 500;

/** A path as the sandbox has it. Throws `validation` for one that is in no volume. */
function pathOf(path: string): string {
  return shellPathOf(volumePathOf(path.replace(OF_THE_FRAMEWORK, '/memory/')));
}

/** A refusal as the protocol has it. Throws what is none: an aborted call, a fault of this program. */
function refusalOf(error: unknown): { error: string } {
  if (!(error instanceof ApiError)) throw error;
  return { error: error.hint === null ? error.message : `${error.message} ${error.hint}` };
}

/** What is thrown before the work is begun, such as for a path in no volume, is an answer too. */
async function answering<T extends object>(work: () => Promise<T>): Promise<T | { error: string }> {
  try {
    return await work();
  } catch (error) {
    return refusalOf(error);
  }
}

/** The protocol's word for why a file did not come or go. Throws what it has no word for. */
function fileErrorOf(error: unknown): DeepFileError {
  if (isRefusal(error, 'not_found')) return 'file_not_found';
  if (isRefusal(error, 'conflict')) return 'is_directory';
  if (isRefusal(error, 'validation')) return 'invalid_path';
  if (isRefusal(error, 'forbidden', 'capability')) return 'permission_denied';
  throw error;
}

function bytesOrNull(base64: string): Uint8Array | null {
  try {
    return fromBase64(base64);
  } catch {
    // It is some other text, and the answer says so.
    return null;
  }
}

const wholeNumber = (value: number) => (Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0);

/** Some lines of a text, and where they are in it. */
function pageOf(text: string, from: number, most: number): DeepReadResult {
  if (text === '') return { content: '', mimeType: 'text/plain', totalLines: 0 };
  const lines = text.split('\n');
  // The last line's end begins no line of its own.
  const total = text.endsWith('\n') ? lines.length - 1 : lines.length;
  const offset = wholeNumber(from);
  const end = Math.min(total, offset + wholeNumber(most));
  if (offset >= total) return { error: `Line offset ${offset} exceeds file length (${total} lines)` };
  const content = lines.slice(offset, end).join('\n');
  if (end === offset) return { content: '', mimeType: 'text/plain', totalLines: total };
  const page = { content, mimeType: 'text/plain', totalLines: total, startLine: offset + 1, endLine: end };
  return end < total ? { ...page, nextOffset: end } : page;
}

/** Puts one piece in the place of another. `error` says why not. */
function replaced(text: string, { from, to, all }: { from: string; to: string; all: boolean }, path: string) {
  if (from === '') {
    return text === '' ? { text: to, count: 1 } : { error: 'oldString must not be empty unless the file is empty' };
  }
  const count = text.split(from).length - 1;
  if (count === 0) return { error: `String not found in file '${path}'` };
  if (count > 1 && !all) {
    return {
      error: `String appears ${count} times in '${path}'. Use replaceAll=true, or say more of what is around it.`,
    };
  }
  return { text: text.split(from).join(to), count };
}

/**
 * A sandbox as the backend of an agent: `createDeepAgent({ backend: sandboxBackend(box) })`. Files are read and written
 * by the files API, which wakes nothing for reads. Refusals are answers for the model and not thrown, but for commands,
 * which have no such answer. `signal`: stops its commands on the server and rejects; the protocol has no signal of its
 * own. `timeoutMs`: for each command.
 */
export function sandboxBackend(
  box: Sandbox,
  { signal, timeoutMs }: Pick<CommandOptions, 'signal' | 'timeoutMs'> = {},
): DeepSandboxBackend {
  const call = { signal };
  const limits = { signal, timeoutMs };
  const bytesOf = async (path: string): Promise<Uint8Array> => {
    const whole = pathOf(path);
    const bytes = await followLinks(box, whole, call, (real) => box.files.read(real, { format: 'bytes', ...call }));
    if (bytes === null) throw new ApiError('not_found', `File '${path}' not found`);
    return bytes;
  };
  const put = async (path: string, content: Uint8Array | string): Promise<DeepChange> => {
    await writeOverLinks(box, pathOf(path), content, call);
    return { path, filesUpdate: null };
  };
  return {
    id: box.id,
    async execute(command) {
      const result = await box.commands.run(command, limits);
      const { stdout, stderr, exitCode, truncated, timedOut } = result;
      const output = stderr === '' ? stdout : withRemark(stdout, stderr);
      return { output: withRemark(output, remarkOn({ truncated: false, timedOut })), exitCode, truncated };
    },
    ls: (path) =>
      answering(async () => {
        const folders = path === '/' ? ['/workspace', '/memory', '/tmp'] : null;
        if (folders !== null) {
          const info = { is_dir: true, size: 0, modified_at: new Date(0).toISOString() };
          return { files: folders.map((folder) => ({ path: `${folder}/`, ...info })) };
        }
        const entries = await followLinks(box, pathOf(path), call, (real) => box.files.list(real, call));
        if (entries === null) return { error: `Directory '${path}' not found` };
        return {
          files: entries.map(({ path: whole, kind, size, mtime }) => ({
            path: kind === 'dir' ? `${whole}/` : whole,
            is_dir: kind === 'dir',
            size,
            modified_at: new Date(mtime * 1000).toISOString(),
          })),
        };
      }),
    read: (path, offset = 0, limit = LINES) =>
      answering<DeepReadResult>(async () => {
        const bytes = await bytesOf(path);
        const media = mediaTypeOf(path);
        if (media !== null) return { content: bytes, mimeType: media };
        const text = textOrNull(bytes);
        return text === null ? { content: bytes, mimeType: 'application/octet-stream' } : pageOf(text, offset, limit);
      }),
    readRaw: (path) =>
      answering(async () => {
        const bytes = await bytesOf(path);
        const media = mediaTypeOf(path);
        const text = media === null ? textOrNull(bytes) : null;
        const now = new Date().toISOString();
        const mimeType = media ?? (text === null ? 'application/octet-stream' : 'text/plain');
        return { data: { content: text ?? bytes, mimeType, created_at: now, modified_at: now } };
      }),
    write: (path, content) =>
      answering(async () => {
        const media = mediaTypeOf(path);
        if (media === null) return put(path, content);
        // What is no text comes to a backend in base64.
        const bytes = bytesOrNull(content);
        return bytes === null
          ? { error: `'${path}' is of type ${media}: its content is expected in base64` }
          : put(path, bytes);
      }),
    edit: (path, from, to, all = false) =>
      answering(async () => {
        const whole = pathOf(path);
        const found = await followLinks(box, whole, call, async (real) => {
          const { volume, path: inVolume } = volumePathOf(real);
          const file = await box.client.getFile(box.id, volume, inVolume, {}, call);
          return { real, etag: file.etag, text: textOrNull(await file.bytes()) };
        });
        if (found === null) return { error: `File '${path}' not found` };
        if (found.text === null) return { error: `File '${path}' is no text` };
        const { text, count, error } = replaced(found.text, { from, to, all }, path);
        if (text === undefined) return { error };
        try {
          // Only over the version that was read: what somebody else wrote meanwhile is not lost.
          await writeOverLinks(box, found.real, text, { ...call, ifMatch: found.etag ?? undefined });
        } catch (refusal) {
          if (!isRefusal(refusal, 'precondition_failed')) throw refusal;
          return { error: `File '${path}' was changed meanwhile: read it again` };
        }
        return { path, filesUpdate: null, occurrences: count };
      }),
    grep: (pattern, path, glob, maxCount) =>
      answering(() => {
        const folder = (path ?? '/') === '/' ? '/' : pathOf(path ?? '/');
        return grepFiles(box, { pattern, path: folder, glob: glob ?? null, most: maxCount ?? null }, limits);
      }),
    glob: (pattern, path) =>
      answering(() => globFiles(box, { pattern, path: path === '/' ? '/' : pathOf(path ?? HOME) }, limits)),
    delete: (path) =>
      answering(async () => {
        await box.files.remove(pathOf(path), { recursive: true, ...call });
        return { path, filesUpdate: null };
      }),
    uploadFiles: (files) =>
      inOrder(files, async ([path, content]) => {
        const error = await put(path, content).then(() => null, fileErrorOf);
        return { path, error };
      }),
    downloadFiles: (paths) =>
      inOrder(paths, async (path) => {
        try {
          return { path, content: await bytesOf(path), error: null };
        } catch (error) {
          const isFolder = isRefusal(error, 'not_found') && (await box.files.exists(pathOf(path), call));
          return { path, content: null, error: isFolder ? 'is_directory' : fileErrorOf(error) };
        }
      }),
  };
}

/** One after the other, as they were given. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
