/**
 * A running Python as its worker sees it: a thread for each program, whose calls are answered one after another until
 * it ends or is ended. Knows nothing of what is answered about files (interpreter-files.ts), nor of the language.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isTurnDue, turn } from '../shell/thread-turns.ts';
import { AnsweringEnd, type InterpreterStart, type SystemAnswer } from './interpreter-channel.ts';
import type { InterpreterFiles } from './interpreter-files.ts';
import { errorNumberOf } from './wasi.ts';

export interface PythonProgram extends Omit<InterpreterStart, 'memory'> {
  files: InterpreterFiles;
  /** Ends it. */
  signal: AbortSignal | undefined;
  /** Takes what it prints. It may throw, which is an error of the writing. */
  print: (stream: 'stdout' | 'stderr', content: Buffer) => void;
}

/** The exit code, or why there is none. */
export type PythonEnd = { exitCode: number } | { ended: 'stopped' | 'memory' | 'crash'; detail: string };

/** Runs a program to its end. What it has written until then stays, however it ends. */
export async function runInterpreter(program: PythonProgram): Promise<PythonEnd> {
  const { files, signal, print, ...start } = program;
  const end = new AnsweringEnd();
  let ended: PythonEnd | null = null;
  const thread = new Worker(threadFile(), {
    workerData: { ...start, memory: end.shared } satisfies InterpreterStart,
    stdout: true,
    stderr: true,
  });
  const stop = (why: PythonEnd) => {
    ended ??= why;
    end.stop();
  };
  const abort = () => stop({ ended: 'stopped', detail: 'Execution aborted' });
  thread.on('error', (error: Error & { code?: string }) =>
    stop({ ended: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', detail: error.message }),
  );
  thread.on('exit', () => stop({ ended: 'crash', detail: 'the interpreter ended' }));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    for (;;) {
      const request = await end.next();
      if (request === null) break;
      const { operation, data, numbers } = request;
      if (operation === 'exit') {
        ended ??= { exitCode: numbers[0] ?? 0 };
        break;
      }
      let answer: SystemAnswer;
      try {
        if (operation === 'print') {
          print(numbers[0] === 2 ? 'stderr' : 'stdout', Buffer.from(data));
          answer = {};
        } else answer = await files.answer(operation, data, numbers);
      } catch (error) {
        answer = { error: errorNumberOf(error) };
      }
      end.answer(answer);
      if (isTurnDue()) await turn();
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // It gets no answer any more, and takes its time to end.
    void thread.terminate();
    files.closeAll();
  }
  return ended ?? { ended: 'crash', detail: 'the interpreter ended' };
}

/** Named in full, so that a package has it. */
const SOURCE = new URL('./interpreter-thread.ts', import.meta.url);

/** The thread's file: beside the worker's in a bundle, else the source. */
function threadFile(): string | URL {
  const own = process.argv[1] ?? '';
  return own.endsWith('.cjs') ? join(own, '..', 'interpreter-thread.cjs') : SOURCE;
}
