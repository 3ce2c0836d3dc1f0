/**
 * `eval`: runs one piece of JavaScript or Python, and returns its value and output. Defines the files that its code can
 * reach.
 */
import { isUtf8 } from 'node:buffer';
import type { Overlay } from '../vfs/overlay.ts';
import { parseVfsPath } from '../vfs/paths.ts';
import { DEFAULT_VOLUME, parseVolume } from '../vfs/volumes.ts';
import { runJavaScript } from './javascript.ts';
import { escapeLoneSurrogates, type HostFunction, Utf8Bytes } from './javascript-bridge.ts';
import { MAX_STREAM_BYTES } from './output.ts';
import type { PolicyProfile } from './policies.ts';
import { maxGrowthBytes } from './process-memory.ts';
import type { EvalCall, EvalResult } from './protocol.ts';
import { pythonSource } from './python.ts';
import type { Run } from './run.ts';
import type { Shell } from './shell.ts';
import { type GuestMemory, requireTransferable } from './transfer-limit.ts';

const OUTPUT_TRUNCATED = `more than ${MAX_STREAM_BYTES} bytes were written to a stream, the rest was dropped`;
/** Maximum number of files in one `vfs.list`; a longer list is an error. */
const LIST_LIMIT = 100_000;

export interface EvalContext {
  shell: Shell;
  profile: PolicyProfile;
}

type EvalValue = Omit<EvalResult, 'tookMs' | 'rest'>;

/** Runs the code, and stops when `run` stops. Sends output to `run`. */
export async function evaluate(call: EvalCall, run: Run, context: EvalContext): Promise<EvalValue> {
  const result = await (call.language === 'js'
    ? evaluateJavaScript(call, run, context)
    : evaluatePython(call, run, context));
  if (!result.ok || !run.output.truncated) return result;
  return { ok: false, timedOut: result.timedOut, error: `RangeError: ${OUTPUT_TRUNCATED}` };
}

async function evaluateJavaScript(call: EvalCall, run: Run, { profile }: EvalContext): Promise<EvalValue> {
  const memory = { memoryBytes: profile.memoryBytes, growthBytes: maxGrowthBytes(profile) };
  const result = await runJavaScript({
    code: call.code,
    file: 'eval.js',
    ...memory,
    deadline: run.deadline,
    print: ({ stream, text }) => run.add(stream, Buffer.from(escapeLoneSurrogates(text))),
    write: (stream, bytes) => run.add(stream, bytes),
    ...(profile.capabilities.includes('vfs') && { vfs: vfsFunctions(run.files, memory) }),
  });
  if (!result.ok) return result;
  return { ok: true, timedOut: false, ...(result.json !== undefined && { json: result.json }) };
}

async function evaluatePython(call: EvalCall, run: Run, { shell }: EvalContext): Promise<EvalValue> {
  if (!call.code.isWellFormed()) {
    return {
      ok: false,
      timedOut: false,
      error: 'SyntaxError: the code holds half a surrogate pair, which UTF-8 cannot',
    };
  }
  const args = ['-c', pythonSource(call.code, 'eval.py', 'eval.py')];
  const { exitCode, timedOut } = await shell.exec({ command: 'python3', args }, run);
  if (exitCode === 0) return { ok: true, timedOut };
  const lastLine = run.output.stderrTail.trimEnd().split('\n').at(-1);
  return { ok: false, timedOut, error: lastLine?.toWellFormed() || `exit code ${exitCode}` };
}

/**
 * The host functions behind the guest's `vfs` object; the volume is optional. Volumes and paths from the guest are
 * parsed here.
 */
function vfsFunctions(files: Overlay, memory: GuestMemory): Record<string, HostFunction> {
  const volumeOf = (name: unknown) => parseVolume(name === undefined ? DEFAULT_VOLUME : String(name));
  /** The content of a file. A file that is too large to transfer is not read. */
  const read = (text: string, name: unknown) => {
    const [path, volume] = [parseVfsPath(text), volumeOf(name)];
    requireTransferable(files.entry(path, volume)?.size ?? 0, memory);
    return files.get(path, volume) ?? undefined;
  };
  const bytesOf = (content: unknown) => (content instanceof Uint8Array ? content : Buffer.from(String(content)));
  return {
    get: (path, name) => {
      const content = read(String(path), name);
      return content && textOf(content, String(path));
    },
    getBytes: (path, name) => read(String(path), name),
    put: (path, content, name) => void files.put(parseVfsPath(String(path)), bytesOf(content), volumeOf(name)),
    list: (prefix, name) =>
      listed(files.paths(volumeOf(name), prefix === undefined ? '' : String(prefix), LIST_LIMIT + 1)),
    delete: (path, name) => files.delete(parseVfsPath(String(path)), volumeOf(name)),
    query: (sql, params) => files.query(String(sql), params === undefined ? [] : JSON.parse(String(params))),
  };
}

/** A file as text. Throws for a file that is not UTF-8, because decoding it would lose bytes. */
function textOf(content: Uint8Array, path: string): Utf8Bytes {
  if (isUtf8(content)) return new Utf8Bytes(content);
  throw new TypeError(`${JSON.stringify(path)} is not UTF-8 text. Read its bytes with vfs.getBytes.`);
}

function listed(paths: string[]): string[] {
  if (paths.length <= LIST_LIMIT) return paths;
  throw new RangeError(`There are more than ${LIST_LIMIT} files: list them by prefix, or page with vfs.query.`);
}
