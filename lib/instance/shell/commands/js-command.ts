/**
 * The shell's `js` command: QuickJS in this process, started in milliseconds. `js -e CODE`, `js FILE [ARGUMENT …]`, or
 * code from stdin.
 */
import type { Command, CommandContext, ExecResult } from 'just-bash';
import { bytesOfText } from '../../byte-text.ts';
import { type JavaScriptRun, runJavaScript } from '../../javascript/javascript.ts';
import { escapeLoneSurrogates } from '../../javascript/javascript-bridge.ts';
import { resolveModule } from '../../javascript/module-files.ts';
import { joinStream, MAX_STREAM_BYTES, Output } from '../../output.ts';
import { type Run, TIMED_OUT_EXIT } from '../../run.ts';
import { decodeBytesToUtf8, defineCommand } from '../bash.ts';
import type { Outlet } from '../outlets.ts';
import { isCopy } from '../output-sinks.ts';
import { CommandFiles, type CommandSystem } from './command-files.ts';

const USAGE = `usage: js -e CODE [ARGUMENT ...]
       js FILE [ARGUMENT ...]
       js [-]                     code from stdin
Globals: args, env (variables), stdin (text), stdinBytes(), stdout.write(text or bytes), stderr.write(…), console. A byte
of stdin that is no UTF-8 is a half surrogate U+DC80-U+DCFF of the text, and that byte again when it is written. fetch goes
through the server, which asks what this sandbox may reach. require takes CommonJS and JSON, beside the file and from
node_modules; there are no modules of Node.js.
`;

/** Escapes lone surrogates, except those that stand for a byte. */
function visibleButBytes(text: string): string {
  return text
    .split(/([\udc80-\udcff]+)/u)
    .map((part, at) => (at % 2 === 1 ? part : escapeLoneSurrogates(part)))
    .join('');
}

type Source = Pick<JavaScriptRun, 'code' | 'file'> & { args: string[]; stdin: string };

/** Creates the command. `running` returns the call whose deadline applies. */
export function jsCommand(memoryBytes: number, running: () => Run, system: CommandSystem): Command {
  return defineCommand('js', async (args, context) => {
    if (args[0] === '--help' || args[0] === '-h') return { stdout: USAGE, stderr: '', exitCode: 0 };
    const source = await sourceOf(args, context);
    if ('exitCode' in source) return source;
    const output = new Output();
    const run = running();
    const wasTruncated = run.output.truncated;
    const { pipe } = context as CommandContext & { pipe?: Outlet };
    const add = writer(output, system, pipe);
    const { code, file, args: passed, stdin } = source;
    const bytes = bytesOfText(stdin);
    const main = file.startsWith('/') ? file : `${context.cwd === '/' ? '' : context.cwd}/[${file}]`;
    const result = await runJavaScript({
      modules: { main, ...modulesIn(new CommandFiles(system)) },
      code,
      file,
      memoryBytes,
      deadline: run.nextDeadline,
      network: run,
      print: ({ stream, text }) => add(stream, bytesOfText(visibleButBytes(text))),
      write: add,
      stdin: bytes,
      values: { args: passed, env: { ...context.exportedEnv }, stdin },
    });
    // Output dropped here counts as dropped by the call, and what was sent as it came is counted there: not where the
    // next stage of a pipeline reads it, too.
    const isCounted = !(pipe?.live && pipe.isPiped);
    const truncated = output.truncated || (isCounted && run.output.truncated && !wasTruncated);
    run.output.truncated ||= truncated;
    const chunks = output.end();
    const cut = truncated ? `js: more than ${MAX_STREAM_BYTES} bytes were written, the rest was dropped\n` : '';
    const stderr =
      joinStream(chunks, 'stderr') + (result.ok ? '' : `js: ${escapeLoneSurrogates(result.error)}\n`) + cut;
    const exitCode = result.ok ? (truncated ? 1 : 0) : result.timedOut ? TIMED_OUT_EXIT : 1;
    return { stdout: joinStream(chunks, 'stdout'), stderr, exitCode, stdoutKind: 'text' };
  });
}

/** Where its output goes: to the call's own, as it comes, or elsewhere at the end of the command. */
function writer(output: Output, system: CommandSystem, pipe: Outlet | undefined): JavaScriptRun['write'] {
  if (!pipe?.live) return (stream, bytes) => output.add(stream, bytes);
  const { sinks } = system.files();
  const sent = { stdout: 0, stderr: 0 };
  return (stream, bytes) => {
    const path = pipe.pathOf(stream);
    if (path === null) return output.add(stream, bytes);
    // A pipe is given no more than it would be at the end of the command.
    const room = isCopy(path) ? MAX_STREAM_BYTES - sent[stream] : bytes.length;
    if (bytes.length > room) output.truncated = true;
    const given = bytes.subarray(0, room);
    sent[stream] += given.length;
    sinks.send(path, given);
  };
}

/** The files of the sandbox for `require`. */
function modulesIn(files: CommandFiles): {
  resolve(specifier: string, from: string): string;
  source(path: string): string;
} {
  const text = (path: string) => files.read(path).toString();
  const kind = (path: string) => {
    const found = files.look(path)?.kind;
    return found === 'file' || found === 'dir' ? found : null;
  };
  return { resolve: (specifier, from) => resolveModule({ kind, text }, specifier, from), source: text };
}

async function sourceOf(args: string[], context: CommandContext): Promise<Source | ExecResult> {
  const stdin = decodeBytesToUtf8(context.stdin);
  const [first, ...rest] = args;
  if (first === undefined || first === '-') return { code: stdin, file: 'stdin', args: rest, stdin: '' };
  if (first === '-e') {
    const [code, ...passed] = rest;
    return code === undefined
      ? { stdout: '', stderr: USAGE, exitCode: 2 }
      : { code, file: 'inline', args: passed, stdin };
  }
  if (first.startsWith('-')) return { stdout: '', stderr: USAGE, exitCode: 2 };
  const file = context.fs.resolvePath(context.cwd, first);
  try {
    return { code: await context.fs.readFile(file), file, args: rest, stdin };
  } catch {
    // The shell reports every read error with these words.
    return { stdout: '', stderr: `js: ${first}: No such file or directory\n`, exitCode: 1 };
  }
}
