/**
 * Components in the shell's language: input on stdin, output on stdout. One without `vfs` runs on an empty tree of its
 * own, which is gone afterwards. Keeps nothing between calls.
 */
import { openLive } from '../../vfs/open.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { Run } from '../../workers/protocol/call.ts';
import type { OutputChunk } from '../../workers/protocol/instance.ts';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { joinStream } from '../../workers/protocol/output.ts';
import type { Shell } from '../shell/shell.ts';
import { type ComponentInterpreter, type ComponentRun, type ComponentRunResult, UndeclaredUse } from './interpreter.ts';

const TMP_LIMITS = { maxBytes: 16 * 1024 * 1024, maxFileBytes: 4 * 1024 * 1024, mustExist: false };

export class ShellComponents implements ComponentInterpreter {
  readonly #shell: Shell;
  readonly paths: readonly string[] = [];
  /** Shows a component without `vfs` no file. */
  #tmpFiles: Vfs | null = null;

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  async run({
    component,
    source,
    input,
    env,
    files,
    deadline,
    signal,
    network,
    log,
  }: ComponentRun): Promise<ComponentRunResult> {
    if (component.persist !== 'no')
      return { ok: false, kind: 'state', message: 'A sh component has no state that :persist could keep: use files.' };
    this.#tmpFiles ??= component.uses.includes('vfs') ? null : openLive(':memory:', TMP_LIMITS);
    const tree = component.uses.includes('vfs') || this.#tmpFiles === null ? files : this.#tmpFiles.overlay();
    const timeoutMs = Math.max(1, deadline - monotonicMs());
    // A long command's output is sent before its end.
    const sent: OutputChunk[] = [];
    const send = (chunks: OutputChunk[]) => void sent.push(...chunks);
    const { uses } = component;
    const reach = uses.includes('fetch') ? { network } : {};
    const run = new Run(tree, { timeoutMs, streaming: false, send, atomic: true, uses, ...reach });
    const stop = () => run.stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { exitCode, timedOut } = await this.#shell.exec(
        { command: String(source()), env: { ...env }, stdin: Buffer.from(input) },
        run,
      );
      const chunks = [...sent, ...run.output.end()];
      log('stderr', joinStream(chunks, 'stderr'));
      if (run.undeclared !== null)
        return { ok: false, kind: 'capability', message: new UndeclaredUse(component.path, run.undeclared).message };
      if (timedOut) return { ok: false, kind: 'timeout', message: 'It ran out of time and was stopped.' };
      if (signal.aborted) return { ok: false, kind: 'timeout', message: 'It was stopped.' };
      if (exitCode !== 0) return { ok: false, kind: 'component', message: `It ended with exit code ${exitCode}.` };
      return outputOf(joinStream(chunks, 'stdout'), run.output.truncated);
    } finally {
      signal.removeEventListener('abort', stop);
      run.release();
      if (tree !== files) tree.discard();
    }
  }

  forget(): void {}

  dropIdle(): void {
    this.#tmpFiles?.close();
    this.#tmpFiles = null;
  }
}

function outputOf(stdout: string, truncated: boolean): ComponentRunResult {
  if (truncated) return { ok: false, kind: 'output', message: 'It wrote more to stdout than an output may have.' };
  if (stdout.trim() === '') return { ok: true, json: undefined };
  try {
    return { ok: true, json: JSON.stringify(JSON.parse(stdout)) };
  } catch {
    return {
      ok: false,
      kind: 'output',
      message: `What it wrote to stdout is no JSON: ${JSON.stringify(stdout.slice(0, 80))}`,
    };
  }
}
