/** `eval`: one piece of JavaScript or Python, with its value, what it said and the files it may reach. */
import { runQuery } from '../vfs/query.ts';
import type { Vfs } from '../vfs/vfs.ts';
import { asVolume, DEFAULT_VOLUME } from '../vfs/volumes.ts';
import { type HostFunction, runJavaScript } from './javascript.ts';
import type { PolicyProfile } from './policies.ts';
import type { EvalCall, EvalResult } from './protocol.ts';
import { pythonSource } from './python.ts';
import type { Run } from './run.ts';
import type { Shell } from './shell.ts';

/** Files that one `vfs.list` names at most. */
const LIST_LIMIT = 10_000;

export interface EvalContext {
  vfs: Vfs;
  shell: Shell;
  profile: PolicyProfile;
}

type Evaluated = Omit<EvalResult, 'tookMs' | 'rest'>;

/** Runs the code within `run`, which it stops at. What it says goes to the run. */
export function evaluate(call: EvalCall, run: Run, context: EvalContext): Promise<Evaluated> {
  return call.language === 'js' ? evaluateJavaScript(call, run, context) : evaluatePython(call, run, context);
}

async function evaluateJavaScript(call: EvalCall, run: Run, { vfs, profile }: EvalContext): Promise<Evaluated> {
  const result = await runJavaScript({
    code: call.code,
    file: 'eval.js',
    memoryBytes: profile.memoryBytes,
    deadline: run.deadline,
    print: ({ stream, text }) => run.add(stream, Buffer.from(text)),
    ...(profile.capabilities.includes('vfs') && { vfs: vfsFunctions(vfs) }),
  });
  if (!result.ok) return result;
  return { ok: true, timedOut: false, ...(result.json !== undefined && { json: result.json }) };
}

async function evaluatePython(call: EvalCall, run: Run, { shell }: EvalContext): Promise<Evaluated> {
  const args = ['-c', pythonSource(call.code, 'eval.py', 'eval.py')];
  const { exitCode, timedOut } = await shell.exec({ command: 'python3', args }, run);
  if (exitCode === 0) return { ok: true, timedOut };
  const said = run.output.lastError.trimEnd().split('\n').at(-1);
  return { ok: false, timedOut, error: said || `exit code ${exitCode}` };
}

/** What the guest's `vfs` object calls; the volume is optional. */
function vfsFunctions(vfs: Vfs): Record<string, HostFunction> {
  const volume = (name: unknown) => asVolume(name === undefined ? DEFAULT_VOLUME : String(name));
  const bytes = (content: unknown) => (content instanceof Uint8Array ? content : Buffer.from(String(content)));
  return {
    get: (path, name) => {
      const content = vfs.get(String(path), volume(name));
      return content === null ? undefined : Buffer.from(content).toString();
    },
    getBytes: (path, name) => vfs.get(String(path), volume(name)) ?? undefined,
    put: (path, content, name) => void vfs.put(String(path), bytes(content), volume(name)),
    list: (prefix, name) => {
      const { files } = vfs.list(volume(name), {
        limit: LIST_LIMIT,
        ...(prefix !== undefined && { prefix: String(prefix) }),
      });
      return files.map(({ path }) => path);
    },
    delete: (path, name) => vfs.delete(String(path), volume(name)),
    query: (sql, params) => runQuery(vfs.db, String(sql), params === undefined ? [] : JSON.parse(String(params))),
  };
}
