/**
 * Sandboxes whose output is logged: whatever runs in one – a call, a run, a line of a terminal, a schedule, a component
 * – is one of three calls here. What it prints goes to the log as well; its answer is the same, and waits for nothing.
 */
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { NamedLog } from '../sandboxes/workbook-call.ts';
import type { ExecRequest } from '../workers/protocol/instance.ts';
import type { LogSource } from './log-line.ts';
import type { Printer, SandboxLogs } from './sandbox-logs.ts';

/** Wraps the calls of `sandboxes`; the rest is as it was. `by`: what prints, where that is known beforehand. */
export function withLogs(sandboxes: Sandboxes, logs: Pick<SandboxLogs, 'isOn' | 'printer'>, by?: LogSource): Sandboxes {
  if (!logs.isOn) return sandboxes;
  const exec: Sandboxes['exec'] = async (id, request, audit, options = {}) => {
    const printer = logs.printer(id, by ?? sourceOf(request), audit.requestId);
    const { onOutput } = options;
    const followed =
      onOutput === undefined
        ? options
        : {
            ...options,
            onOutput: (chunk: Parameters<typeof onOutput>[0]) => {
              printer.print(chunk.stream, chunk.text);
              onOutput(chunk);
            },
          };
    try {
      const outcome = await sandboxes.exec(id, request, audit, followed);
      if (onOutput === undefined) printBoth(printer, outcome);
      return outcome;
    } finally {
      printer.end();
    }
  };
  const evaluate: Sandboxes['eval'] = async (id, request, audit, options) => {
    const outcome = await sandboxes.eval(id, request, audit, options);
    const printer = logs.printer(id, by ?? 'eval', audit.requestId);
    printBoth(printer, outcome);
    if (outcome.error !== undefined) printer.print('stderr', `\n${outcome.error}\n`);
    printer.end();
    return outcome;
  };
  const callWorkbook: Sandboxes['callWorkbook'] = async (id, call, audit, options = {}) => {
    const printer = logs.printer(id, by ?? 'component', audit.requestId);
    const { onProgress } = options;
    const followed =
      onProgress === undefined
        ? options
        : {
            ...options,
            onProgress: (progress: Parameters<typeof onProgress>[0]) => {
              if ('log' in progress) printLog(printer, progress.log);
              onProgress(progress);
            },
          };
    try {
      const outcome = await sandboxes.callWorkbook(id, call, audit, followed);
      if (onProgress === undefined) for (const log of outcome.logs) printLog(printer, log);
      return outcome;
    } finally {
      printer.end();
    }
  };
  // Its other members may be getters.
  return Object.create(sandboxes, {
    exec: { value: exec },
    eval: { value: evaluate },
    callWorkbook: { value: callWorkbook },
  }) as Sandboxes;
}

function printBoth(printer: Printer, { stdout, stderr }: { stdout: string; stderr: string }): void {
  printer.print('stdout', stdout);
  printer.print('stderr', stderr);
}

/** What a component logs is a line, whether it ends with a newline or not. */
function printLog(printer: Printer, { stream, text }: NamedLog): void {
  printer.print(stream, stream === 'log' ? `${text}\n` : text);
}

function sourceOf({ kept, background }: Pick<ExecRequest, 'kept' | 'background'>): LogSource {
  if (kept !== undefined) return 'terminal';
  return background === undefined ? 'exec' : 'run';
}
