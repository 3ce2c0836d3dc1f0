/** `eval`: one piece of JavaScript or Python, with its value, what it said and the files it may reach. */
import type { Overlay } from '../vfs/overlay.ts';
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
  shell: Shell;
  profile: PolicyProfile;
}

type Evaluated = Omit<EvalResult, 'tookMs' | 'rest'>;

/** Runs the code within `run`, which it stops at. What it says goes to the run. */
export function evaluate(call: EvalCall, run: Run, context: EvalContext): Promise<Evaluated> {
  return call.language === 'js' ? evaluateJavaScript(call, run, context) : evaluatePython(call, run, context);
}

async function evaluateJavaScript(call: EvalCall, run: Run, { profile }: EvalContext): Promise<Evaluated> {
  const result = await runJavaScript({
    code: call.code,
    file: 'eval.js',
    memoryBytes: profile.memoryBytes,
    deadline: run.deadline,
    print: ({ stream, text }) => run.add(stream, Buffer.from(text)),
    ...(profile.capabilities.includes('vfs') && { vfs: vfsFunctions(run.files) }),
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
function vfsFunctions(files: Overlay): Record<string, HostFunction> {
  const volume = (name: unknown) => asVolume(name === undefined ? DEFAULT_VOLUME : String(name));
  const bytes = (content: unknown) => (content instanceof Uint8Array ? content : Buffer.from(String(content)));
  return {
    get: (path, name) => {
      const content = files.get(String(path), volume(name));
      return content === null ? undefined : Buffer.from(content).toString();
    },
    getBytes: (path, name) => files.get(String(path), volume(name)) ?? undefined,
    put: (path, content, name) => void files.put(String(path), bytes(content), volume(name)),
    list: (prefix, name) => files.paths(volume(name), prefix === undefined ? '' : String(prefix), LIST_LIMIT),
    delete: (path, name) => files.delete(String(path), volume(name)),
    query: (sql, params) => files.query(String(sql), params === undefined ? [] : JSON.parse(String(params))),
  };
}
