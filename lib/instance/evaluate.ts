/** `eval`: one piece of JavaScript or Python, with its value, its output and the sandbox's files. */
import { normalisePath } from '../vfs/paths.ts';
import type { Vfs } from '../vfs/vfs.ts';
import { asVolume, DEFAULT_VOLUME } from '../vfs/volumes.ts';
import type { EvalOutcome } from './instance.ts';
import { type HostFunction, runJavaScript } from './javascript.ts';
import { Output } from './output.ts';
import type { profileOf } from './policies.ts';
import type { EvalCall } from './protocol.ts';
import { HOME, type Shell } from './shell.ts';

/** Guest values may take half of the profile; the rest is the process's own. */
const SHARE_OF_MEMORY = 0.5;
/** Files that one `list` of a guest returns at most. */
const LIST_LIMIT = 10_000;

export interface Evaluation {
  vfs: Vfs;
  shell: Shell;
  profile: ReturnType<typeof profileOf>;
  signal: AbortSignal;
}

/** Runs the code. The caller has opened a group of the VFS and commits it before it answers. */
export async function evaluate(call: EvalCall, evaluation: Evaluation): Promise<Omit<EvalOutcome, 'tookMs'>> {
  return call.language === 'js' ? evaluateJavaScript(call, evaluation) : evaluatePython(call, evaluation);
}

/** The `vfs` object of guests; the volume is optional and `workspace` by default. */
function vfsFor(vfs: Vfs): Record<string, HostFunction> {
  const volumeOf = (name: unknown) => asVolume(name === undefined || name === null ? DEFAULT_VOLUME : String(name));
  return {
    get: (path, volume) => {
      const content = vfs.get(normalisePath(String(path)), volumeOf(volume));
      if (content === null) return null;
      const text = Buffer.from(content).toString('utf8');
      return Buffer.from(text, 'utf8').equals(content) ? text : content;
    },
    put: (path, content, volume) => {
      const bytes = content instanceof Uint8Array ? content : Buffer.from(String(content));
      vfs.put(normalisePath(String(path)), bytes, volumeOf(volume));
    },
    list: (prefix, volume) =>
      vfs
        .list(volumeOf(volume), { limit: LIST_LIMIT, ...(typeof prefix === 'string' ? { prefix } : {}) })
        .files.map(({ path }) => path),
    delete: (path, volume) => vfs.delete(normalisePath(String(path)), volumeOf(volume)),
  };
}

async function evaluateJavaScript(call: EvalCall, { vfs, profile }: Evaluation): Promise<Omit<EvalOutcome, 'tookMs'>> {
  const output = new Output();
  const result = await runJavaScript(call.code, {
    limits: { memoryBytes: profile.memoryBytes * SHARE_OF_MEMORY, deadline: performance.now() + call.timeoutMs },
    file: 'eval.js',
    print: (stream, text) => {
      if (!output.add(stream, Buffer.from(text))) throw new Error('output limit exceeded');
    },
    ...(profile.capabilities.includes('vfs') ? { globals: { vfs: vfsFor(vfs) } } : {}),
  });
  const said = { stdout: output.text('stdout'), stderr: output.text('stderr') };
  if (result.ok) return { ok: true, ...(result.defined ? { value: result.value } : {}), ...said, timedOut: false };
  return { ok: false, ...said, error: result.error, timedOut: result.timedOut };
}

async function evaluatePython(call: EvalCall, { shell, signal }: Evaluation): Promise<Omit<EvalOutcome, 'tookMs'>> {
  const outcome = await shell.run(
    {
      kind: 'exec',
      command: 'python3 -c "$WINTERDOCK_CODE"',
      cwd: HOME,
      env: { WINTERDOCK_CODE: call.code },
      timeoutMs: call.timeoutMs,
      streaming: false,
    },
    new Output(),
    signal,
  );
  const ok = outcome.exitCode === 0;
  return {
    ok,
    stdout: outcome.stdout,
    stderr: outcome.stderr,
    ...(ok ? {} : { error: outcome.stderr.trim().split('\n').at(-1) || `exit code ${outcome.exitCode}` }),
    timedOut: outcome.timedOut,
  };
}
