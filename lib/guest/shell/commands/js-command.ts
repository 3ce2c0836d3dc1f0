/**
 * The shell's `js` and `node` commands: QuickJS in this process, started in milliseconds, with the parts of Node's
 * interface that programs use. Owns their arguments and where their output goes.
 */
import type { Command, CommandContext, ExecResult } from 'just-bash';
import { bytesOfText } from '../../../workers/protocol/byte-text.ts';
import { type Run, TIMED_OUT_EXIT } from '../../../workers/protocol/call.ts';
import { joinStream, MAX_STREAM_BYTES, Output } from '../../../workers/protocol/output.ts';
import { escapeLoneSurrogates } from '../../javascript/javascript-bridge.ts';
import type { ModuleFiles } from '../../javascript/module-files.ts';
import type { Program } from '../../javascript/program.ts';
import { decodeBytesToUtf8, defineCommand } from '../bash.ts';
import type { GuestFiles } from '../guest-files.ts';
import type { Outlet } from '../outlets.ts';
import { isCopy } from '../output-sinks.ts';
import { CommandFiles, type CommandSystem } from './command-files.ts';

const usageOf = (name: string) => `usage: ${name} FILE [ARGUMENT ...]
       ${name} -e CODE [ARGUMENT ...]     -p CODE prints its value, -c FILE only checks the syntax
       ${name} [-]                        code from stdin; --input-type=module: it is an ES module
This is QuickJS with Node's interface, not Node.js: ES modules and CommonJS, packages of node_modules, types taken out of
TypeScript, timers, process, Buffer, URL, fetch, and of Node's modules assert, buffer, crypto (hashes, random bytes), events,
fs, module, os, path, perf_hooks, querystring, readline, stream, string_decoder, timers, url, util and zlib. There is no http
server, no child_process, no worker_threads; the error of an import says what is there instead. fetch goes through the server,
which asks what this sandbox may reach.
Globals of its own: args, env, stdin (text), stdinBytes(), stdout.write(text or bytes), stderr.write(...). A byte of stdin
that is no UTF-8 is a half surrogate U+DC80-U+DCFF of the text, and that byte again when it is written.
`;

/** Options of Node.js without a meaning here. */
const IGNORED =
  /^--(?:(?:no-)?(?:warnings|deprecation|experimental-[\w-]+)|enable-source-maps|trace-[\w-]+|unhandled-rejections=(?:throw|strict)|stack-trace-limit=\d+|max-old-space-size=\d+|use-strict|disable-warning=.*)$/;
/** As Node.js ends for an option that it does not have. */
const BAD_OPTION_EXIT = 9;

/** Escapes lone surrogates, except those that stand for a byte. */
function visibleButBytes(text: string): string {
  return text
    .split(/([\udc80-\udcff]+)/u)
    .map((part, at) => (at % 2 === 1 ? part : escapeLoneSurrogates(part)))
    .join('');
}

type Source = Pick<Program, 'code' | 'main' | 'isFile' | 'mode' | 'args' | 'script' | 'stdinText'>;
interface JsSystem extends CommandSystem {
  files: () => GuestFiles;
}

/** Creates the command. `running` returns the call whose deadline applies. */
export function jsCommand(name: string, memoryBytes: number, running: () => Run, system: JsSystem): Command {
  return defineCommand(name, async (args, context) => {
    const files = new CommandFiles(system);
    const source = await sourceOf(name, args, context, files);
    if ('exitCode' in source) return source;
    const output = new Output();
    const run = running();
    const wasTruncated = run.output.truncated;
    const { pipe } = context as CommandContext & { pipe?: Outlet };
    const add = writer(output, system, pipe);
    // Most sandboxes run no JavaScript, and a start is the shorter for each part that it does not load.
    const [{ runProgram }, { ProgramFiles }] = await Promise.all([
      import('../../javascript/program.ts'),
      import('../../javascript/program-files.ts'),
    ]);
    const result = await runProgram({
      ...source,
      name,
      memoryBytes,
      env: { ...context.exportedEnv },
      cwd: context.cwd,
      umask: files.umask,
      files: new ProgramFiles(system.files(), run.files, files.umask),
      modules: modulesIn(files),
      deadline: run.nextDeadline,
      signal: context.signal === undefined ? run.signal : AbortSignal.any([context.signal, run.signal]),
      network: run,
      print: ({ stream, text }) => add(stream, bytesOfText(visibleButBytes(text))),
      write: add,
      stdin: bytesOfText(source.stdinText),
    });
    // Output dropped here counts as dropped by the call, and what was sent as it came is counted there: not where the
    // next stage of a pipeline reads it, too.
    const isCounted = !(pipe?.live && pipe.isPiped);
    const truncated = output.truncated || (isCounted && run.output.truncated && !wasTruncated);
    run.output.truncated ||= truncated;
    const chunks = output.end();
    const cut = truncated ? `${name}: more than ${MAX_STREAM_BYTES} bytes were written, the rest was dropped\n` : '';
    const reason = result.error ?? (result.timedOut ? 'interrupted: its time is over' : null);
    const failure = reason === null ? '' : `${name}: ${escapeLoneSurrogates(reason)}\n`;
    const exitCode = result.timedOut ? TIMED_OUT_EXIT : result.exitCode || (truncated ? 1 : 0);
    return {
      stdout: joinStream(chunks, 'stdout'),
      stderr: joinStream(chunks, 'stderr') + failure + cut,
      exitCode,
      stdoutKind: 'text',
    };
  });
}

/** Where its output goes: to the call's own, as it comes, or elsewhere at the end of the command. */
function writer(output: Output, system: CommandSystem, pipe: Outlet | undefined): Program['write'] {
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

/** The files of the sandbox for `require` and `import`. */
function modulesIn(files: CommandFiles): ModuleFiles {
  const text = (path: string) => files.read(path).toString();
  const kind = (path: string) => {
    const found = files.look(path)?.kind;
    return found === 'file' || found === 'dir' ? found : null;
  };
  return { kind, text };
}

/** What a command line asks for; what it prints instead, where it runs nothing. */
async function sourceOf(
  name: string,
  args: string[],
  context: CommandContext,
  files: CommandFiles,
): Promise<Source | ExecResult> {
  const said = (stdout: string) => ({ stdout, stderr: '', exitCode: 0 });
  const refused = (stderr: string, exitCode: number) => ({ stdout: '', stderr, exitCode });
  const stdinText = decodeBytesToUtf8(context.stdin);
  let mode: Program['mode'] = 'run';
  let rest = args;
  for (; ; rest = rest.slice(1)) {
    const [option = ''] = rest;
    if (option === '--input-type=module') mode = 'module';
    else if (!IGNORED.test(option) && !/^--input-type=commonjs$/.test(option)) break;
  }
  const [first, ...others] = rest;
  const main = `${context.cwd === '/' ? '' : context.cwd}/[${first === undefined || first === '-' ? 'stdin' : 'eval'}]`;
  if (first === '--help' || first === '-h') return said(usageOf(name));
  if (first === '--version' || first === '-v') {
    return refused(`${name}: this is QuickJS with Node's interface, not Node.js: it has no version of Node.js\n`, 1);
  }
  if (first === undefined || first === '-')
    return {
      ...{ code: stdinText, main, isFile: false, mode, stdinText: '' },
      args: others,
      // Where stdin is named, its name is that of the script.
      ...(first === '-' && { script: '-' }),
    };
  const inline = /^(?:-e|--eval|-p|-pe|--print)(?:=(.*))?$/s.exec(first);
  if (inline !== null) {
    const [code, ...passed] = inline[1] === undefined ? others : [inline[1], ...others];
    if (code === undefined) return refused(usageOf(name), 2);
    const prints = /^-p|^--print/.test(first);
    const given = passed[0] === '--' ? passed.slice(1) : passed;
    return { code, main, isFile: false, mode: prints ? 'print' : mode, args: given, stdinText };
  }
  const checks = first === '-c' || first === '--check';
  const [file, ...passed] = checks || first === '--' ? others : rest;
  if (file === undefined) return refused(usageOf(name), 2);
  if (file.startsWith('-')) {
    const what = file === '--test' ? '; a test that throws ends with exit code 1' : '';
    return refused(`${name}: bad option: ${file}${what}\n${usageOf(name)}`, BAD_OPTION_EXIT);
  }
  try {
    const asked = context.fs.resolvePath(context.cwd, file);
    const candidates = [asked, `${asked}.js`, `${asked}.mjs`, `${asked}/index.js`];
    const found = candidates.find((one) => files.look(one)?.kind === 'file') ?? asked;
    const path = files.canonical(found);
    const code = files.read(path).toString();
    return { code, main: path, isFile: true, mode: checks ? 'check' : mode, args: passed, stdinText };
  } catch {
    // The shell reports every read error with these words.
    return refused(`${name}: ${file}: No such file or directory\n`, 1);
  }
}
