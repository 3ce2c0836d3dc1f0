/**
 * The shell's `python3`: reads its arguments as CPython does, and runs the program in an interpreter of its own
 * (interpreter.ts). The program travels as base64 and is compiled unchanged, behind lines that set up its surroundings.
 */
import type { Command, CommandContext, ExecResult } from 'just-bash';
import { textOfBytes } from '../../workers/protocol/byte-text.ts';
import type { Run } from '../../workers/protocol/call.ts';
import { decodeBytesToUtf8, defineCommand, latin1FromBytes } from '../shell/bash.ts';
import type { GuestFiles } from '../shell/guest-files.ts';
import type { Outlet } from '../shell/outlets.ts';
import { isDenied, posixError } from '../shell/posix-error.ts';
import { DATABASE_SETUP, SQLITE_PORT } from '../sqlite/python-finder.ts';
import { LazyPythonPort } from '../sqlite/python-import.ts';
import { ERROR_NUMBERS_SETUP } from './error-numbers.ts';
import { runInterpreter } from './interpreter.ts';
import { InterpreterFiles } from './interpreter-files.ts';
import { SLEEP_SETUP } from './interpreter-timers.ts';
import { ABSENT_SETUP } from './python-absent.ts';
import { type PythonArguments, pythonArguments } from './python-arguments.ts';
import { NETWORK_SETUP, PythonNetworkPort } from './python-network.ts';
import { NETWORK_PORT } from './python-network-module.ts';
import { type ModuleSearch, moduleSearch } from './python-paths.ts';
import { PLATFORM_SETUP } from './python-platform.ts';
import { UMASK_PATH } from './wasi.ts';

const USAGE_EXIT = 2;
const STOPPED_EXIT = 124;
const CRASHED_EXIT = 1;
/** What a program may print where it is collected, in parts of the guest's memory. */
const OUTPUT_SHARE = 4;
const USUAL_MASK = '0022';

/** What the commands need of their shell. */
export interface PythonSurroundings {
  /** The shell's file system, which exists once the shell does. */
  files: () => GuestFiles;
  /** The call that they are part of. */
  running: () => Run;
  memoryBytes: number;
}

type Context = CommandContext & { pipe?: Outlet };

/** Takes what is printed. False: it is collected for the end of the command. */
type LiveOutput = (stream: 'stdout' | 'stderr', content: Buffer) => boolean;

/** Commands with these names that replace just-bash's own. */
export function pythonCommands(names: readonly string[], surroundings: PythonSurroundings): Command[] {
  const { files, running, memoryBytes } = surroundings;
  return names.map((name) =>
    defineCommand(name, async (args, context) => {
      const run = running();
      const port = new LazyPythonPort(files(), run, memoryBytes);
      files().setPort(SQLITE_PORT, port);
      files().setPort(NETWORK_PORT, new PythonNetworkPort((request) => run.fetch(request)));
      let refusal: string | null = null;
      let result: ExecResult;
      try {
        result = await runPython(name, args, context, surroundings);
      } finally {
        files().setPort(SQLITE_PORT, null);
        files().setPort(NETWORK_PORT, null);
        refusal = await port.close();
      }
      if (refusal === null || running().expired) return result;
      const stderr = `${result.stderr}${name}: what sqlite3 has committed last could not be written: ${refusal}\n`;
      return { ...result, stderr, exitCode: result.exitCode || 1 };
    }),
  );
}

/**
 * Sends what Python prints while it runs, line by line as to a terminal, where somebody follows it. Null elsewhere: its
 * output comes as by a pipe.
 */
function liveOutput({ pipe }: Context, { sinks }: GuestFiles): LiveOutput | null {
  if (!pipe?.live || !sinks.isFollowed) return null;
  return (stream, content) => {
    const path = pipe.pathOf(stream);
    return path !== null && sinks.send(path, content);
  };
}

interface SourceOptions extends ModuleSearch, Partial<Pick<PythonArguments, 'warnings' | 'optimize'>> {
  live?: boolean;
  /** `file` is one: the program knows it as `__file__`. */
  isFile?: boolean;
}

/** Code that runs `source` as if Python had received it directly: the same file name, arguments and tracebacks. */
export function pythonSource(
  source: string,
  file: string,
  argument0: string,
  { warnings = [], optimize = 0, live = false, isFile = false, ...search }: SourceOptions = {},
): string {
  const encoded = Buffer.from(source).toString('base64');
  return [
    'def _run():',
    ' import base64, io, linecache, os, sys, traceback',
    ...(live ? [' sys.stdout.reconfigure(line_buffering=True)'] : []),
    ...DATABASE_SETUP,
    ...NETWORK_SETUP,
    ...PLATFORM_SETUP,
    ...ABSENT_SETUP,
    ...SLEEP_SETUP,
    ...moduleSearch(search),
    ...(warnings.length === 0 ? [] : [' import warnings', ` warnings._processoptions(${JSON.stringify(warnings)})`]),
    ` file, source = ${JSON.stringify(file)}, base64.b64decode("${encoded}").decode()`,
    ` sys.argv[0] = ${JSON.stringify(argument0)}`,
    ' linecache.cache[file] = (len(source), None, source.splitlines(True), file)',
    // A module of its own, without these names.
    ' main = type(sys)("__main__")',
    ' main.__dict__["__builtins__"] = sys.modules["builtins"]',
    ...(isFile ? [' main.__file__ = file'] : []),
    ' _run.before, sys.modules["__main__"] = sys.modules["__main__"], main',
    ' try:',
    `  exec(compile(source, file, "exec", optimize=${optimize === 0 ? -1 : Math.min(optimize, 2)}), main.__dict__)`,
    ' except SystemExit as end:',
    '  if end.code is None or isinstance(end.code, int):',
    '   raise',
    '  print(end.code, file=sys.stderr)',
    '  sys.exit(1)',
    ' except BaseException as error:',
    '  sys.stdout.flush()',
    '  traceback.print_exception(type(error), error, error.__traceback__.tb_next)',
    '  sys.exit(1)',
    '_run()',
  ].join('\n');
}

/** Lines that give a program the environment of its shell, and no names of the machine. */
function surroundingsOf(env: Readonly<Record<string, string>>, umask: string): string {
  return [
    'def _begin():',
    ' import json, os, sys',
    ' os.environ.clear()',
    ` os.environ.update(json.loads(${JSON.stringify(JSON.stringify(env))}))`,
    ' sys.executable = sys._base_executable = "/usr/bin/python3"',
    ' sys.orig_argv = ["python3"]',
    ' os.environ.pop("_", None)',
    ' plain = os.umask',
    ' def umask(mask):',
    `  os.chmod("${UMASK_PATH}", mask)`,
    '  return plain(mask)',
    ' os.umask = umask',
    ` os.umask(0o${umask})`,
    ...ERROR_NUMBERS_SETUP,
    '_begin()',
    '',
  ].join('\n');
}

interface Program {
  /** Null: the interpreter has its arguments alone. */
  source: string | null;
  args: string[];
  stdin: string;
  live: LiveOutput | null;
}

/** Runs a program of a command, and collects what it prints unless that is sent. */
async function interpret(
  name: string,
  { source, args, stdin, live }: Program,
  context: Context,
  { files, running, memoryBytes }: PythonSurroundings,
): Promise<ExecResult> {
  const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let room = memoryBytes * OUTPUT_SHARE;
  const { interrupted } = running();
  const end = await runInterpreter({
    args,
    program: source,
    stdin: Buffer.from(stdin, 'latin1'),
    cwd: context.cwd,
    files: new InterpreterFiles(files(), running().files),
    signal: AbortSignal.any([context.signal ?? running().signal, interrupted]),
    print: (stream, content) => {
      if (live?.(stream, content)) return;
      room -= content.byteLength;
      if (room < 0) throw posixError('ENOSPC', 'No space left on device', stream);
      printed[stream].push(content);
    },
  });
  // A program that a signal ends says nothing.
  const why = 'ended' in end && !interrupted.aborted ? `${name}: ${end.detail}\n` : '';
  return {
    stdout: Buffer.concat(printed.stdout).toString('latin1'),
    stdoutKind: 'bytes',
    stderr: textOfBytes(Buffer.concat(printed.stderr)) + why,
    exitCode: 'exitCode' in end ? end.exitCode : end.ended === 'stopped' ? STOPPED_EXIT : CRASHED_EXIT,
  };
}

async function runPython(
  name: string,
  args: string[],
  context: Context,
  surroundings: PythonSurroundings,
): Promise<ExecResult> {
  const read = pythonArguments(name, args);
  const files = surroundings.files();
  if ('original' in read) {
    const program = { source: null, args: [read.original], stdin: '', live: null };
    return interpret(name, program, context, surroundings);
  }
  if ('exitCode' in read) return read;
  const { what, rest, isSafePath, ...how } = read;
  const options: SourceOptions = { ...how, ...(isSafePath && { first: null }) };
  const run = (text: string, file: string, argument0: string, more: SourceOptions & { stdin?: string } = {}) => {
    const live = liveOutput(context, files);
    const { stdin = latin1FromBytes(context.stdin), ...search } = more;
    const umask = files.virtualFiles.descriptors.state?.umask ?? USUAL_MASK;
    const before = surroundingsOf(context.exportedEnv ?? Object.fromEntries(context.env), umask);
    const source = before + pythonSource(text, file, argument0, { ...options, ...search, live: live !== null });
    return interpret(name, { source, args: rest, stdin, live }, context, surroundings);
  };
  switch (what.kind) {
    case 'code':
      return run(what.text, '<string>', '-c');
    case 'module':
      if (what.text === 'pip' && context.exec)
        return context.exec('pip', { cwd: context.cwd, args: rest, env: { ...context.exportedEnv } });
      if (!/^[\w.]+$/.test(what.text)) {
        return { stdout: '', stderr: `${name}: No module named ${what.text}\n`, exitCode: 1 };
      }
      return run(
        `import runpy\nrunpy.run_module(${JSON.stringify(what.text)}, run_name="__main__", alter_sys=True)`,
        '<string>',
        what.text,
      );
    case 'stdin':
      // A program from standard input is all of it: it reads nothing there.
      return run(decodeBytesToUtf8(context.stdin), '<stdin>', args.includes('-') ? '-' : '', { stdin: '' });
    case 'file': {
      const file = context.fs.resolvePath(context.cwd, what.text);
      let source: string;
      try {
        source = await context.fs.readFile(file);
      } catch (error) {
        const why = isDenied(error) ? '[Errno 13] Permission denied' : '[Errno 2] No such file or directory';
        const stderr = `${name}: can't open file '${file}': ${why}\n`;
        return { stdout: '', stderr, exitCode: USAGE_EXIT };
      }
      const folder = file.slice(0, Math.max(1, file.lastIndexOf('/')));
      return run(source, file, what.text, { isFile: true, ...(!isSafePath && { first: folder }) });
    }
  }
}
